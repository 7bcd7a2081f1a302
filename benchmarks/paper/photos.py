"""Photos for Inception V3: labelled ones that it classifies correctly, and three pictures of scikit-image.

Labelled photos keep an order that was shuffled once (see benchmarks.photos), so that the first n of them are a sample
of all.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.inception import SIZE
from benchmarks.paper.cases import Case, Shown, predicted
from benchmarks.paper.settings import INCEPTION, Setting
from geex.methods.lime import superpixels

# scikit-image's pictures (CC0), with Inception V3's predictions: a cat, a coffee, a tripod
PICTURES = {"chelsea": 285, "coffee": 967, "camera": 872}
ORDER = 0


@dataclass(frozen=True, eq=False)
class Photos:
    """Pixels (n, size, size, 3) uint8, their classes, names, places in the folder, and superpixels (n, size, size)."""

    pixels: np.ndarray
    labels: np.ndarray
    names: np.ndarray
    places: np.ndarray
    segments: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def first(self, count: int) -> "Photos":
        return Photos(*(getattr(self, name)[:count] for name in self.__dataclass_fields__))

    def cases(self, setting: Setting, device: str, titles: list[str], shown: list[Shown]) -> list[Case]:
        """One case for each photo, on the device."""
        inputs = torch.from_numpy(scaled(self.pixels)).to(device)
        columns = (self.names, self.places, inputs, self.labels, self.segments, shown)
        return [
            Case(str(name), int(place), x, int(label), setting.baseline, titles[label], segments, kind)
            for name, place, x, label, segments, kind in zip(*columns, strict=True)
        ]


def chosen(folder: Path, count: int, network: Callable[[Tensor], Tensor], device: str) -> Photos:
    """The first `count` photos of the folder, in shuffled order, that the network classifies right."""
    from benchmarks.photos import photos, read

    listed = photos(folder)
    kept: list[tuple[np.ndarray, int, str, int]] = []
    for place in np.random.default_rng(ORDER).permutation(len(listed)):
        file, label = listed[place]
        pixels = read(folder / file, SIZE)
        if int(predicted(network, torch.from_numpy(scaled(pixels[None])).to(device))[0]) == label:
            kept.append((pixels, label, Path(file).stem, int(place)))
        if len(kept) == count:
            break
    return with_segments(*(np.array(column) for column in zip(*kept, strict=True)))


def scikit_image() -> Photos:
    """The three pictures, cut like the photos; their numbers follow on those of any folder."""
    from PIL import Image
    from skimage import data

    from benchmarks.photos import read

    pixels = []
    for name in PICTURES:
        file = BytesIO()
        Image.fromarray(getattr(data, name)()).save(file, format="png")
        pixels.append(read(file, SIZE))
    places = 10_000 + np.arange(len(PICTURES))
    return with_segments(np.array(pixels), np.array(list(PICTURES.values())), np.array(list(PICTURES)), places)


def with_segments(pixels: np.ndarray, labels: np.ndarray, names: np.ndarray, places: np.ndarray) -> Photos:
    """The photos with their superpixels, about 50 each."""
    maps = [superpixels(image, (1, 2), INCEPTION.superpixels).astype(np.uint8) for image in scaled(pixels)]
    return Photos(pixels, labels, names, places, np.array(maps))


def scaled(pixels: np.ndarray) -> np.ndarray:
    """(pixel − 128)/128: (n, size, size, 3) uint8 to (n, 3, size, size) float32."""
    return np.ascontiguousarray(np.moveaxis((pixels.astype(np.float32) - 128) / 128, -1, 1))


def photos_source(given: Path | None) -> Path | None:
    """Return a folder or a pack: the option, otherwise the environment variable GEEX_PHOTOS."""
    found = given or os.environ.get("GEEX_PHOTOS")
    return Path(found) if found else None
