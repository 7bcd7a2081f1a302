"""The answers of a run, as a method gets them to make values of.

f(z) = score(raw answers for z)[targets]
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array, namespace
from geex._plan.plan import Chunk, Plan
from geex._problem.outputs import Score, scored


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to a plan, for one baseline.

    Raw answers (n, K) are those of the model to n queries. Scored answers (n, k) are what is explained of them: the
    score of the k targets.

    Attributes
    ----------
    plan
        The plan of the last round, with `explicand`, `baseline`, `search`, `features` and `seed`.
    chunks
        Pairs (chunk, raw answers) in the order of the plan. A chunk has `draws`, `count`, `rows`, `plan` and
        `weights()`. You can iterate once.
    ends
        The raw answers (2, K) for x and for the baseline; (1 + rows, K) for x and the rows of a background.
    targets
        The k outputs that are explained.
    score
        The function of the answers that is explained.
    learnt
        What the same method has learnt from other rows of a table, for methods that use it; None: nothing.
    """

    plan: Plan
    chunks: Iterable[tuple[Chunk, Array]]
    ends: Array
    targets: list[int]
    score: Score = None
    learnt: Any = None

    def outputs(self, raw: Array) -> Array:
        """Return the scored answers of the targets (n, k) for raw answers (n, K)."""
        return scored(raw, self.score)[:, self.targets]

    @property
    def ends_scored(self) -> Array:
        """The scored answers (2, k): f(x) and f(x̊) of every target, the mean over the rows of a background."""
        ends = self.outputs(self.ends)
        xp = namespace(ends)
        return xp.stack([ends[0, :], xp.mean(ends[1:, :], axis=0)])

    @property
    def span(self) -> Array:
        """f(x) − f(x̊) of every target (k,)."""
        output, base_value = self.ends_scored[0, :], self.ends_scored[1, :]
        return output - base_value
