"""Shapley values: of the game in which an absent feature has its baseline value.

Subsets are queried in mirrored pairs, none of them twice, and all of them where the budget is enough: then the values
are exact. Otherwise a process over subsets is fitted to the answers (`subset_process.py`). For pixels, and for very
many features, it is a regression with a smooth prior:

    minimise Σ_i (d_i − e_i · ξ)²   subject to   Σ_k ξ_k = f(x) − f(x̊)

over masks of s of the p features, s drawn ∝ 1/(s(p − s)). In all cases the values add up at any budget.
"""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from geex._arrays.arrays import Array
from geex._estimate.answers import Answers
from geex._estimate.background.estimate import BackgroundEstimate, estimate_over_background
from geex._estimate.linear.fit import Fits
from geex._estimate.shapley.exact_shapley import ExactEstimate, estimate_exactly
from geex._estimate.shapley.interactions import estimate_interactions
from geex._estimate.shapley.pairs import Interactions
from geex._estimate.shapley.subset_process_errors import ShapleyEstimate, estimate_shapley
from geex._plan.presence_masks import PresenceMasks
from geex._plan.row_subsets import row_subsets
from geex._plan.subsets import RepeatedSubsets, Subsets, players_of
from geex._problem.estimand import Additive, Estimand, Quantity
from geex._problem.features import neighbouring
from geex._protocols import Features, Method, Search
from geex._stored_names import stored
from geex.methods.regression import Regression
from geex.methods.score_method import ScoreMethod

EXACT = 16  # pixels up to which subsets are asked: all of them may be
# Players up to which the draws may be any number.
SMALL_GAME = 1024
# The most players of a process: its covariance of values is players × players.
MOST_PLAYERS = 4096
# The most players times draws: the process works on some ten matrices of this size.
PROCESS_ELEMENTS = 2**23
# Players for each draw from which on so few draws say nothing of θ, and errors are too small.
SPARSE = 5

# Features up to which one process is fitted over the rows of a background.
MOST_OVER_ROWS = 512

Shared = Fits | ExactEstimate | ShapleyEstimate | BackgroundEstimate


@stored("masks by size/1")
@dataclass(frozen=True)
class BySize(ScoreMethod):
    """Asks masks of the sizes that make Shapley values."""

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> PresenceMasks:
        return PresenceMasks(features, None, by_size=True)

    def estimand(self, search: PresenceMasks) -> Estimand:
        return Estimand(Quantity.SHAPLEY)


@stored("Shapley/1")
@dataclass(frozen=True)
class Shapley(Method):
    """Shapley values. They add up to f(x) − f(x̊) exactly, at any budget. The default method for all but images.

    No subset is queried twice, unless features are pixels, very many of them differ from the baseline, or the model has
    noise. From 2^q queries on, for q features that differ from the baseline, the values are exact.

    Notes
    -----
    The value of feature k is the mean of f(S ∪ {k}) − f(S) over subsets S of the other features, all sizes alike. In
    f(S) the features in S have the values of x, the others those of the baseline. If not all subsets are queried, a
    Gaussian process over subsets is fitted to the answers. For pixels, and for more than 1024 features if there
    are 2.5 times as many as queries, more than 4096, or 2²⁴ features × queries, it is the regression

        minimise Σ_i (d_i − e_i · ξ)²   subject to   Σ_k ξ_k = f(x) − f(x̊).

    If the second answer for x differs from the first, the model has noise. Then x, the baseline and small or large
    subsets are queried again, as often as it pays, within the budget.

    References
    ----------
    Shapley, *A Value for n-Person Games*, 1953. Lundberg and Lee, *A Unified Approach to Interpreting Model
    Predictions*, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> found = geex.explain(lambda z: z[:, 0] * z[:, 1] + z[:, 2], np.ones(3), method=geex.Shapley(), progress=False)
    >>> found.values.tolist()
    [0.5, 0.5, 1.0]
    """

    by: Regression = field(default_factory=lambda: Regression(BySize(), complete=True), init=False, repr=False)

    @property
    def regresses(self) -> bool:
        return True

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        if baseline.ndim > explicand.ndim:
            return row_subsets(explicand, baseline, features)
        some = self.by.search(explicand, baseline, features, rows)
        players = players_of(explicand, baseline, features)
        subsets = Subsets(features, players)
        flat = len(neighbouring(features, tuple(explicand.shape))) > 1
        return subsets if (1 <= len(players) <= EXACT if flat else fits(len(players), rows // 2)) else some

    def draws_among_rows(self, explicand: Array, background: Array, features: Features) -> bool:
        shape = tuple(explicand.shape)
        if len(neighbouring(features, shape)) > 1 or prod(features.shape(shape)) > MOST_OVER_ROWS:
            return False
        # a single feature has no subsets to draw: f(x) and f(x̊) are all of its value
        return len(row_subsets(explicand, background, features).players) > 1

    def estimate(self, answers: Answers) -> Shared:
        if answers.plan.has_background:
            return estimate_over_background(answers)
        search = answers.plan.search
        if not isinstance(search, Subsets | RepeatedSubsets):
            return self.by.estimate(answers)
        answers = replace(answers, chunks=list(answers.chunks))
        queried = sum(chunk.count for chunk, _ in answers.chunks)
        exact = isinstance(search, Subsets) and queried == search.all_draws
        return estimate_exactly(answers) if exact else estimate_shapley(answers)

    def regions(self, answers: Answers, rows: Array) -> Shared:
        return self.estimate(answers).over(rows)

    def interactions(self, answers: Answers, noise: np.ndarray | None) -> list[Interactions] | None:
        subsets = isinstance(answers.plan.search, Subsets | RepeatedSubsets)
        return estimate_interactions(answers, noise) if subsets and not answers.plan.has_background else None

    def estimand(self, search: Search) -> Estimand:
        return Estimand(Quantity.SHAPLEY, Additive.EXACTLY)


def fits(players: int, draws: int) -> bool:
    """Return whether a process over subsets is fitted to so many draws: it works on matrices of draws × draws, draws ×
    players and players × players."""
    if players <= SMALL_GAME:
        return players >= 1
    return players <= MOST_PLAYERS and players * draws <= PROCESS_ELEMENTS and players <= SPARSE * draws
