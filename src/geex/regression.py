"""Regression on contrasts: the values that explain the differences between mirrored queries.

    d = E ξ + noise,   ξ = D u,   u ~ N(0, s² K)

For independent masks with α = ½ and for Gaussian noise the coefficients are what the score estimator estimates, but
the cross-talk between features, which is most of its noise, is gone. D, K and the noise are chosen by the marginal
likelihood from a handful of candidates, on a few hundred draws.
"""

from dataclasses import dataclass, field, replace
from math import inf, prod
from typing import Any

import numpy as np

from geex.arrays import Array, like, namespace
from geex.errors import MethodError
from geex.features import Elements, Features, Pixels, neighbouring
from geex.knots import knots_for
from geex.methods import Method
from geex.outputs import Score, scored
from geex.plan import Plan
from geex.posterior import Design, Lift, Posterior, posterior
from geex.presence import Presence, PresenceMasks
from geex.prior import Prior, priors
from geex.score import Answered, contrast
from geex.search import Gaussian, Noise, Search
from geex.unbiased import MOST, Unbiased, terms

RATIOS = np.logspace(-10, 2, 49)
POSTERIOR = (
    "Standard errors are those of the posterior: they know nothing of what a smooth prior smooths away, and are too "
    "small for single sharp features and for few queries."
)
UNBIASED = "Intervals are around unbiased values, and hold whatever was smoothed away."


