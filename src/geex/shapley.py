"""Shapley values by regression.

    minimise Σ_i (d_i − e_i · ξ)²   subject to   Σ_k ξ_k = f(x) − f(x̊)

over mirrored masks of s of the p features, s drawn ∝ 1/(s(p − s)). The minimiser converges to the Shapley values of the
game in which an absent feature has its baseline value, and adds up at any budget. Where the budget pays for every
subset, all of them are asked, and the values are exact.
"""

from dataclasses import dataclass, field

from geex.arrays import Array, namespace
from geex.coalitions import AllMasks, Exact, all_masks, exactly
from geex.features import Features
from geex.fit import Fits
from geex.outputs import Score
from geex.plan import Plan
from geex.presence import PresenceMasks
from geex.regression import Regression
from geex.score import Answered
from geex.search import Search


@dataclass(frozen=True)
class BySize:
    """Asks masks of the sizes that make Shapley values."""

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> PresenceMasks:
        return PresenceMasks(features, None, by_size=True)


@dataclass(frozen=True)
class Shapley:
    """Shapley values by regression, which add up to f(x) − f(x̊) exactly at any budget.

    For the same queries their variance is far below that of `Presence()`, whose sum adds up only within its error.
    With 2^q queries or more, q being the number of features that differ from the baseline, they are exact.
    """

    by: Regression = field(default_factory=lambda: Regression(BySize(), complete=True), init=False, repr=False)  # type: ignore[arg-type]

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        some = self.by.search(explicand, baseline, features, rows)
        return all_masks(explicand, baseline, features, max(rows, some.least)) or some

    def estimate(self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Fits | Exact:
        if isinstance(plan.search, AllMasks):
            return exactly(plan, answered, ends, targets, score)
        return self.by.estimate(plan, answered, ends, targets, score)

    def regions(
        self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score, rows: Array
    ) -> Fits | Exact:
        if isinstance(plan.search, AllMasks):
            exact = exactly(plan, answered, ends, targets, score)
            return Exact(exact.values @ namespace(rows).astype(rows, exact.values.dtype).T)
        return self.by.regions(plan, answered, ends, targets, score, rows)

    def estimand(self, search: Search) -> str:
        if isinstance(search, AllMasks):
            return (
                "Shapley values of the game in which a feature that is absent has its baseline value, exact: every "
                "subset was asked. They add up to f(x) − f(x̊)."
            )
        return (
            "Shapley values, by regression, of the game in which a feature that is absent has its baseline value. They "
            "add up to f(x) − f(x̊) exactly."
        )
