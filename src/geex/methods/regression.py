"""Regression on contrasts: the values that explain the differences between mirrored queries.

    d = E ξ + noise,   ξ = D u,   u ~ N(0, s² K)

For independent masks with α = ½ and for Gaussian noise the coefficients are what the score estimator estimates, but
the cross-talk between features, which is most of its noise, is gone. D, K and the noise are chosen by the marginal
likelihood from a handful of candidates, on a few hundred draws.
"""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from geex._arrays.arrays import Array, namespace
from geex._arrays.linear_algebra import solver_precision
from geex._arrays.validation import shown, truth, whole
from geex._estimate.answers import Answers
from geex._estimate.linear.design import Design
from geex._estimate.linear.fit import Fits, fitted, linear_of
from geex._estimate.linear.knots import knots_for
from geex._estimate.linear.noise_refit import fits
from geex._estimate.linear.posterior import Lift
from geex._estimate.linear.prior_selection import chosen_priors, evenly
from geex._estimate.linear.prior_uncertainty import Alternatives
from geex._estimate.score_function import contrast
from geex._plan.plan import Plan
from geex._problem.estimand import Additive, Estimand
from geex._problem.features import Elements, neighbouring, regular
from geex._protocols import Features, LinearDraws, Method, RoundsMethod, Search
from geex._stored_names import stored
from geex.errors import MethodError
from geex.methods.presence import Presence

# Differences x − x̊ beyond this scale, or its inverse, are rescaled.
LARGEST_SCALE = 1e12
# The least difference, as a share of the largest.
NEGLIGIBLE = 1e-100


@stored("Regression/1")
@dataclass(frozen=True)
class Regression(Method):
    """Values by regression on the queries of another method, with a prior that is chosen by marginal likelihood.

    The values estimate what those of the other method estimate, with far less variance.

    Parameters
    ----------
    of
        The method that makes the queries: `Presence(alpha=0.5)`, `GEEX(…)` or `methods.GE(…)`, or a method of your own
        whose search has `linear`. Default: `Presence(alpha=0.5)`, whose values are Banzhaf values.
    complete
        Whether values are conditioned to add up to f(x) − f(x̊). Features that change nothing then get values too.
    choice
        The number of draws that the prior is chosen by.
    most
        The number of draws in the fit, spread evenly over the run. None: all.

    Raises
    ------
    MethodError
        A setting is wrong, or `of` cannot be used in a regression.

    Notes
    -----
    d = E ξ + noise with ξ = D u and u ~ N(0, s² K). d_i is the difference of the answers to a pair, e_i the difference
    of its queries in units of features, D a scale for each feature, and K a mixture of kernels over the grid of
    features.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> method = geex.Regression(complete=True)
    >>> found = geex.explain(lambda z: z @ [1.0, 2.0], np.ones(2), method=method, queries=100, progress=False)
    >>> found.values.round(2).tolist()
    [1.0, 2.0]
    """

    of: Method = field(default_factory=lambda: Presence(alpha=0.5))
    complete: bool = False
    choice: int = field(default=256, kw_only=True, repr=False)
    most: int | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.of, Method) or not self.of.mirror:
            raise MethodError(
                f"`of` must be a method with mirrored draws; got {shown(self.of)}.",
                code="of-not-mirrored",
                fix="Use geex.Presence(alpha=0.5), or leave out `of`.",
            )
        if self.of.regresses or isinstance(self.of, RoundsMethod):
            raise MethodError(
                f"`of` must be a method without a regression of its own; got {shown(self.of)}.",
                code="of-regresses",
                fix="Pass it as `method`.",
            )
        truth("complete", self.complete, MethodError)
        whole("choice", self.choice, 1, MethodError)
        if self.most is not None:
            whole("most", self.most, 1, MethodError)

    @property
    def compares(self) -> bool:
        """Whether x is compared with the baseline, as `of` says."""
        return self.of.compares

    @property
    def regresses(self) -> bool:
        return True

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        search = self.of.search(explicand, baseline, features, rows)
        linear = search.linear()
        if linear is None or search.rows != 2:
            raise MethodError(
                f"`of` must be a method with pairs of linear draws (Search.linear); got {shown(self.of)}.",
                code="of-not-linear",
                fix="Use geex.Presence(…) or geex.GEEX(…).",
            )
        if not linear.of_features and not regular(features, tuple(explicand.shape)):
            raise MethodError(
                "A regression on noise returns values of elements and pixels, not of groups. Use of=geex.Presence(…).",
                code="regression-of-groups",
            )
        if self.complete and linear.slopes:
            raise MethodError(
                f"`complete` must be False for {shown(self.of)}, whose values are slopes and do not add up.",
                code="slopes-not-additive",
            )
        return search

    def estimate(self, answers: Answers) -> Fits:
        plan = answers.plan
        lifts = lifts_of(plan)
        designs, differences = gathered(answers, lifts)
        most = self.most or differences.shape[0]
        thinned = most < differences.shape[0]
        if thinned:
            which = evenly(differences, most)
            designs = [design.of(which) for design in designs]
            differences = namespace(differences).take(differences, which, axis=0)
        choices = chosen_priors(designs, lifts, differences, _axes(plan), self.choice)
        span, found_fits = answers.span, []
        xp = namespace(span)
        together = linear_of(plan).neighbours
        for places, choice, found in fits(designs, lifts, differences, [one.best for one in choices], together):
            own = xp.stack([differences[:, place] for place in places], axis=1)
            alternatives = None
            if self.complete:
                found = found.summing_to(xp.stack([span[place] for place in places]), xp.ones_like(found.lift.reach))
            else:
                alternatives = Alternatives(designs, lifts, own, [choices[place].beside(choice) for place in places])
            found_fits.append((places, fitted(found, plan, designs[choice.lift], own, alternatives, thinned)))
        return Fits(found_fits)

    def regions(self, answers: Answers, rows: Array) -> Fits:
        """The estimate of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return self.estimate(answers).over(rows)

    def estimand(self, search: Any) -> Estimand:
        found = replace(self.of.estimand(search), regression=True)
        return replace(found, additive=Additive.EXACTLY, complete=True) if self.complete else found


def gathered(answers: Answers, lifts: list[Lift]) -> tuple[list[Design], Array]:
    """Return Φ of every lift, and the differences d (n, k) in float64, of a whole run."""
    contrasts, differences = [], []
    for chunk, raw in answers.chunks:
        plan, xp = chunk.plan, namespace(raw)
        search, linear = plan.search, linear_of(plan)
        outputs = xp.reshape(answers.outputs(raw), (chunk.count, search.rows, -1))
        d = xp.stack([contrast(outputs[:, :, target]) for target in range(outputs.shape[2])], axis=1)
        differences.append(2 * d if linear.of_features else d)
        rows = solver_precision(search.contrasts(chunk.draws, plan.explicand, plan.baseline))
        contrasts.append(_lowered(rows, lifts, linear))
    parts = [xp.concat(part, axis=0) for part in zip(*contrasts, strict=True)]
    if lifts[0].knots.spacing > 1:
        return [Design(part) for part in parts], xp.concat(differences, axis=0)
    return [Design(parts[0], _units(lift, linear)) for lift in lifts], xp.concat(differences, axis=0)


def _lowered(contrasts: Array, lifts: list[Lift], linear: LinearDraws) -> list[Array]:
    """Contrasts (u, p) on the knots of every lift; as they are where every feature is a knot."""
    if lifts[0].knots.spacing == 1:
        return [contrasts]
    xp = namespace(contrasts)
    return [lift.knots.down(contrasts * xp.astype(_units(lift, linear), contrasts.dtype, copy=False)) for lift in lifts]


def _units(lift: Lift, linear: LinearDraws) -> Array:
    """What a unit of contrast changes in u. Masks change ξ = D U u; noise changes U u, the gradient, itself."""
    return lift.reach if linear.of_features else namespace(lift.reach).ones_like(lift.reach)


def lifts_of(plan: Plan) -> list[Lift]:
    """Candidates of D, with the knots that the features' grid has."""
    shape = tuple(plan.explicand.shape)
    grid = plan.features.shape(shape) if linear_of(plan).of_features else shape
    knots = knots_for(grid, _axes(plan))
    return [Lift(reach, knots) for reach in _reaches(plan)]


