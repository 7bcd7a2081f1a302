"""Image files as the numbers that a model wants, and as the picture that people see.

    x = (scale · pixel/255 − mean) / std

The picture is cut to the shape of the model's input around its centre (or squeezed into it) and resized.
"""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex.errors import FileError, InputError, MissingPackage

ORDERS = ("chw", "hwc", "hw")


@dataclass(frozen=True)
class Preprocessing:
    """What becomes of an image before the model sees it. size: (height, width), None for that of the image."""

    size: tuple[int, int] | None = None
    order: str = "chw"
    channels: int = 3
    scale: float = 1.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    squeeze: bool = False

    @property
    def axis(self) -> int | None:
        """The axis of the channels."""
        return {"chw": 0, "hwc": 2, "hw": None}[self.order]

    def __call__(self, image: Any) -> tuple[np.ndarray, np.ndarray]:
        """x as the model wants it, and the picture (h, w, 3) in 0 … 255."""
        picture = image if self.size is None else self._fitted(image)
        shown = np.asarray(picture)
        pixels = shown if self.channels == 3 else np.asarray(picture.convert("L"))[..., None]
        for name, given in (("--mean", self.mean), ("--std", self.std)):
            if len(given) not in (1, self.channels):
                raise InputError(f"{name} has {len(given)} numbers and the model's input {self.channels} channels.")
        x = (self.scale * pixels.astype(np.float64) / 255 - np.array(self.mean)) / np.array(self.std)
        if self.order == "hw":
            x = x[..., 0]
        elif self.order == "chw":
            x = np.moveaxis(x, -1, 0)
        return np.ascontiguousarray(x, np.float32), shown

    def _fitted(self, image: Any) -> Any:
        from PIL import Image

        assert self.size is not None
        height, width = self.size
        if self.squeeze:
            return image.resize((width, height), Image.Resampling.BICUBIC)
        ratio = min(image.width / width, image.height / height)
        left, top = (image.width - ratio * width) / 2, (image.height - ratio * height) / 2
        box = (left, top, left + ratio * width, top + ratio * height)
        return image.resize((width, height), Image.Resampling.BICUBIC, box=box)


def suited(shape: tuple[int, ...] | None) -> Preprocessing:
    """The preprocessing that the shape of a model's input speaks of."""
    if shape is None:
        return Preprocessing()
    if len(shape) == 3 and shape[0] in (1, 3):
        return Preprocessing((shape[1], shape[2]), "chw", shape[0])
    if len(shape) == 3 and shape[2] in (1, 3):
        return Preprocessing((shape[0], shape[1]), "hwc", shape[2])
    if len(shape) == 2:
        return Preprocessing((shape[0], shape[1]), "hw", 1)
    raise InputError(f"INPUT is an image and the model wants inputs of shape {shape}; wanted (3, h, w), (h, w, 3) …")


def image(content: bytes, name: str) -> tuple[Any, list[str]]:
    """An image as people see it, in RGB with 8 bits, upright, without transparency; and what was done to it."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise MissingPackage("images are read by pillow: pip install 'geex[app]'") from None
    try:
        found = Image.open(io.BytesIO(content))
        notes = ["is animated: its first picture is taken"] if getattr(found, "n_frames", 1) > 1 else []
        found.load()
        upright = ImageOps.exif_transpose(found)
    except UnidentifiedImageError:
        raise FileError(f"{name} is no image that pillow knows.") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FileError(f"{name} cannot be read as an image: {error}.") from None
    if upright.size != found.size or found.getexif().get(0x0112, 1) != 1:
        notes.append("is turned upright, as its EXIF data say")
    return _plain(upright, name, notes), notes


def _plain(found: Any, name: str, notes: list[str]) -> Any:
    from PIL import Image

    if found.mode == "F":
        raise FileError(
            f"{name} holds floating numbers, whose range is not known; save it as .npy in the model's units."
        )
    if found.mode.startswith("I"):
        notes.append("has 16 bits, of which 8 are kept")
        pixels = np.asarray(found).astype(np.int64) / 257
        return Image.fromarray(np.rint(np.clip(pixels, 0, 255)).astype(np.uint8)).convert("RGB")
    if "A" in found.getbands() or "transparency" in found.info:
        notes.append("has transparent parts, which become white")
        layer = found.convert("RGBA")
        white = Image.new("RGBA", layer.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layer).convert("RGB")
    return found.convert("RGB")
