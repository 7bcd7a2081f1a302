"""Values on a grid, carried by fewer knots: linear interpolation along the grid's axes.

    v = U u,   U = ⊗_axis U_axis

Neighbouring pixels of a photo act alike, so a knot every few pixels is enough for what they have in common: an image of
299 × 299 has 76 × 76 knots. Where there are few enough features every feature is a knot and U = 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from geex._arrays.arrays import Array, Shape, like, namespace
from geex._arrays.linear_algebra import multiply_along

# The most knots, by the number of axes. A kernel along one axis has the square of those on it.
MOST_KNOTS = {1: 750, 2: 75**2}

# The most knots along one axis: a kernel along it is a matrix of as many rows and columns.
LONGEST_AXIS = 1500


@dataclass(frozen=True)
class Knots:
    """Knots `spacing` features apart along `axes` of a grid of `grid`."""

    grid: Shape
    axes: tuple[int, ...] = ()
    spacing: int = 1

    @cached_property
    def shape(self) -> Shape:
        return tuple(_count(n, self.spacing) if axis in self.axes else n for axis, n in enumerate(self.grid))

    def up(self, rows: Array) -> Array:
        """U u for each row u of (r, q): (r, p)."""
        return self._along(rows, self.shape, lambda matrix: matrix.T)

    def down(self, rows: Array) -> Array:
        """Uᵀ v for each row v of (r, p): (r, q)."""
        return self._along(rows, self.grid, lambda matrix: matrix)

    def _along(self, rows: Array, shape: Shape, side: Callable[[np.ndarray], np.ndarray]) -> Array:
        if self.spacing == 1:
            return rows
        xp = namespace(rows)
        grid = xp.reshape(rows, (rows.shape[0], *shape))
        for axis in self.axes:
            matrix = like(side(self.matrix(axis)), rows)
            grid = multiply_along(grid, axis + 1, matrix)
        return xp.reshape(grid, (rows.shape[0], -1))

    def matrix(self, axis: int) -> np.ndarray:
        """U along one axis (features, knots)."""
        return _interpolation(self.grid[axis], self.spacing)


def knots_for(grid: Shape, axes: tuple[int, ...]) -> Knots:
    """Knots so far apart that there are at most about MOST_KNOTS, and LONGEST_AXIS along each axis. Up to twice
    MOST_KNOTS features are all knots."""
    most = MOST_KNOTS[min(len(axes), 2)] if axes else prod(grid)
    longest = max((grid[axis] for axis in axes), default=0)
    if prod(grid) <= 2 * most and longest <= LONGEST_AXIS:
        return Knots(grid)
    along = -(-longest // LONGEST_AXIS)
    return Knots(grid, axes, max(1, along, round((prod(grid) / most) ** (1 / len(axes)))))


@lru_cache(maxsize=16)
def _interpolation(length: int, spacing: int) -> np.ndarray:
    place, knots = np.arange(length) / spacing, np.arange(_count(length, spacing))
    return np.asarray(np.maximum(0.0, 1 - np.abs(place[:, None] - knots)))


def _count(length: int, spacing: int) -> int:
    return -(-(length - 1) // spacing) + 1
