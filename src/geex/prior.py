"""What is believed of values before anything is asked: neighbours act alike.

    ξ = D u,   u ~ N(0, s² K),   K = Σ_j c_j ⊗_axis K_j

K is a mixture of Gaussian kernels of a few widths along the axes of the feature grid, and of white noise. It is
applied axis by axis; D is a scale for every feature, 0 where x = x̊.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from geex.arrays import Array, Shape, like, namespace

WIDTHS = (1 / 28, 1.5 / 28, 2 / 28, 3 / 28, 5 / 28)
WHITE = 0.05


@dataclass(frozen=True)
class Prior:
    """K on a grid of `shape`, smooth along `axes`: `mixture` holds (share, width in features), width 0 for white."""

    shape: Shape
    axes: tuple[int, ...]
    mixture: tuple[tuple[float, float], ...]

    @property
    def height(self) -> float:
        """K's diagonal."""
        return sum(share for share, _ in self.mixture)

    def apply(self, rows: Array) -> Array:
        """K times each row of (r, p)."""
        xp = namespace(rows)
        grid = xp.reshape(rows, (rows.shape[0], *self.shape))
        total = 0.0
        for share, width in self.mixture:
            part = share * grid
            for axis in self.axes if width else ():
                moved = xp.moveaxis(part, axis + 1, -1) @ like(_kernel(self.shape[axis], width), rows)
                part = xp.moveaxis(moved, -1, axis + 1)
            total = part + total
        return xp.reshape(total, (rows.shape[0], -1))

    def dense(self) -> np.ndarray:
        """K (p, p)."""
        parts = []
        for share, width in self.mixture:
            smooth = [width > 0 and axis in self.axes for axis in range(len(self.shape))]
            product: np.ndarray = np.eye(1)
            for n, along in zip(self.shape, smooth, strict=True):
                product = np.kron(product, _kernel(n, width) if along else np.eye(n))
            parts.append(share * product)
        return np.asarray(sum(parts))


def priors(shape: Shape, axes: tuple[int, ...]) -> list[Prior]:
    """The candidates that the marginal likelihood chooses from; white noise alone where there are no neighbours."""
    white = Prior(shape, (), ((1.0, 0.0),))
    if not axes:
        return [white]
    side = prod(shape[axis] for axis in axes) ** (1 / len(axes))
    smooth = [Prior(shape, axes, ((1 - WHITE, width * side), (WHITE, 0.0))) for width in WIDTHS]
    return [white, *smooth]


def _kernel(length: int, width: float) -> np.ndarray:
    place = np.arange(length)
    return np.asarray(np.exp(-((place[:, None] - place) ** 2) / (2 * width**2)))
