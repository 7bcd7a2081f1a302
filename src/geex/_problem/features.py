"""Features: which elements of the input belong together.

A feature's weight is the sum of its elements' weights, Σ_{k∈g} w_k; its value is the estimate from that sum.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, Shape, as_array, host, namespace, owned
from geex._arrays.validation import code_name, is_whole, shown, subject, truth
from geex._problem.declared import Call, declared
from geex._protocols import Features
from geex._stored_names import stored
from geex.errors import FeaturesError, GeexError


@stored("Elements/1")
@dataclass(frozen=True)
class Elements(Features):
    """Every element of the input is a feature.

    Parameters
    ----------
    channels
        The channel axis of an image, for filters along the other axes. None: a first or last axis of at most 4 entries.
    line
        Whether a 1-d input is a series, whose elements have neighbours. Columns of a table have none.

    Raises
    ------
    FeaturesError
        `line` is not True or False. When x is explained: `channels` is not an axis of x.

    Examples
    --------
    >>> import geex
    >>> geex.Elements(line=True)
    Elements(channels=None, line=True)
    """

    channels: int | None = None
    line: bool = False

    def __post_init__(self) -> None:
        truth("line", self.line, FeaturesError)

    @property
    def elementwise(self) -> bool:
        return True

    def axes(self, shape: Shape) -> tuple[int, ...]:
        neighbours = len(shape) > 1 or (len(shape) == 1 and self.line)
        return image_axes(shape, self.channels) if neighbours else ()

    def check(self, shape: Shape) -> None:
        if self.channels is not None:
            _axis(self.channels, shape)

    def shape(self, shape: Shape) -> Shape:
        return shape

    def total(self, weights: Array) -> Array:
        return namespace(weights).reshape(weights, (weights.shape[0], -1))

    def index(self, shape: Shape) -> np.ndarray:
        return np.arange(prod(shape)).reshape(shape)


@stored("Pixels/1")
@dataclass(frozen=True)
class Pixels(Features):
    """Every pixel is a feature: the elements along the channel axis belong together.

    Parameters
    ----------
    channels
        The channel axis of x. The values have the shape of x without it.

    Raises
    ------
    FeaturesError
        When x is explained: `channels` is not an axis of x.

    Examples
    --------
    >>> import geex
    >>> geex.Pixels(channels=0).shape((3, 32, 32))
    (32, 32)
    """

    channels: int = 0

    def check(self, shape: Shape) -> None:
        _axis(self.channels, shape)

    def axes(self, shape: Shape) -> tuple[int, ...]:
        return tuple(range(len(self.shape(shape))))

    def merged_axis(self, shape: Shape) -> int | None:
        return _axis(self.channels, shape)

    def shape(self, shape: Shape) -> Shape:
        axis = _axis(self.channels, shape)
        return shape[:axis] + shape[axis + 1 :]

    def total(self, weights: Array) -> Array:
        xp = namespace(weights)
        axis = _axis(self.channels, weights.shape[1:])
        return xp.reshape(xp.sum(weights, axis=axis + 1), (weights.shape[0], -1))

    def index(self, shape: Shape) -> np.ndarray:
        pixels = self.shape(shape)
        return np.broadcast_to(
            np.expand_dims(np.arange(prod(pixels)).reshape(pixels), _axis(self.channels, shape)), shape
        )


def checked(features: Features, shape: Shape) -> Features:
    """Return the features. Raise FeaturesError if they are none, or do not match an explicand of `shape`."""
    if not isinstance(features, Features):
        raise FeaturesError(
            f"`features` must be geex.Elements(), Pixels(channels=…), Groups(map), or an object of your own class; got "
            f"{shown(features)}.",
            code="features-not-features",
            fix="For a class of your own, subclass geex.Features.",
        )
    features.check(shape)
    return features


@declared.register
def _(features: Pixels) -> Call:
    return Call("Pixels", "geex", (), (("channels", features.channels),))


def label_map(name: str, value: Any, kind: type[GeexError]) -> np.ndarray:
    """Return a copy of the labels. Raise `kind` unless they are whole numbers."""
    labels = owned(host(as_array(name, value, kind)))
    if labels.dtype.kind not in "bui" or labels.size == 0:
        raise kind(
            f"{subject(name)} must hold whole numbers, one for each element; got {labels.size} entries of type "
            f"{labels.dtype}.",
            code=f"{code_name(name)}-not-whole",
        )
    return np.asarray(labels)


def spread(name: str, labels: np.ndarray, shape: Shape, channels: int | None, kind: type[GeexError]) -> np.ndarray:
    """Return labels of pixels as labels of elements, repeated along the channel axis: `channels`, or first or last."""
    if labels.shape == shape:
        return labels
    axes = [_axis(channels, shape)] if channels is not None else [0, len(shape) - 1]
    for axis in axes:
        if labels.shape == shape[:axis] + shape[axis + 1 :]:
            return np.broadcast_to(np.expand_dims(labels, axis), shape)
    raise kind(
        f"{subject(name)} must have the shape of x, {shape}, or that without its channel axis (the first or the last, "
        f"or the one that the features name); got {labels.shape}.",
        code=f"{code_name(name)}-shape",
    )


def image_axes(shape: Shape, channels: int | None) -> tuple[int, ...]:
    """Return the axes along which an input of this shape has neighbours.

    Without `channels`: all axes of one or two; of three, the two beside a first or last axis of at most 4.
    """
    if channels is not None:
        axis = _axis(channels, shape)
        return tuple(a for a in range(len(shape)) if a != axis)
    if len(shape) in (1, 2):
        return tuple(range(len(shape)))
    if len(shape) == 3 and shape[0] <= 4:
        return (1, 2)
    if len(shape) == 3 and shape[2] <= 4:
        return (0, 1)
    raise FeaturesError(
        f"The channel axis of x is needed for a filter, and is not clear from the shape {shape}.",
        code="channel-axis-unclear",
        fix="Pass features=geex.Pixels(channels=axis) or geex.Elements(channels=axis).",
    )


def regular(features: Features, shape: Shape) -> bool:
    """Return whether every feature is an element, or all elements along one axis."""
    return features.elementwise or features.merged_axis(shape) is not None


def neighbour_axes(features: Features, shape: Shape) -> tuple[int, ...]:
    """Return the axes of the values along which features have neighbours: an axis of length 1 has none.

    Raise FeaturesError if the axes are not clear.
    """
    return long_axes(features.axes(shape), features.shape(shape))


def long_axes(axes: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """Return those of the axes that have more than one entry."""
    return tuple(axis for axis in axes if shape[axis] > 1)


def neighbouring(features: Features, shape: Shape) -> tuple[int, ...]:
    """Return the axes along which features have neighbours; () where it is not clear which axes these are."""
    try:
        return neighbour_axes(features, shape)
    except FeaturesError:
        return ()


def _axis(axis: int, shape: Shape) -> int:
    """Return the axis, counted from the front. Raise FeaturesError if x has no such axis."""
    n = len(shape)
    if not is_whole(axis) or not -n <= axis < n:
        raise FeaturesError(
            f"`channels` must be an axis of x, {-n} … {n - 1} for its shape {tuple(shape)}; got {shown(axis)}.",
            code="channels-not-an-axis",
        )
    return int(axis) % n
