"""What leaving out draws says of a fit: an unbiased residual on top of it, and the jackknife's error.

    ξ̃ = 1/n Σ_i [ ξ̂₋ᵢ + e_i r_i / m ],   r_i = d_i − e_i · ξ̂₋ᵢ,   m = E[e_k²]
       = ξ̂ + 1/n Σ_i t_i,                 t_i = (e_i / m − W_i) r_i,   W_i = ∂ξ̂/∂d_i

ξ̂₋ᵢ is the fit without draw i, so it is independent of e_i, and where the entries of e are independent every term has
the value that is estimated for its mean. The fit takes away most of a term's variance, and what it smooths away comes
back with the residual: the terms' own spread is an honest error, for sharp features and few queries too.
"""

from dataclasses import dataclass

from geex.arrays import Array, namespace
from geex.posterior import Design, Posterior, identity

MOST = 2**23
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Terms t (k, n, p) of features, to be added to the values of the fit, and the degrees of freedom left to them.

    jackknife: the terms are n (ξ̂ − ξ̂₋ᵢ): their spread is the error of the fit as it is, and nothing is added to it.
    """

    terms: Array
    freedom: float
    jackknife: bool = False

    def shift(self, rows: Array) -> Array:
        """1/n Σ_i t_i summed over regions, rows (r, p): (k, r)."""
        return self.shifts() @ rows.T

    def stderr(self, rows: Array) -> Array:
        """Its standard error (k, r)."""
        xp = namespace(rows)
        return xp.stack([xp.std(terms @ rows.T, axis=0, correction=1) for terms in self.terms]) / self.draws**0.5

    def shifts(self) -> Array:
        """`shift` of every feature (k, p)."""
        means = namespace(self.terms).mean(self.terms, axis=1)
        return 0 * means if self.jackknife else means

    def stderrs(self) -> Array:
        """`stderr` of every feature (k, p)."""
        return namespace(self.terms).std(self.terms, axis=1, correction=1) / self.draws**0.5

    @property
    def draws(self) -> int:
        return int(self.terms.shape[1])


def terms(
    design: Design, differences: Array, fit: Posterior, ratio: float, moment: float, steps: Array
) -> tuple[Array, float]:
    """t (k, n, q) of coefficients, for a fit in which every one is a knot, and n − 1 less what the fit has used up.

    moment: m. steps (q,): what a unit of contrast is in units of ξ, 1 for masks and x − x̊ for noise.
    """
    influence, residuals, freedom = left_out(design, differences, fit, ratio)
    slopes = namespace(influence).astype(design.contrasts, influence.dtype) * steps / moment - influence
    return _products(slopes, residuals), freedom


def jackknifed(design: Design, differences: Array, fit: Posterior, ratio: float) -> tuple[Array, float]:
    """n (ξ̂ − ξ̂₋ᵢ) of coefficients (k, n, q), for a fit that was conditioned on its sum, and the freedom of `terms`."""
    xp = namespace(differences)
    influence, residuals, freedom = left_out(design, differences, fit, ratio)
    if fit.direction is not None:
        along = fit.lift.up(fit.direction[None, :])[0, :]
        influence = influence - xp.sum(influence, axis=1)[:, None] * along / xp.sum(along)
    return differences.shape[0] * _products(influence, residuals), freedom


def left_out(design: Design, differences: Array, fit: Posterior, ratio: float) -> tuple[Array, Array, float]:
    """W (n, q) = ∂ξ̂/∂d, the residuals r (n, k) of draws that the fit has not seen, and the degrees of freedom left."""
    xp = namespace(differences)
    rows = design.rows()
    if fit.dense is not None:
        influence = rows @ fit.dense / ratio
    else:
        smooth = fit.prior.apply(rows)
        influence = xp.linalg.solve(rows @ smooth.T + ratio * identity(rows.shape[0], rows), smooth)
    used = xp.sum(rows * influence, axis=1)
    residuals = (differences - rows @ fit.coefficients.T) / xp.clip(1 - used, LEAST)[:, None]
    return influence * fit.lift.reach, residuals, max(1.0, rows.shape[0] - 1 - float(xp.sum(used)))


def _products(slopes: Array, residuals: Array) -> Array:
    """Slopes (n, q) times the residuals (n, k) of every output: (k, n, q)."""
    return namespace(slopes).stack([slopes * residuals[:, k : k + 1] for k in range(residuals.shape[1])])
