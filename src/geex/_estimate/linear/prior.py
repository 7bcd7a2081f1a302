"""What is believed of values before anything is asked: neighbours act alike.

    ξ = D U u,   u ~ N(0, s² K),   K = Σ_j c_j ⊗_axis K_j

K is a mixture of Gaussian kernels of a few widths along the axes of the grid of knots, and of white noise. It is
applied axis by axis. D is a scale for every feature, 0 where x = x̊, and U interpolates between the knots.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from geex._arrays.arrays import Array, Shape, like, namespace
from geex._arrays.linear_algebra import host_unless_accelerated, multiply_along
from geex._estimate.linear.knots import Knots

# Candidate widths of a kernel, as shares of the mean side.
WIDTHS = (1 / 75, 1 / 37, 1 / 28, 1.5 / 28, 2 / 28, 3 / 28, 5 / 28)
# A kernel of several widths: the share of the variance and the width of each.
SCALES = ((0.3, 1 / 75), (0.3, 1 / 37), (0.2, 1.5 / 28), (0.2, 3 / 28))
# Narrower kernels do not differ from white noise, in knots.
NARROWEST = 0.75
# The share of white noise in the variance of a prior of one width.
WHITE = 0.05


@dataclass(frozen=True)
class Prior:
    """K on a grid of `shape`, smooth along `axes`: `mixture` holds (share, width in knots), width 0 for white."""

    shape: Shape
    axes: tuple[int, ...]
    mixture: tuple[tuple[float, float], ...]

    @property
    def parts(self) -> list[tuple[float, "Prior"]]:
        """The mixture, as shares and what each is a share of."""
        return [
            (share, Prior(self.shape, self.axes if width else (), ((1.0, width),))) for share, width in self.mixture
        ]

    def apply(self, rows: Array) -> Array:
        """K times each row of (r, q)."""
        own = host_unless_accelerated(rows)
        xp = namespace(own)
        grid = xp.reshape(own, (own.shape[0], *self.shape))
        total = 0.0
        for share, width in self.mixture:
            part = share * grid
            for axis in self.axes if width else ():
                part = multiply_along(part, axis + 1, like(_kernel(self.shape[axis], width), own))
            total = part + total
        return like(xp.reshape(total, (own.shape[0], -1)), rows)

    def diagonal(self, knots: Knots) -> np.ndarray:
        """The diagonal of U K Uᵀ (p,)."""
        parts = []
        for share, width in self.mixture:
            diagonals = [self._diagonal(axis, width, knots)[None, :] for axis in range(len(self.shape))]
            parts.append(share * _product(diagonals)[0])
        return np.asarray(sum(parts))

    def _diagonal(self, axis: int, width: float, knots: Knots) -> np.ndarray:
        """That of one part of the mixture along one axis."""
        if axis not in knots.axes:
            return np.ones(self.shape[axis])
        matrix = knots.matrix(axis)
        smooth = width > 0 and axis in self.axes
        return np.asarray(np.sum((matrix @ _kernel(self.shape[axis], width) if smooth else matrix) * matrix, axis=1))


def priors(knots: Knots, axes: tuple[int, ...]) -> list[Prior]:
    """The candidates that the marginal likelihood chooses from; white noise alone where there are no neighbours.

    One of every width that the knots can tell from white noise, and one of many widths, where that leaves several.
    """
    shape = knots.shape
    white = Prior(shape, (), ((1.0, 0.0),))
    if not axes:
        return [white]
    side = prod(shape[axis] for axis in axes) ** (1 / len(axes))
    smooth = [
        Prior(shape, axes, ((1 - WHITE, width * side), (WHITE, 0.0))) for width in WIDTHS if width * side >= NARROWEST
    ]
    scales = tuple((share, width * side if width * side >= NARROWEST else 0.0) for share, width in SCALES)
    return [white, *smooth, Prior(shape, axes, scales)]


def blend(some: list[Prior]) -> Prior:
    """The average of priors over one grid."""
    shares: dict[float, float] = {}
    for prior in some:
        for share, width in prior.mixture:
            shares[width] = shares.get(width, 0.0) + share / len(some)
    axes = max((prior.axes for prior in some), key=len)
    return Prior(some[0].shape, axes, tuple((shares[width], width) for width in sorted(shares)))


def _product(matrices: list[np.ndarray]) -> np.ndarray:
    product: np.ndarray = np.eye(1)
    for matrix in matrices:
        product = np.kron(product, matrix)
    return product


def _kernel(length: int, width: float) -> np.ndarray:
    place = np.arange(length)
    return np.asarray(np.exp(-((place[:, None] - place) ** 2) / (2 * width**2)))
