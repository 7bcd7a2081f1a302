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
    mean_ends
        The scored answers (2, k) for x and the baseline, as means of several answers each. None: each has one answer.
    units
        What answers (k,) are divided by, where their squares would be 0 in float64. None: they are as they are.
    learnt
        What the same method has learnt from other rows of a table, for methods that use it; None: nothing.
    """

    plan: Plan
    chunks: Iterable[tuple[Chunk, Array]]
    ends: Array
    targets: list[int]
    score: Score = None
    mean_ends: Array | None = None
    units: Array | None = None
    learnt: Any = None

    def outputs(self, raw: Array) -> Array:
        """Return the scored answers of the targets (n, k) for raw answers (n, K)."""
        found = scored(raw, self.score)[:, self.targets]
        return found if self.units is None else found / self.units

    @property
    def ends_scored(self) -> Array:
        """The scored answers (2, k): f(x) and f(x̊) of every target, the mean over the rows of a background."""
        ends = self.all_ends_scored
        xp = namespace(ends)
        return xp.stack([ends[0, :], xp.mean(ends[1:, :], axis=0)])

    @property
    def all_ends_scored(self) -> Array:
        """The scored answers (1 + baselines, k) for x and the baseline, or every row of a background."""
        if self.mean_ends is None:
            return self.outputs(self.ends)
        return self.mean_ends if self.units is None else self.mean_ends / self.units

    @property
    def span(self) -> Array:
        """f(x) − f(x̊) of every target (k,)."""
        output, base_value = self.ends_scored[0, :], self.ends_scored[1, :]
        return output - base_value
