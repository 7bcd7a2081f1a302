"""Default method and score for an input: those that won the benchmark on its kind (docs/benchmarks.md).

small image    Guided
photo          Guided with a longer first round, since relevant regions are a smaller share of it
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

# The default budget of the default method.
QUERIES = 1000
# The shortest side of an image; smaller arrays have no neighbours worth a prior.
SHORTEST_SIDE = 8
# Lengths of a channel axis: grey, RGB, RGB with transparency.
CHANNEL_COUNTS = (1, 3, 4)
# Pixels from which on an image counts as a photo.
PHOTO_PIXELS = 75**2
SMALL_IMAGES, PHOTOS = Guided(), Guided(first=100, explore=0.5)


@dataclass(frozen=True)
class Defaults:
    """Features, method and score for an input of some shape."""

    features: Features
    method: Method
    score: Score


def defaults(shape: Shape, features: Features | None) -> Defaults:
    """Return the defaults for an x of `shape`."""
    features = pixels_of(shape) if features is None else features
    sides = _sides(features, shape)
    if len(sides) < 2 or min(sides) < SHORTEST_SIDE:
        return Defaults(features, Shapley(), None)
    return Defaults(features, SMALL_IMAGES if prod(sides) < PHOTO_PIXELS else PHOTOS, AUTO)


def looks_like_a_batch(shape: Shape) -> bool:
    """Return whether this is the shape of an image in a batch of one: (1, 3, h, w), (1, h, w, 3)."""
    return len(shape) == 4 and shape[0] == 1 and not pixels_of(shape[1:]).elementwise


def pixels_of(shape: Shape) -> Features:
    """Return Pixels for the shape of an image with channels, first or last; else Elements."""
    for axis in (0, -1) if len(shape) == 3 else ():
        pixels = Pixels(channels=axis)
        if shape[axis] in CHANNEL_COUNTS and min(pixels.shape(shape)) >= SHORTEST_SIDE:
            return pixels
    return Elements()


def _sides(features: Features, shape: Shape) -> tuple[int, ...]:
    """Return the lengths of the axes along which features have neighbours."""
    return tuple(features.shape(shape)[axis] for axis in neighbouring(features, shape))
