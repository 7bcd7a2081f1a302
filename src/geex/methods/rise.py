"""RISE: the expected score where a pixel shows (Petsiuk, Das and Saenko, 2018).

    z = m ∘ x + (1 − m) ∘ x̊,   ξ = 1/(n·keep) Σ_i f(z_i) m_i

A mask m is a coarse grid, every cell of which shows with probability `keep`, interpolated linearly to
(cells + 1) · ⌈size/cells⌉ pixels along every image axis and cropped at a random shift of less than a cell. So
0 ≤ m ≤ 1 and E[m] = keep everywhere. Channels share the mask.
"""

from dataclasses import dataclass

import numpy as np

from geex._arrays.arrays import Array, Shape, like, namespace
from geex._arrays.random_stream import Stream
from geex._arrays.validation import share, whole
from geex._estimate.answers import Answers
from geex._estimate.score_function import Moments, estimate
from geex._plan.search import Draws
from geex._problem.estimand import Estimand, Quantity
from geex._problem.features import image_axes
from geex._protocols import Features, Method, Search
from geex._stored_names import stored
from geex.errors import MethodError
from geex.methods.noise_settings import check_path


@stored("RISE/1")
@dataclass(frozen=True)
class RISE(Method):
    """The expected score where a pixel shows, over smooth random masks. Values do not add up.

    Parameters
    ----------
    cells
        The number of cells of a mask's coarse grid along each image axis.
    keep
        The probability that a cell shows.

    Raises
    ------
    MethodError
        A setting is wrong.

    Notes
    -----
    z = m ∘ x + (1 − m) ∘ x̊ and ξ = 1/(n · keep) Σ_i f(z_i) m_i. A feature of several elements has the mean over them.

    References
    ----------
    Petsiuk, Das and Saenko, *RISE: Randomized Input Sampling for Explanation of Black-box Models*, 2018.

    Examples
    --------
    >>> import geex
    >>> method = geex.methods.RISE(cells=8)
    """

    cells: int = 7
    keep: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", whole("cells", self.cells, 2, MethodError))
        share("keep", self.keep, MethodError, whole=False)

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> "SmoothMasks":
        check_path(explicand, baseline)
        return SmoothMasks(self.cells, float(self.keep), image_axes(tuple(explicand.shape), features.channels))

    def estimate(self, answers: Answers) -> Moments:
        return estimate(answers)

    def estimand(self, search: "SmoothMasks") -> Estimand:
        return Estimand(Quantity.EXPECTED_SCORE)


@stored("smooth masks/1")
@dataclass(frozen=True)
class SmoothMasks(Search):
    """The search of RISE. A draw's noise is its mask m (u, *shape), axes that share it having length 1."""

    cells: int
    keep: float
    axes: tuple[int, ...]
    rows: int = 1
    block: int = 1
    least: int = 2

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        xp = namespace(explicand)
        shape = tuple(explicand.shape)
        stream = Stream(seed, (1, chunk), explicand)
        grid = stream.uniform((count, *(self.cells for _ in self.axes))) < self.keep
        shifts = Stream(seed, (3, chunk), explicand).generator().random((len(self.axes), count))
        mask = enlarged(xp.astype(grid, explicand.dtype), [shape[axis] for axis in self.axes], shifts)
        full = tuple(n if axis in self.axes else 1 for axis, n in enumerate(shape))
        return Draws(like(np.full(count, self.keep), explicand), xp.reshape(mask, (count, *full)))

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        return (baseline + draws.noise * (explicand - baseline))[:, None, ...]

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        """m/keep, the mean over a feature's elements."""
        return mean_over(features, draws.noise, tuple(explicand.shape)) / self.keep


def mean_over(features: Features, rows: Array, shape: Shape) -> Array:
    """Means of rows (u, *shape), axes of length 1 being spread, over every feature's elements: (u, features)."""
    xp = namespace(rows)
    total = features.total(xp.broadcast_to(rows, (rows.shape[0], *shape)))
    return total / features.total(xp.broadcast_to(xp.ones_like(rows[:1, ...]), (1, *shape)))


def enlarged(grid: Array, sizes: list[int], shifts: np.ndarray) -> Array:
    """Grids (u, cells, …) interpolated to `sizes`, each cropped at its own shifts (axes, u) in parts of a cell."""
    xp = namespace(grid)
    for size, shift in zip(sizes, shifts, strict=True):
        count, cells, *others = grid.shape
        first = np.floor(shift * -(-size // cells)).astype(int)
        taps = like(interpolation(cells, size)[first[:, None] + np.arange(size)], grid)
        # The first axis is interpolated and becomes the last: after all of them they are in their order again.
        columns = xp.matmul(taps, xp.reshape(grid, (count, cells, -1)))
        grid = xp.reshape(xp.matrix_transpose(columns), (count, *others, size))
    return grid


def interpolation(cells: int, size: int) -> np.ndarray:
    """Linear interpolation of `cells` values to (cells + 1)·⌈size/cells⌉ pixels: a matrix (pixels, cells).

    Centres of cells and pixels are aligned and the grid is mirrored at its outermost centres, as by
    skimage.transform.resize (order 1, mode "reflect").
    """
    pixels = (cells + 1) * -(-size // cells)
    place = np.abs((np.arange(pixels) + 0.5) * cells / pixels - 0.5)
    place = (cells - 1) - np.abs((cells - 1) - place)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(cells))))
