"""The posterior of a linear model with a Gaussian prior, on the smaller side of its design.

d = Φ u + noise,   u ~ N(0, s² K),   noise ~ N(0, s² λ),   ξ = D U u

n × n    A = Φ K Φᵀ + λ     û = K Φᵀ A⁻¹ d           Cov u / s² = K − (L⁻¹ Φ K)ᵀ (L⁻¹ Φ K),   A = L Lᵀ
q × q    M = λ + Φᵀ Φ K     û = K M⁻¹ Φᵀ d           Cov u / s² = λ K M⁻¹
"""

from dataclasses import dataclass, replace

from geex.arrays import Array, device, like, namespace, solved
from geex.knots import Knots
from geex.prior import Prior

BLOCK = 64
ROWS = 4096
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Lift:
    """ξ = D U u: reach D (p,), and U from q knots to p features."""

    reach: Array
    knots: Knots

    def up(self, rows: Array) -> Array:
        """D U u for each row u of (r, q): (r, p)."""
        return self.knots.up(rows) * self.reach

    def down(self, rows: Array) -> Array:
        """(D U)ᵀ v for each row v of (r, p): (r, q)."""
        return self.knots.down(rows * self.reach)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean and covariance of u, and of ξ, for k outputs, which share all but the scale s².

    coefficients û (k, q); scale s² (k,), from so many draws. Cov u = s² (K − root ᵀ root), or s² dense where that is
    not None.
    direction (q,) is one that has been conditioned on: Cov u / s² is less by direction directionᵀ.
    """

    coefficients: Array
    scale: Array
    lift: Lift
    prior: Prior
    draws: int
    root: Array | None = None
    dense: Array | None = None
    direction: Array | None = None

    @property
    def mean(self) -> Array:
        """ξ̂ (k, p)."""
        return self.lift.up(self.coefficients)

    def variance(self) -> Array:
        """Var ξ / s² of every feature (p,)."""
        xp = namespace(self.coefficients)
        if self.dense is not None:
            variance = self._squares(self._factor()) if self.lift.knots.spacing > 1 else xp.linalg.diagonal(self.dense)
        else:
            variance = like(self.prior.diagonal(self.lift.knots), self.lift.reach) - self._squares(self.root)
        known = None if self.direction is None else self.lift.up(self.direction[None, :])[0, :]
        return _rest(variance * self.lift.reach**2, known)

    def covering(self, rows: Array) -> Array:
        """R Cov ξ Rᵀ / s², its diagonal, for rows R (r, p)."""
        rows = self.lift.down(rows)
        return _rest(self._between(rows), None if self.direction is None else rows @ self.direction)

    def summing_to(self, totals: Array, counted: Array) -> "Posterior":
        """Conditioned on counted · ξ = totals (k,), exactly: the best linear correction, along Cov ξ counted."""
        xp = namespace(self.coefficients)
        row = self.lift.down(counted[None, :])
        moved = self._moved(row[0, :])
        spread = self._between(row)[0]
        missing = totals - self.coefficients @ row[0, :]
        coefficients = self.coefficients + missing[:, None] * moved / spread
        scale = (self.draws * self.scale + missing**2 / spread) / (self.draws + 1)  # one observation more
        return replace(self, coefficients=coefficients, scale=scale, direction=moved / xp.sqrt(spread))

    def _between(self, rows: Array) -> Array:
        """r Cov u rᵀ / s² for each of rows (r, q), before conditioning."""
        xp = namespace(rows)
        if self.dense is not None:
            return xp.sum(rows * (rows @ self.dense), axis=1)
        shared = xp.astype(rows, self.root.dtype) @ self.root.T  # type: ignore[union-attr]
        return xp.sum(rows * self.prior.apply(rows), axis=1) - xp.astype(xp.sum(shared**2, axis=1), rows.dtype)

    def _moved(self, row: Array) -> Array:
        """Cov u row / s² (q,), before conditioning."""
        if self.dense is not None:
            return self.dense @ row
        xp, root = namespace(row), self.root
        shared = (root @ xp.astype(row, root.dtype)) @ root  # type: ignore[union-attr]
        return self.prior.apply(row[None, :])[0, :] - xp.astype(shared, row.dtype)

    def _squares(self, root: Array | None) -> Array:
        """The diagonal of U rootᵀ root Uᵀ (p,), a few rows at a time."""
        assert root is not None
        xp = namespace(root)
        blocks = range(0, root.shape[0], BLOCK)
        parts = (xp.sum(self.lift.knots.up(root[start : start + BLOCK, :]) ** 2, axis=0) for start in blocks)
        return sum(xp.astype(part, self.lift.reach.dtype) for part in parts)

    def _factor(self) -> Array:
        """A matrix whose rows' squares sum up to the covariance."""
        xp = namespace(self.dense)
        size = xp.max(xp.linalg.diagonal(self.dense))
        return xp.linalg.cholesky(self.dense + TINY * size * identity(self.dense.shape[0], self.dense)).T  # type: ignore[union-attr]


