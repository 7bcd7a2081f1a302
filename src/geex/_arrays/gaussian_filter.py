"""Gaussian filters on the image axes: mask smoothing and the blurred baseline.

    ε = (w / ‖w‖_F) * ε̂        (mask smoothing: the noise keeps its deviation, neighbours are correlated)

The filter is separable. Noise is drawn beyond the border, so that its amplitude is the same everywhere.
"""

from dataclasses import dataclass

import numpy as np

from geex._arrays.arrays import Array, Shape, like, namespace
from geex._arrays.validation import is_whole, positive, shown
from geex._stored_names import stored
from geex.errors import MethodError


@stored("kernel/1")
@dataclass(frozen=True)
class Kernel:
    """A Gaussian filter: odd `size` in pixels and deviation `sigma`."""

    size: int
    sigma: float

    def __post_init__(self) -> None:
        if not is_whole(self.size) or self.size < 1 or self.size % 2 == 0:
            raise MethodError(
                f"The size of a filter must be an odd whole number, such as 5; got {shown(self.size)}.",
                code="filter-size-not-odd",
            )
        object.__setattr__(self, "size", int(self.size))
        sigma = positive("the filter's sigma", self.sigma, MethodError, "a positive number, such as 0.7")
        object.__setattr__(self, "sigma", sigma)

    def taps(self) -> np.ndarray:
        """Return the 1-d filter, with sum 1."""
        offset = np.arange(self.size) - self.size // 2
        taps = np.exp(-0.5 * (offset / self.sigma) ** 2)
        return np.asarray(taps / taps.sum())

    def check(self, shape: Shape, axes: tuple[int, ...]) -> None:
        """Raise MethodError if the filter is larger than the image."""
        small = min(shape[axis] for axis in axes)
        if self.size > small:
            raise MethodError(
                f"The size of the filter must be at most {small - 1 + small % 2}, to fit into axes {axes} of shape "
                f"{shape}; got {self.size}.",
                code="filter-larger-than-image",
            )


def room(shape: Shape, axes: tuple[int, ...], kernel: Kernel) -> Shape:
    """Return the shape of noise that has `shape` after `smooth`."""
    return tuple(n + kernel.size - 1 if axis in axes else n for axis, n in enumerate(shape))


def smooth(noise: Array, axes: tuple[int, ...], kernel: Kernel) -> Array:
    """Return (w/‖w‖_F) * noise along `axes`, where the filter fits: smaller by size − 1 along each."""
    taps = kernel.taps()
    return _filter(noise, axes, taps / np.linalg.norm(taps))


def blurred(image: Array, axes: tuple[int, ...], kernel: Kernel) -> Array:
    """Return w * image along `axes`, the image mirrored at its border."""
    xp = namespace(image)
    margin = kernel.size // 2
    for axis in axes:
        n = image.shape[axis]
        mirrored = np.concatenate([np.arange(margin, 0, -1), np.arange(n), np.arange(n - 2, n - 2 - margin, -1)])
        image = xp.take(image, like(mirrored, image, xp.int64), axis=axis)
    return _filter(image, axes, kernel.taps())


def _filter(array: Array, axes: tuple[int, ...], taps: np.ndarray) -> Array:
    """Return the array filtered along `axes`. The taps are symmetric, so two windows share a product."""
    middle = len(taps) // 2
    for axis in axes:
        length = array.shape[axis] - len(taps) + 1
        windows = [(slice(None),) * axis + (slice(i, i + length),) for i in range(len(taps))]
        total = float(taps[middle]) * array[windows[middle]]
        for i in range(middle):
            both = array[windows[i]] + array[windows[-1 - i]]
            both *= float(taps[i])
            total += both
        array = total
    return array
