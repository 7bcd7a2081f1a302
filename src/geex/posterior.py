"""The posterior of a linear model with a Gaussian prior, on the smaller side of its design.

d = Φ u + noise,   u ~ N(0, s² K),   noise ~ N(0, s² λ),   ξ = D u

n × n    A = Φ K Φᵀ + λ     û = K Φᵀ A⁻¹ d           Cov u / s² = K − (L⁻¹ Φ K)ᵀ (L⁻¹ Φ K),   A = L Lᵀ
p × p    M = λ + Φᵀ Φ K     û = K M⁻¹ Φᵀ d           Cov u / s² = λ K M⁻¹
"""

from dataclasses import dataclass, replace

from geex.arrays import Array, device, like, namespace
from geex.prior import Prior


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean and covariance of ξ for k outputs, which share all but the scale s².

    mean (k, q); scale s² (k,); reach D (q,). Cov ξ = s² D (K − root ᵀ root) D, or s² D dense D where that is not None.
    direction (q,) is one that has been conditioned on: Cov ξ is less by direction directionᵀ.
    """

    mean: Array
    scale: Array
    reach: Array
    prior: Prior
    root: Array | None = None
    dense: Array | None = None
    direction: Array | None = None

    def variance(self) -> Array:
        """Var ξ / s² of every coefficient (q,)."""
        xp = namespace(self.mean)
        if self.dense is not None:
            variance = xp.linalg.diagonal(self.dense)
        else:
            variance = self.prior.height - xp.sum(self.root**2, axis=0)  # type: ignore[operator]
        return self._rest(variance * self.reach**2, self.direction)

    def covering(self, rows: Array) -> Array:
        """R Cov ξ Rᵀ / s², its diagonal, for rows R (r, q)."""
        return self._rest(self.between(rows, rows), None if self.direction is None else rows @ self.direction)

    def between(self, left: Array, right: Array) -> Array:
        """Σ_q of left ∘ (Cov ξ right) / s², row by row, before conditioning."""
        xp = namespace(self.mean)
        left, right = left * self.reach, right * self.reach
        if self.dense is not None:
            return xp.sum(left * (right @ self.dense), axis=1)
        shared = (left @ self.root.T) * (right @ self.root.T)  # type: ignore[union-attr]
        return xp.sum(left * self.prior.apply(right), axis=1) - xp.sum(shared, axis=1)

    def summing_to(self, totals: Array, counted: Array) -> "Posterior":
        """Conditioned on counted · ξ = totals (k,), exactly: the best linear correction, along Cov ξ counted."""
        xp = namespace(self.mean)
        row = counted[None, :]
        moved = self.moved(counted)
        spread = self.between(row, row)[0]
        missing = totals - self.mean @ counted
        return replace(self, mean=self.mean + missing[:, None] * moved / spread, direction=moved / xp.sqrt(spread))

    def moved(self, direction: Array) -> Array:
        """Cov ξ direction / s² (q,)."""
        right = direction * self.reach
        if self.dense is not None:
            return self.reach * (self.dense @ right)
        root = self.root
        return self.reach * (self.prior.apply(right[None, :])[0, :] - (root @ right) @ root)

    @staticmethod
    def _rest(variance: Array, known: Array | None) -> Array:
        xp = namespace(variance)
        left = variance if known is None else variance - known**2
        return xp.maximum(left, xp.zeros_like(left))


@dataclass(frozen=True, eq=False)
class Design:
    """Φ = contrasts ∘ units: contrasts (n, q) as they were asked, and what a unit of each changes in u (q,)."""

    contrasts: Array
    units: Array

    def rows(self, count: int | None = None) -> Array:
        """The first rows of Φ, in float64."""
        xp = namespace(self.units)
        return xp.astype(self.contrasts[:count, :], xp.float64) * self.units

    def gram(self) -> Array:
        """Φᵀ Φ. Products of contrasts are made in their own type, which is exact for masks."""
        xp = namespace(self.units)
        return xp.astype(self.contrasts.T @ self.contrasts, xp.float64) * self.units[:, None] * self.units

    def against(self, differences: Array) -> Array:
        """Φᵀ d (q, k)."""
        xp = namespace(self.units)
        product = self.contrasts.T @ xp.astype(differences, self.contrasts.dtype)
        return xp.astype(product, xp.float64) * self.units[:, None]


def posterior(design: Design, differences: Array, reach: Array, prior: Prior, ratio: float) -> Posterior:
    """The posterior given Φ, d (n, k), D (q,), K and λ; s² by maximum likelihood."""
    n, q = design.contrasts.shape
    if n <= q:
        return _by_draws(design.rows(), differences, reach, prior, ratio)
    return _by_features(design, differences, reach, prior, ratio)


def _by_draws(rows: Array, differences: Array, reach: Array, prior: Prior, ratio: float) -> Posterior:
    xp = namespace(differences)
    n, k = differences.shape
    smooth = prior.apply(rows)
    lower = xp.linalg.cholesky(rows @ smooth.T + ratio * _identity(n, rows))
    half = solved(lower, xp.concat([differences, smooth], axis=1))
    mean = half[:, :k].T @ half[:, k:]
    return Posterior(mean * reach, xp.sum(half[:, :k] ** 2, axis=0) / n, reach, prior, root=half[:, k:])


def _by_features(design: Design, differences: Array, reach: Array, prior: Prior, ratio: float) -> Posterior:
    xp = namespace(differences)
    n, q = design.contrasts.shape
    kernel = like(prior.dense(), reach)
    system = design.gram() @ kernel + ratio * _identity(q, reach)
    inverse = xp.linalg.solve(system.T, kernel).T  # K M⁻¹, K being symmetric
    against = design.against(differences)
    explained = inverse @ against
    misfit = (xp.sum(differences**2, axis=0) - xp.sum(against * explained, axis=0)) / ratio / n
    misfit = xp.maximum(misfit, xp.zeros_like(misfit))
    return Posterior((explained * reach[:, None]).T, misfit, reach, prior, dense=ratio * (inverse + inverse.T) / 2)


def _identity(count: int, array: Array) -> Array:
    return namespace(array).eye(count, dtype=array.dtype, device=device(array))


def solved(lower: Array, right: Array) -> Array:
    """L⁻¹ right."""
    return namespace(lower).linalg.solve(lower, right)