@dataclass(frozen=True, eq=False)
class Design:
    """Φ = contrasts ∘ units: contrasts (n, q) as they were asked, and what a unit of each changes in u (q,).

    units None: the contrasts are Φ already, in the working type.
    """

    contrasts: Array
    units: Array | None = None

    def rows(self, which: Array | None = None) -> Array:
        """Φ, or the rows of it that are wanted."""
        xp = namespace(self.contrasts)
        contrasts = self.contrasts if which is None else xp.take(self.contrasts, which, axis=0)
        return contrasts if self.units is None else xp.astype(contrasts, xp.float64) * self.units

    def gram(self) -> Array:
        """Φᵀ Φ. Products of contrasts are made in their own type, which is exact for masks."""
        xp = namespace(self.contrasts)
        product = xp.astype(self.contrasts.T @ self.contrasts, xp.float64)
        return product if self.units is None else product * self.units[:, None] * self.units

    def against(self, differences: Array) -> Array:
        """Φᵀ d (q, k)."""
        xp = namespace(self.contrasts)
        product = sum(
            xp.astype(self.contrasts[start : start + ROWS, :], xp.float64).T @ differences[start : start + ROWS, :]
            for start in range(0, differences.shape[0], ROWS)
        )
        return product if self.units is None else product * self.units[:, None]

    def explained(self, coefficients: Array) -> Array:
        """Φ u (n, k) for coefficients u (q, k)."""
        xp = namespace(self.contrasts)
        steps = coefficients if self.units is None else coefficients * self.units[:, None]
        parts = [
            xp.astype(self.contrasts[start : start + ROWS, :], xp.float64) @ steps
            for start in range(0, self.contrasts.shape[0], ROWS)
        ]
        return xp.concat(parts, axis=0)


def posterior(design: Design, differences: Array, lift: Lift, prior: Prior, ratio: float) -> Posterior:
    """The posterior given Φ, d (n, k), D U, K and λ; s² by maximum likelihood."""
    n, q = design.contrasts.shape
    if n <= q:
        return _by_draws(design.rows(), differences, lift, prior, ratio)
    return _by_features(design, differences, lift, prior, ratio)


def _by_draws(rows: Array, differences: Array, lift: Lift, prior: Prior, ratio: float) -> Posterior:
    xp = namespace(differences)
    n = differences.shape[0]
    smooth = prior.apply(rows)
    system = xp.astype(rows @ smooth.T, xp.float64)
    lower = xp.linalg.cholesky(system + ratio * identity(n, system))
    half = solved(lower, differences)
    root = solved(xp.astype(lower, smooth.dtype, copy=False), smooth)
    coefficients = xp.astype(half, root.dtype, copy=False).T @ root
    scale = xp.sum(half**2, axis=0) / n
    return Posterior(xp.astype(coefficients, xp.float64, copy=False), scale, lift, prior, n, root=root)


def _by_features(design: Design, differences: Array, lift: Lift, prior: Prior, ratio: float) -> Posterior:
    xp = namespace(differences)
    n, q = design.contrasts.shape
    kernel = like(prior.dense(), lift.reach)
    system = design.gram() @ kernel + ratio * identity(q, lift.reach)
    inverse = xp.linalg.solve(system.T, kernel).T  # K M⁻¹, K being symmetric
    coefficients = inverse @ design.against(differences)
    left = differences - design.explained(coefficients)
    scale = xp.sum(differences * left, axis=0) / ratio / n
    scale = xp.maximum(scale, xp.sum(left**2, axis=0) / ratio / n)
    return Posterior(coefficients.T, scale, lift, prior, n, dense=ratio * (inverse + inverse.T) / 2)


def _rest(variance: Array, known: Array | None) -> Array:
    """What is left of a variance when a deviation along something known is taken off."""
    xp = namespace(variance)
    left = variance if known is None else variance - known**2
    return xp.maximum(left, xp.zeros_like(left))


def identity(count: int, array: Array) -> Array:
    """1 (count, count), beside `array` and in its type."""
    return namespace(array).eye(count, dtype=array.dtype, device=device(array))
