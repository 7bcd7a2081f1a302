"""What regression found, as values of features: fits of outputs that chose the same prior, and all of them together."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, like, namespace
from geex._arrays.blas import PRODUCTS, one_thread
from geex._estimate.linear.design import Design
from geex._estimate.linear.leave_one_out import LeftOut, Residual
from geex._estimate.linear.posterior import Posterior
from geex._estimate.linear.prior_uncertainty import Alternatives
from geex._plan.plan import Plan
from geex._problem.estimand import Note
from geex._protocols import Estimate, LinearDraws, ModelNoise

# An error so far below the posterior's is that of an exact fit to draws that do not separate features.
UNIDENTIFIED = 1e-3
# Fits that are kept whole, for the errors of other sums.
KEPT_FITS = 4


@dataclass(frozen=True, eq=False)
class Fit:
    """The posterior as values of features: coefficients of elements that make up a feature are summed.

    rows (r, p): regions whose sums are wanted instead of the features.
    left: the leave-one-out error: that of the unbiased residual, or the jackknife's.
    alternatives: other choices of the prior, whose values show what the choice leaves open; None where there is none.
    noise: that of the model's k answers; None: not known.
    """

    posterior: Posterior
    plan: Plan
    left: LeftOut
    alternatives: Alternatives | None = None
    rows: Array | None = None
    noise: ModelNoise | None = None

    @property
    def values(self) -> Array:
        return self._summed(self.posterior.mean)

    @property
    def centre(self) -> Array:
        """What intervals are around: the unbiased values, or else the values."""
        return self.values if self.left.residual is None else self.values + self.left.shift(self._lowered)

    @property
    def freedom(self) -> float:
        return self.left.freedom

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the errors include and leave out."""
        if self.left.residual is not None:
            return (Note.UNBIASED,)
        led, alternatives = self.plan.before is not None, self.alternatives
        possible = {
            Note.POSTERIOR_OR_LEFT_OUT: True,
            Note.SECOND_HALF: led and alternatives is not None,
            Note.PRIOR_OPEN: alternatives is not None and alternatives.few,
            Note.OTHER_ROUNDS: led,
        }
        return tuple(note for note, true in possible.items() if true)

    @property
    def stderr(self) -> Array:
        n, q = self.left.design.contrasts.shape
        with one_thread(n * q * min(n, q) <= PRODUCTS):
            return self._with_ends(self._stderr())

    def _with_ends(self, stderr: Array) -> Array:
        """With what the noise of f(x) and f(x̊) does to values that are made to add up to their difference."""
        direction, noise, xp = self.posterior.direction, self.noise, namespace(stderr)
        if direction is None or noise is None:
            return stderr
        return xp.sqrt(stderr**2 + (noise.ends[:, None] * self._shares) ** 2)

    @property
    def _shares(self) -> Array:
        """What values have of f(x) − f(x̊), which they are made to add up to (1, p)."""
        direction = self.posterior.direction
        assert direction is not None
        moved = self.posterior.lift.up(direction[None, :])
        return self._summed(moved / namespace(moved).sum(moved))

    @property
    def noise_stderr(self) -> Array:
        """The part of the standard errors that is the model's noise: as much as its variance is of the residuals'."""
        xp, noise = namespace(self.posterior.mean), self.noise
        stderr = self._stderr()
        if noise is None:
            return 0 * stderr
        # a difference is that of two answers for masks, half of it for noise on elements
        variance = (2.0 if linear_of(self.plan).of_features else 0.5) * noise.draws**2
        left = xp.mean(self.left.residuals**2, axis=0)
        part = xp.clip(variance / xp.where(left > 0, left, xp.ones_like(left)), None, 1.0)
        ends = 0.0 if self.posterior.direction is None else (noise.ends[:, None] * self._shares) ** 2
        return xp.sqrt(part[:, None] * stderr**2 + ends)

    def _stderr(self) -> Array:
        xp, residual = namespace(self.posterior.mean), self.left.residual
        if residual is not None and not residual.centred:
            left, posterior = self.left.stderr(self._lowered), xp.sqrt(self._posterior_variance())
            return xp.where(left < UNIDENTIFIED * posterior, posterior, left)
        choice = self._choice_variance()  # before the others, which stay in memory
        known = xp.maximum(self._posterior_variance(), self.left.stderr(self._lowered) ** 2)
        return xp.sqrt(xp.maximum(known, self._change_of_second_half()) + choice)

    def _change_of_second_half(self) -> Array:
        """The square of what the second half of a run that was led by its answers changed, else 0."""
        if self.alternatives is None or self.plan.before is None:
            return namespace(self.values).zeros_like(self.values)
        return (self.values - self._summed(self.alternatives.earlier)) ** 2

    def _posterior_variance(self) -> Array:
        """The posterior's variances, (k, p) or (k, r)."""
        if self.rows is not None:
            spread = self.posterior.covering(self._lowered)[None, :]
        else:
            spread = self._features(self.posterior.variance()[None, :])
        return self.posterior.scale[:, None] * spread

    def _choice_variance(self) -> Array | float:
        """The mean square of the difference between the values of alternative priors and of this fit."""
        others = [] if self.alternatives is None else [self._summed(values) for values in self.alternatives.values]
        return sum((other - self.values) ** 2 for other in others) / max(1, len(others))

    def _summed(self, means: Array) -> Array:
        """Values of features, or sums over regions, of coefficients (k, q)."""
        values = self._features(means)
        return values if self.rows is None else values @ self._regions.T

    @property
    def sum_stderr(self) -> Array:
        count = self._features(self.posterior.lift.reach[None, :]).shape[1]
        return replace(self, rows=like(np.ones((1, count)), self.posterior.mean)).stderr[:, 0]

    @property
    def _regions(self) -> Array:
        return namespace(self.rows).astype(self.rows, self.posterior.mean.dtype)

    @property
    def _lowered(self) -> Array | None:
        """The regions (r, p) as rows over coefficients (r, q)."""
        if self.rows is None:
            return None
        xp, rows = namespace(self.posterior.mean), self._regions
        if linear_of(self.plan).of_features:
            return rows
        index = self.plan.features.index(tuple(self.plan.explicand.shape)).ravel()
        return xp.take(rows, like(index, rows, xp.int64), axis=1)

    def _features(self, rows: Array) -> Array:
        return on_features(self.plan, rows)


