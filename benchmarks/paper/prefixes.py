"""Values of GEEX after fewer queries, from one run.

Every prefix of a plan is an even plan, so the first n draws of a run of N are the run with a budget of n:

    ξ_n = 1/n Σ_{i ≤ n} d_i w_i

Sums are accumulated chunk by chunk, and evaluated at each budget.
"""

from dataclasses import dataclass, field
from typing import Any

import geex
from geex._arrays.arrays import Array
from geex._estimate.score_function import Answered, Moments, moments
from geex._plan.plan import Plan
from geex._problem.estimand import Estimand
from geex._problem.outputs import Score
from geex._protocols import Features, Method

ENDS = 2  # f(x) and f(x̊), which every budget includes


def prefixes(answered: Answered, draws: list[int], targets: list[int], score: Score) -> dict[int, Moments]:
    """The sums of the first n draws for each n of `draws`, in one pass over the chunks; and, at −1, of all."""
    total: Moments | None = None
    found: dict[int, Moments] = {}
    done = 0
    for chunk, answers in answered:
        for count in draws:
            if done < count <= done + chunk.count:
                piece = chunk.part(0, count - done)
                part = moments(piece, answers[: piece.rows, :], targets, score)
                found[count] = part if total is None else total + part
        whole = moments(chunk, answers, targets, score)
        total = whole if total is None else total + whole
        done += chunk.count
    assert total is not None, "a search affords one couple of draws at least"
    return found | {-1: total}


@dataclass(frozen=True, eq=False)
class Nested(Method):
    """A method that is GEEX, and stores its values at smaller budgets in `found`: queries -> (k, p)."""

    method: geex.GEEX
    budgets: tuple[int, ...]
    found: dict[int, Array] = field(default_factory=dict)

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Any:
        return self.method.search(explicand, baseline, features, rows)

    def estimate(self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Moments:
        draws = {budget: plan.search.afford(budget - ENDS) for budget in self.budgets}
        sums = prefixes(answered, sorted(set(draws.values())), targets, score)
        self.found.update({budget: sums[count].values for budget, count in draws.items()})
        return sums[-1]

    def estimand(self, search: Any) -> Estimand:
        return self.method.estimand(search)
