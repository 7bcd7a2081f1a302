"""What regression found, as values of features: fits of outputs that chose the same prior, and all of them together."""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from geex.arrays import Array, like, namespace
from geex.leaveout import MOST, LeftOut, jackknifed, terms
from geex.plan import Plan
from geex.posterior import Design, Posterior
from geex.presence import PresenceMasks

POSTERIOR = (
    "Standard errors are those of the posterior: they know nothing of what a smooth prior smooths away, and are too "
    "small for single sharp features and for few queries."
)
PLAIN = "Standard errors are those of the posterior or of leaving out draws, whichever is larger."
UNBIASED = "Intervals are around unbiased values, and hold whatever was smoothed away."


@dataclass(frozen=True, eq=False)
class Fit:
    """The posterior as values of features: coefficients of elements that make up a feature are summed.

    rows (r, p): regions whose sums are wanted instead of the features.
    left: what leaving out draws says of the error: the unbiased residual, or the jackknife. None: the posterior alone.
    """

    posterior: Posterior
    plan: Plan
    rows: Array | None = None
    left: LeftOut | None = None

    @property
    def values(self) -> Array:
        values = self._features(self.posterior.mean)
        return values if self.rows is None else values @ self._regions.T

    @property
    def centre(self) -> Array:
        """What intervals are around: the unbiased values, or else the values."""
        if self.left is None:
            return self.values
        return self.values + (self.left.shifts() if self.rows is None else self.left.shift(self._regions))

    @property
    def freedom(self) -> float:
        return inf if self.left is None else self.left.freedom

    @property
    def note(self) -> str:
        """What is to be said of the errors."""
        if self.left is not None:
            return PLAIN if self.left.jackknife else UNBIASED
        return POSTERIOR

    @property
    def stderr(self) -> Array:
        xp = namespace(self.posterior.mean)
        sampled = None
        if self.left is not None:
            sampled = self.left.stderrs() if self.rows is None else self.left.stderr(self._regions)
            if not self.left.jackknife:
                return sampled
        if self.rows is not None:
            spread = self.posterior.covering(self._coefficients(self.rows))[None, :]
        else:
            spread = self._features(self.posterior.variance()[None, :])
        believed = xp.sqrt(self.posterior.scale[:, None] * spread)
        return believed if sampled is None else xp.maximum(believed, sampled)

    @property
    def sum_stderr(self) -> Array:
        xp = namespace(self.posterior.mean)
        if self.left is not None and not self.left.jackknife:
            return self.left.stderr(xp.ones_like(self.left.terms[0, :1, :]))[:, 0]
        whole = xp.ones_like(self.posterior.lift.reach)[None, :]
        return xp.sqrt(self.posterior.scale * self.posterior.covering(whole)[0])

    def summing_to(self, totals: Array) -> "Fit":
        """Conditioned on values that sum to totals (k,)."""
        counted = namespace(totals).ones_like(self.posterior.lift.reach)
        return replace(self, posterior=self.posterior.summing_to(totals, counted))

    def jackknifed(self, design: Design, differences: Array, ratio: float) -> "Fit":
        """With the error that draws make, where it is more than the posterior's."""
        if self.posterior.lift.knots.spacing > 1 or design.contrasts.size * differences.shape[1] > MOST:
            return self
        made, freedom = jackknifed(design, differences, self.posterior, ratio)
        return replace(self, left=LeftOut(self._on_features(made), freedom, jackknife=True))

    def _on_features(self, made: Array) -> Array:
        """Terms of coefficients (k, n, q) as terms of features (k, n, p)."""
        xp = namespace(made)
        k, n, q = made.shape
        return xp.reshape(self._features(xp.reshape(made, (-1, q))), (k, n, -1))

    def with_terms(self, design: Design, differences: Array, ratio: float) -> "Fit":
        """With intervals that do not rest on the prior, where contrasts are independent over features."""
        moment = _moment(self.plan.search)
        n, q = design.contrasts.shape
        if moment is None or self.posterior.lift.knots.spacing > 1 or n * q * differences.shape[1] > MOST:
            return self
        xp, reach = namespace(differences), self.posterior.lift.reach
        steps = xp.ones_like(reach) if isinstance(self.plan.search, PresenceMasks) else reach
        found, freedom = terms(design, differences, self.posterior, ratio, moment, steps)
        return replace(self, left=LeftOut(self._on_features(found), freedom))

    @property
    def _regions(self) -> Array:
        return namespace(self.rows).astype(self.rows, self.posterior.mean.dtype)

    def _coefficients(self, rows: Array) -> Array:
        """Rows over features (r, p) as rows over coefficients (r, q)."""
        xp = namespace(self.posterior.mean)
        rows = xp.astype(rows, self.posterior.mean.dtype)
        if isinstance(self.plan.search, PresenceMasks):
            return rows
        index = self.plan.features.index(tuple(self.plan.explicand.shape)).ravel()
        return xp.take(rows, like(index, rows, xp.int64), axis=1)

    def _features(self, rows: Array) -> Array:
        if isinstance(self.plan.search, PresenceMasks):
            return rows
        grid = namespace(rows).reshape(rows, (rows.shape[0], *self.plan.explicand.shape))
        return self.plan.features.total(grid)


def _moment(search: Any) -> float | None:
    """The variance of a contrast's entries where these are independent of each other, and draws too; else None."""
    if isinstance(search, PresenceMasks):
        dependent = search.widths or search.by_size or search.within is not None
        return None if dependent else 1.0
    dependent = search.smooth is not None or search.shared is not None or search.block > 1
    return None if dependent else float(search.sigma) ** 2


@dataclass(frozen=True, eq=False)
class Fits:
    """Fits of several outputs: (their places, fit). An output's values do not depend on what else is looked at."""

    fits: list[tuple[list[int], Fit]]

    def over(self, rows: Array) -> "Fits":
        """Of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return Fits([(places, replace(fit, rows=rows)) for places, fit in self.fits])

    def sum_over(self, rows: Array) -> Array:
        """The joint standard error of sums over regions: (k, r)."""
        return self.over(rows).stderr

    @property
    def values(self) -> Array:
        return self._joined("values")

    @property
    def centre(self) -> Array:
        return self._joined("centre")

    @property
    def stderr(self) -> Array:
        return self._joined("stderr")

    @property
    def sum_stderr(self) -> Array:
        return self._joined("sum_stderr")

    @property
    def freedom(self) -> float:
        return min(fit.freedom for _, fit in self.fits)

    @property
    def note(self) -> str:
        return self.fits[0][1].note

    def _joined(self, name: str) -> Array:
        """The rows of all fits, in the order of the outputs."""
        found = {place: row for places, fit in self.fits for place, row in zip(places, getattr(fit, name), strict=True)}
        first = found[self.fits[0][0][0]]
        return namespace(first).stack([found[place] for place in range(len(found))])