def fitted(
    posterior: Posterior,
    plan: Plan,
    design: Design,
    differences: Array,
    alternatives: Alternatives | None = None,
    thinned: bool = False,
) -> Fit:
    """A fit with the errors that can be had: around unbiased values where it is known how contrasts go together.

    thinned: whether the fit is on some of the draws alone.
    """
    residual = None if thinned else _residual(posterior, plan, design)
    left = LeftOut(design, differences, posterior, residual, partial(on_features, plan))
    return Fit(posterior, plan, left, alternatives)


def _residual(posterior: Posterior, plan: Plan, design: Design) -> Residual | None:
    xp, lift, linear = namespace(design.contrasts), posterior.lift, linear_of(plan)
    complete = posterior.direction is not None
    moment = _moment(linear, prod(lift.reach.shape), complete)
    if moment is None:
        return None
    steps = xp.ones_like(lift.reach) if linear.of_features else lift.reach
    contrasts = design.blocks if lift.knots.spacing == 1 else partial(_made_again, plan, design.contrasts.shape[0])
    return Residual(moment, complete, contrasts, steps)


def _made_again(plan: Plan, draws: int) -> Iterator[Array]:
    """Contrasts over coefficients, chunk by chunk: a design on knots does not keep them."""
    for chunk in plan.chunks(draws):
        yield chunk.plan.search.contrasts(chunk.draws, plan.explicand, plan.baseline)


def on_features(plan: Plan, rows: Array) -> Array:
    """Rows over coefficients (r, q) as rows over features (r, p): those of elements that make one up are summed."""
    if linear_of(plan).of_features:
        return rows
    return plan.features.total(namespace(rows).reshape(rows, (rows.shape[0], *plan.explicand.shape)))


