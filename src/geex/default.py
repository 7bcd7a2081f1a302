"""What is done where nothing was asked for: what won the benchmark on that kind of input (docs/benchmarks.md).

large image    Guided
small image    Regression on smooth presence masks of two widths
anything else  Shapley values
"""

from dataclasses import dataclass
from math import prod

from geex.arrays import Shape
from geex.errors import FeaturesError
from geex.features import Elements, Features, Pixels, grid_axes
from geex.guided import Guided
from geex.methods import Method
from geex.outputs import AUTO, Score
from geex.presence import Presence
from geex.regression import Regression
from geex.shapley import Shapley

QUERIES = 1000
SMALLEST = 8
LARGE = 64
WIDTHS = (1 / 28, 2 / 28)
CHANNELS = (1, 3, 4)


@dataclass(frozen=True)
class Defaults:
    """Features, method and score for an input of some shape."""

    features: Features
    method: Method
    score: Score


def defaults(shape: Shape, features: Features | None) -> Defaults:
    """What is explained, and how, where the features alone are given, or nothing is."""
    features = _pixels(shape) if features is None else features
    sides = _sides(features, shape)
    if len(sides) < 2 or min(sides) < SMALLEST:
        return Defaults(features, Shapley(), None)
    side = prod(sides) ** (1 / len(sides))
    if side >= LARGE:
        return Defaults(features, Guided(), AUTO)
    masks = Presence(alpha=0.5, widths=tuple(width * side for width in WIDTHS))
    return Defaults(features, Regression(masks), AUTO)


def _pixels(shape: Shape) -> Features:
    """The pixels of what looks like an image with channels, first or last; the elements of anything else."""
    for axis in (0, -1) if len(shape) == 3 else ():
        pixels = Pixels(channels=axis)
        if shape[axis] in CHANNELS and min(pixels.shape(shape)) >= SMALLEST:
            return pixels
    return Elements()


def _sides(features: Features, shape: Shape) -> tuple[int, ...]:
    """The lengths of the axes along which features have neighbours."""
    try:
        axes = grid_axes(features, shape)
    except FeaturesError:  # axes of unknown meaning: no neighbours are taken for granted
        return ()
    return tuple(features.shape(shape)[axis] for axis in axes)
