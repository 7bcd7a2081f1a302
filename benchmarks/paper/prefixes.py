"""Values of GEEX after fewer queries, from one run.

Every prefix of a plan is an even plan, so the first n draws of a run of N are the run with a budget of n:

    ξ_n = 1/n Σ_{i ≤ n} d_i w_i

Sums are accumulated chunk by chunk, and evaluated at each budget.
"""

from dataclasses import dataclass, field
from typing import Any

import geex
from geex._arrays.arrays import Array
from geex._estimate.score_function import Moments, moments
from geex._problem.estimand import Estimand
from geex._protocols import Features, Method

ENDS = 2  # f(x) and f(x̊), which every budget includes


def prefixes(answers: geex.Answers, draws: list[int]) -> dict[int, Moments]:
    """The sums of the first n draws for each n of `draws`, in one pass over the chunks; and, at −1, of all."""
    total: Moments | None = None
    found: dict[int, Moments] = {}
    done = 0
    for chunk, raw in answers.chunks:
        outputs = answers.outputs(raw)
        for count in draws:
            if done < count <= done + chunk.count:
                piece = chunk.part(0, count - done)
                part = moments(piece, outputs[: piece.rows, :])
                found[count] = part if total is None else total + part
        whole = moments(chunk, outputs)
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

    def estimate(self, answers: geex.Answers) -> Moments:
        draws = {budget: answers.plan.search.afford(budget - ENDS) for budget in self.budgets}
        sums = prefixes(answers, sorted(set(draws.values())))
        self.found.update({budget: sums[count].values for budget, count in draws.items()})
        return sums[-1]

    def estimand(self, search: Any) -> Estimand:
        return self.method.estimand(search)
