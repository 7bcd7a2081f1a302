"""The posterior covariance of a linear model, on the smaller side of its design, and made when it is asked for.

d = Φ u + noise,   u ~ N(0, s² K),   noise ~ N(0, s² λ)

n × n    A = Φ K Φᵀ + λ = L Lᵀ     Cov u / s² = K − (L⁻¹ Φ K)ᵀ (L⁻¹ Φ K)     ∂û/∂d = A⁻¹ Φ K
q × q    M = λ + Φᵀ Φ K            Cov u / s² = λ K M⁻¹                      ∂û/∂d = Φ K M⁻¹
"""

from dataclasses import dataclass
from functools import cached_property

from geex._arrays.arrays import Array, device, like, namespace
from geex._arrays.factorisation import Factored
from geex._arrays.linear_algebra import triangular_solve
from geex._estimate.linear.design import Design
from geex._estimate.linear.knots import Knots
from geex._estimate.linear.prior import Prior

# Rows that are squared at a time, for variances of features.
VARIANCE_ROWS = 64
# Share of the mean variance that is added to the diagonal: the matrix then has a Cholesky factor.
JITTER = 1e-12


@dataclass(frozen=True, eq=False)
class ByDraws:
    """n × n: lower L (n, n), in float64, and rows Φ (n, q)."""

    lower: Array
    rows: Array
    prior: Prior

    @cached_property
    def root(self) -> Array:
        """L⁻¹ Φ K (n, q), in the type of Φ."""
        lower = namespace(self.rows).astype(self.lower, self.rows.dtype, copy=False)
        return triangular_solve(lower, self.prior.apply(self.rows))

    def forget(self) -> None:
        """Lets go of what can be made again."""
        self.__dict__.pop("root", None)

    def between(self, rows: Array) -> Array:
        """r Cov u rᵀ / s² for each of rows (r, q)."""
        xp = namespace(rows)
        shared = xp.astype(rows, self.root.dtype) @ self.root.T
        return xp.sum(rows * self.prior.apply(rows), axis=1) - xp.astype(xp.sum(shared**2, axis=1), rows.dtype)

    def moved(self, row: Array) -> Array:
        """Cov u row / s² (q,)."""
        xp, root = namespace(row), self.root
        shared = (root @ xp.astype(row, root.dtype)) @ root
        return self.prior.apply(row[None, :])[0, :] - xp.astype(shared, row.dtype)

    def diagonal(self, knots: Knots, model: Array) -> Array:
        """That of U Cov u Uᵀ / s² (p,), in the library and type of `model`."""
        return like(self.prior.diagonal(knots), model) - _squares(self.root, knots, model)

    def freedom(self) -> float:
        """Of the sum of squared residuals of draws left out, whose correlations are those of A⁻¹."""
        xp = namespace(self.lower)
        root = triangular_solve(self.lower, identity(self.lower.shape[0], self.lower))
        root = root / xp.sqrt(xp.sum(root**2, axis=0))
        return float(root.shape[0] ** 2 / xp.sum((root.T @ root) ** 2))

    def influence(self, design: Design) -> Array:
        """∂û/∂d (n, q)."""
        return triangular_solve(
            namespace(self.root).astype(self.lower, self.root.dtype, copy=False), self.root, transposed=True
        )


@dataclass(frozen=True, eq=False)
class ByFeatures:
    """q × q: system M."""

    system: Factored
    prior: Prior
    ratio: float

    @cached_property
    def dense(self) -> Array:
        """Cov u / s² (q, q)."""
        turned = self.prior.apply(self.system.inverse().T)  # (K M⁻¹)ᵀ, K being symmetric
        return self.ratio / 2 * (turned + turned.T)

    def forget(self) -> None:
        """Lets go of what can be made again."""
        self.__dict__.pop("dense", None)

    def between(self, rows: Array) -> Array:
        """r Cov u rᵀ / s² for each of rows (r, q)."""
        return namespace(rows).sum(rows * (rows @ self.dense), axis=1)

    def moved(self, row: Array) -> Array:
        """Cov u row / s² (q,)."""
        return self.dense @ row

    def diagonal(self, knots: Knots, model: Array) -> Array:
        """That of U Cov u Uᵀ / s² (p,)."""
        xp = namespace(self.dense)
        if knots.spacing == 1:
            return xp.linalg.diagonal(self.dense)
        size = xp.max(xp.linalg.diagonal(self.dense))
        factor = xp.linalg.cholesky(self.dense + JITTER * size * identity(self.dense.shape[0], self.dense)).T
        return _squares(factor, knots, model)

    def freedom(self) -> float:
        """Nothing that is not known: there are more draws than features."""
        return 1.0

    def influence(self, design: Design) -> Array:
        """∂û/∂d (n, q), in float64 where draws are hardly more than features: what is large in it cancels."""
        return design.explained_by_many(self.dense / self.ratio)


Covariance = ByDraws | ByFeatures


def _squares(root: Array, knots: Knots, model: Array) -> Array:
    """The diagonal of U rootᵀ root Uᵀ (p,), a few rows at a time."""
    xp = namespace(root)
    blocks = range(0, root.shape[0], VARIANCE_ROWS)
    parts = (xp.sum(knots.up(root[start : start + VARIANCE_ROWS, :]) ** 2, axis=0) for start in blocks)
    return sum(xp.astype(part, model.dtype) for part in parts)


def identity(count: int, array: Array) -> Array:
    """1 (count, count), beside `array` and in its type."""
    return namespace(array).eye(count, dtype=array.dtype, device=device(array))
