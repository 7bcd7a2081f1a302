"""What is done where nothing was asked for: what won the benchmark on that kind of input (docs/benchmarks.md).

small image    Guided
photo          Guided with a longer first round: there is more to find before it is worth looking closer
anything else  Shapley values
"""

from dataclasses import dataclass
from math import prod

from geex._arrays.arrays import Shape
from geex._problem.features import Elements, Pixels, neighbouring
from geex._problem.outputs import AUTO, Score
from geex._protocols import Features, Method
from geex.methods.guided import Guided
from geex.methods.shapley import Shapley

QUERIES = 1000
SMALLEST = 8
CHANNELS = (1, 3, 4)
PHOTO = 75**2  # pixels, from which on an image counts as one
SMALL_IMAGES, PHOTOS = Guided(), Guided(first=100, explore=0.5)


@dataclass(frozen=True)
class Defaults:
    """Features, method and score for an input of some shape."""

    features: Features
    method: Method
    score: Score


def defaults(shape: Shape, features: Features | None) -> Defaults:
    """What is explained, and how, where the features alone are given, or nothing is."""
    features = pixels_of(shape) if features is None else features
    sides = _sides(features, shape)
    if len(sides) < 2 or min(sides) < SMALLEST:
        return Defaults(features, Shapley(), None)
    return Defaults(features, SMALL_IMAGES if prod(sides) < PHOTO else PHOTOS, AUTO)


def looks_like_a_batch(shape: Shape) -> bool:
    """Whether it is an image with channels in a batch of one: (1, 3, h, w), (1, h, w, 3)."""
    return len(shape) == 4 and shape[0] == 1 and not pixels_of(shape[1:]).elementwise


def pixels_of(shape: Shape) -> Features:
    """The pixels of what looks like an image with channels, first or last; the elements of anything else."""
    for axis in (0, -1) if len(shape) == 3 else ():
        pixels = Pixels(channels=axis)
        if shape[axis] in CHANNELS and min(pixels.shape(shape)) >= SMALLEST:
            return pixels
    return Elements()


def _sides(features: Features, shape: Shape) -> tuple[int, ...]:
    """The lengths of the axes along which features have neighbours."""
    return tuple(features.shape(shape)[axis] for axis in neighbouring(features, shape))
