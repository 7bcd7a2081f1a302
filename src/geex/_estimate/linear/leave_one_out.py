"""What leaving out draws says of a fit: an unbiased residual on top of it, or the jackknife's error.

    ξ̃ = 1/n Σ_i [ ξ̂₋ᵢ + e_i r_i / m ],   r_i = d_i − e_i · ξ̂₋ᵢ,   m = E[e_k²]
       = ξ̂ + 1/n Σ_i t_i,                 t_i = (e_i / m − W_i) r_i,   W_i = ∂ξ̂/∂d_i

ξ̂₋ᵢ is the fit without draw i, so it is independent of e_i, and where the entries of e are independent every term has
the value that is estimated for its mean. The fit takes away most of a term's variance, and what it smooths away comes
back with the residual: the terms' own spread is an honest error, for sharp features and few queries too.

The masks of Shapley values have E[e_j e_k] = b for all j ≠ k. Where the sum of ξ is known, e_i less its mean does the
same, with m = 1 − b = 2 / (1 + 1/2 + … + 1/(p − 1)).

Where entries of e go together otherwise there is no such residual, and the terms are the jackknife's, whose spread is
the error of the fit as it is:

    t_i = n (ξ̂ − ξ̂₋ᵢ) = n W_i r_i
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from geex._arrays.arrays import Array, namespace
from geex._estimate.linear.design import Design
from geex._estimate.linear.posterior import Posterior

# Draws of a block where terms are of all features.
TERM_ROWS = 64
# The least share of a draw that its own answer leaves: residuals stay finite.
LEAST_LEFT = 1e-12
# Degrees of freedom from which on draws less coefficients are not bounded from below.
ENOUGH_FREEDOM = 30


@dataclass(frozen=True, eq=False)
class Residual:
    """What makes the residual unbiased.

    moment: m. centred: whether contrasts are taken less their mean, as those of Shapley values are.
    contrasts: e of all draws over coefficients, (u, p) at a time, made anew with every call.
    steps (p,): what a unit of contrast is in units of ξ, 1 for masks and x − x̊ for noise.
    """

    moment: float
    centred: bool
    contrasts: Callable[[], Iterator[Array]]
    steps: Array


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Terms t_i = s_i r_i of a fit: slopes s, and residuals r of draws that the fit has not seen.

    residual: what goes on top of the fit; None: nothing, the terms are the jackknife's.
    features: makes values of features of those of coefficients, (r, q) to (r, p).
    """

    design: Design
    differences: Array
    fit: Posterior
    residual: Residual | None
    features: Callable[[Array], Array]

    @cached_property
    def freedom(self) -> float:
        """n − 1 less what the fit has used up; where that is nearly all, what its residuals have of their own."""
        left = len(self.differences) - 1 - float(namespace(self.used).sum(self.used))
        return left if left >= ENOUGH_FREEDOM else max(1.0, left, self.fit.covariance.freedom())

    def shift(self, rows: Array | None = None) -> Array:
        """1/n Σ_i t_i (k, p), or of sums over rows (r, p) of coefficients (k, r)."""
        return self._moments(rows)[0]

    def stderr(self, rows: Array | None = None) -> Array:
        """The standard error of the values with that on top, shaped alike."""
        xp = namespace(self.differences)
        mean, square = self._moments(rows)
        n = self.differences.shape[0]
        spread = xp.maximum(square - mean**2, xp.zeros_like(square))
        return xp.sqrt(spread / max(1, n - 1))

    @cached_property
    def used(self) -> Array:
        """How much each draw's own answer counts in what is fitted to it (n,)."""
        return self.design.used(self._influence)

    @cached_property
    def residuals(self) -> Array:
        """r (n, k)."""
        left = self.differences - self.design.explained(self.fit.coefficients.T)
        return left / namespace(left).clip(1 - self.used, LEAST_LEFT)[:, None]

    def forget(self) -> None:
        """Lets go of what is as large as the design; it is made again where it is asked for."""
        self.__dict__.pop("_influence", None)
        self.fit.covariance.forget()

    def slopes(self) -> Iterator[tuple[int, Array]]:
        """s of every feature (u, p), of some draws after the other, and the number of the first of them."""
        xp, lift, influence, first = namespace(self.differences), self.fit.lift, self._influence, 0
        for contrasts in self._blocks():
            weights = influence[first : first + contrasts.shape[0], :]
            own = lift.knots.up(weights) * xp.astype(lift.reach, weights.dtype)
            if self.residual is None:
                made = self.differences.shape[0] * own
            else:
                contrasts = self._centred(xp.astype(contrasts, weights.dtype, copy=False))
                made = contrasts * xp.astype(self.residual.steps / self.residual.moment, weights.dtype) - own
            yield first, self.features(made)
            first += contrasts.shape[0]

    def _blocks(self) -> Iterator[Array]:
        """Contrasts of all draws, some at a time; those of the design where they are not looked at."""
        if self.residual is not None:
            return self.residual.contrasts()
        return self.design.blocks() if self.fit.lift.knots.spacing == 1 else self.design.blocks(TERM_ROWS)

    def _centred(self, rows: Array) -> Array:
        """Rows (r, p) less their means over the coefficients that there are, where that is called for."""
        if self.residual is None or not self.residual.centred:
            return rows
        xp = namespace(rows)
        there = xp.astype(self.fit.lift.reach != 0, rows.dtype)
        return (rows - (rows @ there)[:, None] / xp.sum(there)) * there

    def _slopes_of(self, rows: Array) -> Array:
        """s of sums over rows (r, p) of coefficients: (n, r)."""
        xp, influence = namespace(rows), self._influence
        own = influence @ xp.astype(self.fit.lift.down(rows), influence.dtype).T
        if self.residual is None:
            return self.differences.shape[0] * own
        weights = xp.astype(self._centred(rows * self.residual.steps / self.residual.moment), influence.dtype).T
        parts = [xp.astype(contrasts, influence.dtype, copy=False) @ weights for contrasts in self._blocks()]
        return xp.concat(parts, axis=0) - own

    @cached_property
    def _influence(self) -> Array:
        """W on knots (n, q), of a fit whose sum is known where that was conditioned on."""
        influence, direction = self.fit.covariance.influence(self.design), self.fit.direction
        if direction is None:
            return influence
        xp = namespace(influence)
        whole = self.fit.lift.down(xp.ones_like(self.fit.lift.reach)[None, :])[0, :]
        along, whole = (xp.astype(row, influence.dtype) for row in (direction / (whole @ direction), whole))
        return influence - (influence @ whole)[:, None] * along

    @cached_property
    def _every(self) -> tuple[Array, Array]:
        """`_moments` of every feature, some draws at a time."""
        parts = [self._summed(slopes, first, first + slopes.shape[0]) for first, slopes in self.slopes()]
        return sum(mean for mean, _ in parts), sum(square for _, square in parts)

    def _moments(self, rows: Array | None) -> tuple[Array, Array]:
        """The means of t and of t² over draws, (k, p) or (k, r) each."""
        return self._every if rows is None else self._summed(self._slopes_of(rows), 0, None)

    def _summed(self, slopes: Array, first: int, stop: int | None) -> tuple[Array, Array]:
        """What some draws add to the means of t and t². Residuals of any size are brought near 1: slopes are narrow."""
        xp = namespace(slopes)
        n, residuals = self.differences.shape[0], self.residuals
        size = xp.max(xp.abs(residuals), axis=0)
        size = xp.where(size == 0, xp.ones_like(size), size)
        own = xp.astype(residuals[first:stop, :] / size, slopes.dtype)
        mean, square = own.T @ slopes / n, (own**2).T @ slopes**2 / n
        return xp.astype(mean, xp.float64) * size[:, None], xp.astype(square, xp.float64) * size[:, None] ** 2