@dataclass(frozen=True)
class Regression:
    """Values by regression on what another method asks.

    of: the method that asks: `Presence(alpha=0.5)`, or `GEEX(…)`.
    complete: whether the values are made to add up to f(x) − f(x̊) exactly, by conditioning on it. That moves mass onto
        features that do nothing: it gives up Insensitivity for the sum.
    choice: how many draws the prior is chosen by.
    """

    of: Method = field(default_factory=lambda: Presence(alpha=0.5))
    complete: bool = False
    choice: int = field(default=256, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.of, type) or not hasattr(self.of, "search") or not getattr(self.of, "mirror", True):
            raise MethodError(
                f"of is {self.of!r}; wanted a method with mirrored draws such as geex.Presence(alpha=0.5)."
            )

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        search = self.of.search(explicand, baseline, features, rows)
        if not isinstance(search, Noise | PresenceMasks):
            raise MethodError(f"{self.of!r} cannot be regressed on; wanted geex.Presence(…) or geex.GEEX(…).")
        if isinstance(search, Noise):
            if not isinstance(features, Elements | Pixels):
                raise MethodError(
                    "regression on noise gives values of elements and pixels; for groups take Presence()."
                )
            if not isinstance(search.family, Gaussian):
                raise MethodError(
                    f"of draws {search.family} noise, whose regression is not its score; take Gaussian()."
                )
        elif search.alpha != 0.5 and not search.by_size:
            raise MethodError(
                f"of shows the share alpha={search.alpha} of features, and coefficients are its values for 0.5 alone; "
                "take geex.Presence(alpha=0.5) for Banzhaf values, or geex.Shapley() for Shapley values."
            )
        return search

    def estimate(self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> "Fit":
        lifts = lifts_of(plan)
        designs, differences = gathered(answered, lifts, targets, score)
        design, lift, prior, ratio = chosen_prior(designs, lifts, differences, _axes(plan), self.choice)
        fit = posterior(design, differences, lift, prior, ratio)
        if not self.complete:
            return Fit(fit, plan).with_terms(design, differences, ratio)
        outputs = scored(ends, score)
        totals = namespace(outputs).stack([outputs[0, target] - outputs[1, target] for target in targets])
        return Fit(fit.summing_to(totals, namespace(totals).ones_like(lift.reach)), plan)

    def regions(
        self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score, rows: Array
    ) -> "Fit":
        """The estimate of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return replace(self.estimate(plan, answered, ends, targets, score), rows=rows)

    def estimand(self, search: Any) -> str:
        said = f"By regression: {self.of.estimand(search)}"
        if not self.complete:
            return said
        own = ". ".join(sentence for sentence in said.rstrip(".").split(". ") if "add up" not in sentence)
        return f"{own}. Made to add up to f(x) − f(x̊) exactly, by conditioning on it."


@dataclass(frozen=True, eq=False)
class Fit:
    """The posterior as values of features: coefficients of elements that make up a feature are summed.

    rows (r, p): regions whose sums are wanted instead of the features.
    unbiased: what makes intervals independent of the prior, where draws are independent over features.
    """

    posterior: Posterior
    plan: Plan
    rows: Array | None = None
    unbiased: Unbiased | None = None

    @property
    def values(self) -> Array:
        values = self._features(self.posterior.mean)
        return values if self.rows is None else values @ self._regions.T

    @property
    def centre(self) -> Array:
        """What intervals are around: the unbiased values, or else the values."""
        if self.unbiased is None:
            return self.values
        return self.values + (self.unbiased.shifts() if self.rows is None else self.unbiased.shift(self._regions))

    @property
    def freedom(self) -> float:
        return inf if self.unbiased is None else self.unbiased.freedom

    @property
    def note(self) -> str:
        """What is to be said of the errors."""
        return POSTERIOR if self.unbiased is None else UNBIASED

    @property
    def stderr(self) -> Array:
        xp = namespace(self.posterior.mean)
        if self.unbiased is not None:
            return self.unbiased.stderrs() if self.rows is None else self.unbiased.stderr(self._regions)
        if self.rows is not None:
            spread = self.posterior.covering(self._coefficients(self.rows))
            return xp.sqrt(self.posterior.scale[:, None] * spread[None, :])
        return xp.sqrt(self.posterior.scale[:, None] * self._features(self.posterior.variance()[None, :]))

    @property
    def sum_stderr(self) -> Array:
        xp = namespace(self.posterior.mean)
        if self.unbiased is not None:
            return self.unbiased.stderr(xp.ones_like(self.unbiased.terms[0, :1, :]))[:, 0]
        whole = xp.ones_like(self.posterior.lift.reach)[None, :]
        return xp.sqrt(self.posterior.scale * self.posterior.covering(whole)[0])

    def sum_over(self, rows: Array) -> Array:
        """The joint standard error of sums over regions, rows (r, p) of 0 and 1: (k, r)."""
        return replace(self, rows=rows).stderr

    def with_terms(self, design: Design, differences: Array, ratio: float) -> "Fit":
        """With intervals that do not rest on the prior, where contrasts are independent over features."""
        moment = _moment(self.plan.search)
        n, q = design.contrasts.shape
        if moment is None or self.posterior.lift.knots.spacing > 1 or n * q * differences.shape[1] > MOST:
            return self
        xp, reach = namespace(differences), self.posterior.lift.reach
        steps = xp.ones_like(reach) if isinstance(self.plan.search, PresenceMasks) else reach
        found, freedom = terms(design, differences, self.posterior, ratio, moment, steps)
        features = self._features(xp.reshape(found, (-1, q)))
        return replace(self, unbiased=Unbiased(xp.reshape(features, (differences.shape[1], n, -1)), freedom))

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


def gathered(answered: Answered, lifts: list[Lift], targets: list[int], score: Score) -> tuple[list[Design], Array]:
    """Φ of every lift, and the differences d (n, k) in float64, of a whole run."""
    contrasts, differences = [], []
    for chunk, answers in answered:
        plan, xp = chunk.plan, namespace(answers)
        search: Any = plan.search
        outputs = xp.reshape(scored(answers, score), (chunk.count, search.rows, -1))
        d = xp.stack([contrast(outputs[:, :, target]) for target in targets], axis=1)
        differences.append(2 * d if isinstance(search, PresenceMasks) else d)
        contrasts.append(_lowered(search.contrasts(chunk.draws, plan.explicand, plan.baseline), lifts, search))
    parts = [xp.concat(part, axis=0) for part in zip(*contrasts, strict=True)]
    if lifts[0].knots.spacing > 1:
        return [Design(part) for part in parts], xp.concat(differences, axis=0)
    return [Design(parts[0], _units(lift, search)) for lift in lifts], xp.concat(differences, axis=0)


def _lowered(contrasts: Array, lifts: list[Lift], search: Any) -> list[Array]:
    """Contrasts (u, p) on the knots of every lift; as they are where every feature is a knot."""
    if lifts[0].knots.spacing == 1:
        return [contrasts]
    xp = namespace(contrasts)
    return [lift.knots.down(contrasts * xp.astype(_units(lift, search), contrasts.dtype, copy=False)) for lift in lifts]


def _moment(search: Any) -> float | None:
    """The variance of a contrast's entries where these are independent of each other, and draws too; else None."""
    if isinstance(search, PresenceMasks):
        dependent = search.widths or search.by_size or search.within is not None
        return None if dependent else 1.0
    dependent = search.smooth is not None or search.shared is not None or search.block > 1
    return None if dependent else float(search.sigma) ** 2


def _units(lift: Lift, search: Any) -> Array:
    """What a unit of contrast changes in u. Masks change ξ = D U u; noise changes U u, the gradient, itself."""
    return lift.reach if isinstance(search, PresenceMasks) else namespace(lift.reach).ones_like(lift.reach)


def chosen_prior(
    designs: list[Design], lifts: list[Lift], differences: Array, axes: tuple[int, ...], draws: int
) -> tuple[Design, Lift, Prior, float]:
    """Φ, D, K and λ of the largest marginal likelihood, all outputs together, on draws from all of the run."""
    xp = namespace(differences)
    n = differences.shape[0]
    places = np.unique(np.linspace(0, n - 1, min(n, draws)).round().astype(np.int64))
    which = like(places, differences, xp.int64)
    some = xp.take(differences, which, axis=0)
    best = None
    for design, lift in zip(designs, lifts, strict=True):
        rows = design.rows(which)
        for prior in priors(lift.knots, axes):
            likelihood, ratio = evidence(xp.astype(rows @ prior.apply(rows).T, xp.float64), some)
            if best is None or likelihood > best[0]:
                best = (likelihood, design, lift, prior, ratio)
    assert best is not None
    return best[1:]


def evidence(gram: Array, differences: Array) -> tuple[float, float]:
    """The log marginal likelihood of d given Φ K Φᵀ, and the λ that has it (RATIOS times the mean diagonal)."""
    xp = namespace(gram)
    n = gram.shape[0]
    size = float(xp.mean(xp.linalg.diagonal(gram))) or 1.0
    spectrum, vectors = xp.linalg.eigh(gram)
    power = (vectors.T @ differences) ** 2
    variances = xp.maximum(spectrum, xp.zeros_like(spectrum))[None, :] + like(RATIOS * size, gram)[:, None]
    scale = xp.clip((1 / variances) @ power / n, 1e-300)
    likelihood = -0.5 * (n * xp.sum(xp.log(scale), axis=1) + differences.shape[1] * xp.sum(xp.log(variances), axis=1))
    best = int(xp.argmax(likelihood))
    return float(likelihood[best]), float(RATIOS[best] * size)


def lifts_of(plan: Plan) -> list[Lift]:
    """Candidates of D, with the knots that the features' grid has."""
    shape = tuple(plan.explicand.shape)
    grid = plan.features.shape(shape) if isinstance(plan.search, PresenceMasks) else shape
    knots = knots_for(grid, _axes(plan))
    return [Lift(reach, knots) for reach in _reaches(plan)]


def _axes(plan: Plan) -> tuple[int, ...]:
    """The axes along which coefficients have neighbours."""
    shape = tuple(plan.explicand.shape)
    features = plan.features if isinstance(plan.search, PresenceMasks) else Elements(channels=plan.features.channels)
    return neighbouring(features, shape)


def _reaches(plan: Plan) -> list[Array]:
    """Candidates of D (p,), in float64 and 0 where x = x̊: x − x̊ with its sign, and the root of its size."""
    xp = namespace(plan.explicand)
    difference = xp.astype(plan.explicand - plan.baseline, xp.float64)
    if not isinstance(plan.search, PresenceMasks):
        return [xp.reshape(difference, (-1,))]
    size = xp.sqrt(plan.features.total(difference[None, ...] ** 2)[0, :])
    typical = xp.sqrt(xp.mean(size**2))
    rooted = xp.sqrt(size / typical + 0.1) * xp.astype(size > 0, xp.float64)
    if size.shape[0] == prod(difference.shape):
        return [xp.reshape(difference, (-1,)), rooted]
    return [rooted]