def _axes(plan: Plan) -> tuple[int, ...]:
    """The axes along which coefficients have neighbours."""
    shape = tuple(plan.explicand.shape)
    own = linear_of(plan).of_features
    return neighbouring(plan.features if own else Elements(channels=plan.features.channels), shape)


def _reaches(plan: Plan) -> list[Array]:
    """Candidates of D (p,), in float64 and 0 where x = x̊: x − x̊ with its sign, and the root of its size. For slopes
    D is 1."""
    xp, linear = namespace(plan.explicand), linear_of(plan)
    x, absent = (xp.astype(array, xp.float64) for array in (plan.explicand, plan.baseline))
    difference = x - absent
    if not linear.of_features:
        return [xp.reshape(xp.ones_like(difference) if linear.slopes else difference, (-1,))]
    signs, largest = xp.sign(difference), float(xp.max(xp.abs(difference)))
    if not 1 / LARGEST_SCALE < largest < LARGEST_SCALE:
        difference = difference / largest  # D and 1/D would leave the range of float32; the fit knows D to a factor
        largest = 1.0
    difference = signs * xp.clip(xp.abs(difference), NEGLIGIBLE * largest, None)  # what differs has a square above 0
    size = xp.sqrt(plan.features.total(difference[None, ...] ** 2)[0, :])
    typical = xp.sqrt(xp.mean(size**2))
    rooted = xp.sqrt(size / typical + 0.1) * xp.astype(size > 0, xp.float64)
    if size.shape[0] == prod(difference.shape):
        return [xp.reshape(difference, (-1,)), rooted]
    return [rooted]