def linear_of(plan: Plan) -> LinearDraws:
    """How the draws of a plan that is regressed on enter the linear model."""
    linear = plan.search.linear()
    assert linear is not None, "the method has checked it"
    return linear


def _moment(linear: LinearDraws, coefficients: int, complete: bool) -> float | None:
    """What the residual is divided by, where contrasts are independent over features or those of Shapley values; else
    None."""
    if linear.by_size:
        return 2 / sum(1 / size for size in range(1, max(2, coefficients))) if complete else None
    return None if complete else linear.moment


@dataclass(frozen=True, eq=False)
class Fits(Estimate):
    """Fits of several outputs: (their places, fit). An output's values do not depend on what else is looked at."""

    fits: list[tuple[list[int], Fit]]

    def over(self, rows: Array) -> "Fits":
        """Of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return Fits([(places, replace(fit, rows=rows)) for places, fit in self.fits])

    def sum_over(self, rows: Array) -> Array:
        """The joint standard error of every output's sum over its own region (k,), rows (k, p) of 0 and 1."""
        xp = namespace(rows)
        found: dict[int, Array] = {}
        for places, fit in self._one_by_one():
            own = replace(fit, rows=xp.take(rows, like(places, rows, xp.int64), axis=0)).stderr
            found |= {place: own[number, number] for number, place in enumerate(places)}
        return xp.stack([found[place] for place in range(len(found))])

    def with_model_noise(self, noise: ModelNoise) -> "Fits":
        """The same for a model with noise (k,)."""

        def own(places: list[int]) -> ModelNoise:
            return noise.taken(like(places, noise.ends, namespace(noise.ends).int64))

        return Fits([(places, replace(fit, noise=own(places))) for places, fit in self.fits])

    @property
    def left_over(self) -> Array:
        found = []
        for places, fit in self._one_by_one():
            xp, whole = namespace(fit.left.differences), fit.left.differences
            square = xp.sum(whole**2, axis=0)
            left = xp.sum(fit.left.residuals**2, axis=0) / xp.where(square > 0, square, xp.ones_like(square))
            found.append((places, left))
        return self._joined(found)

    @property
    def noise_stderr(self) -> Array:
        return self._joined([(places, fit.noise_stderr) for places, fit in self._one_by_one()])

    @cached_property
    def values(self) -> Array:
        return self._joined([(places, fit.values) for places, fit in self.fits])

    @property
    def centre(self) -> Array:
        return self._errors["centre"]

    @property
    def stderr(self) -> Array:
        return self._errors["stderr"]

    @property
    def sum_stderr(self) -> Array:
        return self._errors["sum_stderr"]

    @property
    def freedom(self) -> float:
        return float(self._errors["freedom"])

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.fits[0][1].notes

    @cached_property
    def _errors(self) -> dict[str, Any]:
        """All that is made of errors, in one pass."""
        names = ("centre", "stderr", "sum_stderr")
        told = [(places, [getattr(fit, name) for name in names], fit.freedom) for places, fit in self._one_by_one()]
        joined = {name: self._joined([(one[0], one[1][i]) for one in told]) for i, name in enumerate(names)}
        return joined | {"freedom": min(freedom for _, _, freedom in told)}

    def _one_by_one(self) -> Iterator[tuple[list[int], Fit]]:
        """The fits, each of which lets go of what its errors are made of, as large as the design, before the next."""
        for places, fit in self.fits:
            yield places, fit
            if len(self.fits) > KEPT_FITS:
                fit.left.forget()

    @staticmethod
    def _joined(parts: list[tuple[list[int], Array]]) -> Array:
        """Rows of the outputs of all fits, in the order of the outputs."""
        found = {place: row for places, rows in parts for place, row in zip(places, rows, strict=True)}
        return namespace(parts[0][1]).stack([found[place] for place in range(len(found))])
