"""The posterior of a linear model with a Gaussian prior, on the smaller side of its design.

d = Φ u + noise,   u ~ N(0, s² K),   noise ~ N(0, s² λ),   ξ = D u

n × n    A = Φ K Φᵀ + λ     û = K Φᵀ A⁻¹ d           Cov u / s² = K − (L⁻¹ Φ K)ᵀ (L⁻¹ Φ K),   A = L Lᵀ
p × p    M = λ + Φᵀ Φ K     û = K M⁻¹ Φᵀ d           Cov u / s² = λ K M⁻¹
"""

from dataclasses import dataclass, replace

from geex.arrays import Array, like, namespace
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


def posterior(design: Array, differences: Array, reach: Array, prior: Prior, ratio: float) -> Posterior:
    """The posterior given Φ (n, q), d (n, k), D (q,), K and λ, in float64; s² by maximum likelihood."""
    xp = namespace(differences)
    n, q = design.shape
    if n <= q:
        smooth = prior.apply(design)
        lower = xp.linalg.cholesky(design @ smooth.T + ratio * xp.eye(n, dtype=design.dtype, device=design.device))
        half = solved(lower, xp.concat([differences, smooth], axis=1))
        k = differences.shape[1]
        mean = half[:, :k].T @ half[:, k:]
        return Posterior(mean * reach, xp.sum(half[:, :k] ** 2, axis=0) / n, reach, prior, root=half[:, k:])
    kernel = like(prior.dense(), design)
    gram = design.T @ design
    system = gram @ kernel + ratio * xp.eye(q, dtype=design.dtype, device=design.device)
    inverse = kernel @ xp.linalg.inv(system)
    explained = inverse @ (design.T @ differences)
    misfit = xp.sum(differences * (differences - design @ explained), axis=0) / ratio / n
    return Posterior((explained * reach[:, None]).T, misfit, reach, prior, dense=ratio * (inverse + inverse.T) / 2)


def solved(lower: Array, right: Array) -> Array:
    """L⁻¹ right."""
    return namespace(lower).linalg.solve(lower, right)
