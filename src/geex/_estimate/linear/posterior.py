"""The posterior of a linear model with a Gaussian prior.

d = Φ u + noise,   u ~ N(0, s² K),   noise ~ N(0, s² λ),   ξ = D U u

n × n    A = Φ K Φᵀ + λ     û = K Φᵀ A⁻¹ d
q × q    M = λ + Φᵀ Φ K     û = K M⁻¹ Φᵀ d
"""

from dataclasses import dataclass, replace

from geex._arrays.arrays import Array, like, namespace
from geex._arrays.blas import PRODUCTS, one_thread
from geex._arrays.factorisation import Factored
from geex._arrays.linear_algebra import triangular_solve
from geex._estimate.linear.covariance import ByDraws, ByFeatures, Covariance, identity
from geex._estimate.linear.design import Design
from geex._estimate.linear.knots import Knots
from geex._estimate.linear.prior import Prior

# The rounding of float32.
FLOAT32_ROUNDING = 2.0**-23


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

    coefficients û (k, q); scale s² (k,), from so many draws; covariance Cov u / s².
    direction (q,) is one that has been conditioned on: Cov u / s² is less by direction directionᵀ.
    """

    coefficients: Array
    scale: Array
    lift: Lift
    draws: int
    covariance: Covariance
    direction: Array | None = None

    @property
    def mean(self) -> Array:
        """ξ̂ (k, p)."""
        return self.lift.up(self.coefficients)

    def of(self, outputs: list[int]) -> "Posterior":
        """That of some outputs."""
        xp = namespace(self.coefficients)
        which = like(outputs, self.coefficients, xp.int64)
        return replace(
            self, coefficients=xp.take(self.coefficients, which, axis=0), scale=xp.take(self.scale, which, axis=0)
        )

    def variance(self) -> Array:
        """Var ξ / s² of every feature (p,)."""
        variance = self.covariance.diagonal(self.lift.knots, self.lift.reach)
        known = None if self.direction is None else self.lift.up(self.direction[None, :])[0, :]
        return _rest(variance * self.lift.reach**2, known)

    def covering(self, rows: Array) -> Array:
        """R Cov ξ Rᵀ / s², its diagonal, for rows R (r, p)."""
        rows = self.lift.down(rows)
        return _rest(self.covariance.between(rows), None if self.direction is None else rows @ self.direction)

    def summing_to(self, totals: Array, counted: Array) -> "Posterior":
        """Conditioned on counted · ξ = totals (k,), exactly: the best linear correction, along Cov ξ counted."""
        xp = namespace(self.coefficients)
        row = self.lift.down(counted[None, :])
        moved = self.covariance.moved(row[0, :])
        spread = self.covariance.between(row)[0]
        missing = totals - self.coefficients @ row[0, :]
        coefficients = self.coefficients + missing[:, None] * moved / spread
        scale = (self.draws * self.scale + missing**2 / spread) / (self.draws + 1)  # one observation more
        return replace(self, coefficients=coefficients, scale=scale, direction=moved / xp.sqrt(spread))


def posterior(design: Design, differences: Array, lift: Lift, prior: Prior, ratio: float) -> Posterior:
    """The posterior given Φ, d (n, k), D U, K and λ; s² by maximum likelihood."""
    n, q = design.contrasts.shape
    if n > q:
        return _by_features(design, differences, lift, prior, ratio)
    with one_thread(n * n * q <= PRODUCTS):
        return _by_draws(design, differences, lift, prior, ratio)


def _by_draws(design: Design, differences: Array, lift: Lift, prior: Prior, ratio: float) -> Posterior:
    xp = namespace(differences)
    n, rows, system = differences.shape[0], design.rows(), design.kernel(prior)
    if rows.dtype != xp.float64 and ratio < n * FLOAT32_ROUNDING * float(xp.mean(xp.linalg.diagonal(system))):
        # λ is less than what products of float32 are wrong by: A may not be positive, and errors made of it are noise
        return _by_draws(Design(xp.astype(rows, xp.float64)), differences, lift, prior, ratio)
    lower = xp.linalg.cholesky(system + ratio * identity(n, system))
    half = triangular_solve(lower, differences)
    weights = xp.astype(triangular_solve(lower, half, transposed=True), rows.dtype, copy=False)
    coefficients = xp.astype(prior.apply(weights.T @ rows), xp.float64, copy=False)
    return Posterior(coefficients, xp.sum(half**2, axis=0) / n, lift, n, ByDraws(lower, rows, prior))


def _by_features(design: Design, differences: Array, lift: Lift, prior: Prior, ratio: float) -> Posterior:
    xp = namespace(differences)
    n, q = design.contrasts.shape
    system = Factored(prior.apply(design.gram()) + ratio * identity(q, lift.reach))
    coefficients = prior.apply(system.solve(design.against(differences)).T)
    left = differences - design.explained(coefficients.T)
    scale = xp.sum(differences * left, axis=0) / ratio / n
    scale = xp.maximum(scale, xp.sum(left**2, axis=0) / ratio / n)
    return Posterior(coefficients, scale, lift, n, ByFeatures(system, prior, ratio))


def _rest(variance: Array, known: Array | None) -> Array:
    """What is left of a variance when a deviation along something known is taken off."""
    xp = namespace(variance)
    left = variance if known is None else variance - known**2
    return xp.maximum(left, xp.zeros_like(left))
