"""The answers for x and the baselines, which every estimate of a run needs.

output f(x),   base value f(x̊), the mean over baselines,   noise |f(x) − f(x)'| / √2 from two answers for x
"""

from collections.abc import Iterable
from dataclasses import dataclass

from geex._arrays.arrays import Array, namespace
from geex._estimate.answers import Answers
from geex._plan.plan import Chunk, Plan
from geex._problem.outputs import Score, scored
from geex._protocols import Estimate

ROUNDING = 1e-5  # share of f(x), up to which two answers for x differ by rounding alone


@dataclass(frozen=True, eq=False)
class EndAnswers:
    """Raw answers (1 + baselines, K) for x and the baselines, and what is explained of them: k targets of the score.

    again: the second raw answer (1, K) for x; None if x was queried once.
    """

    raw: Array
    targets: list[int]
    score: Score
    again: Array | None = None

    @property
    def scored(self) -> Array:
        """The scored answers (1 + baselines, k)."""
        return scored(self.raw, self.score)[:, self.targets]

    @property
    def output(self) -> Array:
        """f(x) of every target (k,)."""
        return self.scored[0, :]

    @property
    def base_value(self) -> Array:
        """f(x̊) of every target (k,), the mean over baselines."""
        ends = self.scored
        return namespace(ends).mean(ends[1:, :], axis=0)

    @property
    def noise(self) -> Array | None:
        """The standard deviation of one answer for x (k,), estimated from two; None if x was queried once."""
        if self.again is None:
            return None
        first, second = (scored(raw, self.score)[0, self.targets] for raw in (self.raw[:1, :], self.again))
        return namespace(first).abs(first - second) / 2**0.5

    def answers(self, plan: Plan, chunks: Iterable[tuple[Chunk, Array]], part: int) -> Answers:
        """Return the answers to the plan of baseline number `part`, as a method gets them."""
        if plan.has_background:
            return Answers(plan, chunks, self.raw, self.targets, self.score)
        pair = namespace(self.raw).concat([self.raw[:1, :], self.raw[part + 1 : part + 2, :]], axis=0)
        return Answers(plan, chunks, pair, self.targets, self.score)

    def with_model_noise(self, estimate: Estimate) -> Estimate:
        """Return the estimate with the noise of the model in its errors, where that is more than rounding."""
        noise = self.noise
        if noise is None:
            return estimate
        xp = namespace(noise)
        return estimate.with_model_noise(xp.where(noise > ROUNDING * xp.abs(self.output), noise, xp.zeros_like(noise)))
