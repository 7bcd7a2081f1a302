"""Image files as the array for a model, and as the picture for people.

    x = (scale · pixel/255 − mean) / std

The picture is cut around its centre to the proportions of the model's input (or squeezed), and resized.
"""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex.errors import FileError, InputError, MissingPackage

# Orders of an image's axes: channels, height and width.
ORDERS = ("chw", "hwc", "hw")


@dataclass(frozen=True)
class Preprocessing:
    """The steps from an image to the model's input. `size` is (height, width), or None for that of the image."""

    size: tuple[int, int] | None = None
    order: str = "chw"
    channels: int = 3
    scale: float = 1.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    squeeze: bool = False

    @property
    def axis(self) -> int | None:
        """The axis of the channels, or None."""
        return {"chw": 0, "hwc": 2, "hw": None}[self.order]

    def __call__(self, image: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return x in the model's units, and the picture (h, w, 3) in 0 … 255."""
        picture = image if self.size is None else self._fitted(image)
        seen = np.asarray(picture)
        pixels = seen if self.channels == 3 else np.asarray(picture.convert("L"))[..., None]
        for name, given in (("--mean", self.mean), ("--std", self.std)):
            if len(given) not in (1, self.channels):
                more = f", or one for each of {self.channels} channels" if self.channels > 1 else ""
                raise InputError(
                    f"{name} must have one number{more}; got {len(given)}.",
                    code="channel-count",
                )
        x = (self.scale * pixels.astype(np.float64) / 255 - np.array(self.mean)) / np.array(self.std)
        if self.order == "hw":
            x = x[..., 0]
        elif self.order == "chw":
            x = np.moveaxis(x, -1, 0)
        return np.ascontiguousarray(x, np.float32), seen

    def plain(self, pixel: int) -> tuple[float, ...]:
        """Return what a grey pixel of 0 … 255 becomes, a number for each channel or one for all."""
        made = (self.scale * pixel / 255 - np.array(self.mean)) / np.array(self.std)
        return tuple(float(number) for number in made.astype(np.float32))

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


def preprocessing_for(shape: tuple[int, ...] | None) -> Preprocessing:
    """Return the preprocessing that follows from the shape of a model's input."""
    if shape is None:
        return Preprocessing()
    if len(shape) == 3 and shape[0] in (1, 3):
        return Preprocessing((shape[1], shape[2]), "chw", shape[0])
    if len(shape) == 3 and shape[2] in (1, 3):
        return Preprocessing((shape[0], shape[1]), "hwc", shape[2])
    if len(shape) == 2:
        return Preprocessing((shape[0], shape[1]), "hw", 1)
    raise InputError(
        f"INPUT must fit the model; it is an image, and the model has inputs of shape {shape}.",
        code="image-for-other-shape",
    )


def image_in(content: bytes, name: str) -> tuple[Any, list[str]]:
    """Return an image in RGB with 8 bits, upright, on white where it is transparent; and notes of what was changed."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise MissingPackage(
            "Images need pillow. Run `pip install pillow` (the extra `app`).", code="pillow-missing"
        ) from None
    try:
        found = Image.open(io.BytesIO(content))
        notes = ["is animated: its first picture is explained"] if getattr(found, "n_frames", 1) > 1 else []
        found.load()
        upright = ImageOps.exif_transpose(found)
    except UnidentifiedImageError:
        raise FileError(
            f"{name} must be an image, an array (.npy) or a table (.csv, .tsv, .parquet); its format is unknown.",
            code="format-unknown",
        ) from None
    except Exception as error:  # the decoders of pillow raise any of them for damaged files
        raise FileError(f"{name} cannot be read as an image: {error}.", code="image-unreadable") from None
    if upright.size != found.size or found.getexif().get(0x0112, 1) != 1:
        notes.append("is turned upright, by its EXIF data")
    return _rgb(upright, name, notes), notes


def _rgb(found: Any, name: str, notes: list[str]) -> Any:
    from PIL import Image

    if found.mode == "F":
        raise FileError(
            f"{name} must have whole numbers; it has floating ones. Save it as .npy in the units of the model.",
            code="image-of-floats",
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
