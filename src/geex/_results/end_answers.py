"""The answers for x and the baselines, which every estimate of a run needs, and how they vary.

output f(x),   base value f(x̊), the mean over baselines

The first answer counts where the model answers the same each time. Else the mean of all m does, with the noise

    s² = 1/(m − 1) Σ_j (y_j − ȳ)²,    Var[f(x) − f(x̊)] = s_x²/m_x + s_x̊²/m_x̊
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._estimate.answers import Answers
from geex._plan.plan import Chunk, Plan
from geex._problem.outputs import Score, scored
from geex._protocols import Estimate, ModelNoise

# The share of f(x) up to which two answers for x differ by rounding alone.
REPEATED = 1e-5
# The share of f(x) − f(x̊) from which on the noise of one answer matters. It is as small as rounding: two answers of a
# noisy model may be much closer than its noise by chance.
STEADY = 1e-5
# Votes and marks are multiples of 1/m, with m up to so many.
VOTERS = 20
# Votes of each kind that 0/1 answers count beside.
VOTES = 2
# Votes and marks have fewer different values than this share of the answers.
LEVELS = 1 / 3


@dataclass(frozen=True, eq=False)
class Repeats:
    """Raw answers to queries that were repeated.

    ends: further answers (m, K), for x and for each baseline. draws: the first and the second answers (n, K) to some
    queries of the first plan. sample: answers to the first draws, with whose range noise is compared.
    """

    ends: tuple[Array, ...]
    draws: tuple[Array, Array] | None = None
    sample: Array | None = None


@dataclass(frozen=True, eq=False)
class EndAnswers:
    """Raw answers (1 + baselines, K) for x and the baselines, and what is explained of them: k targets of the score.

    again: the second raw answer (1, K) for x; None if x was queried once. repeats: further answers, if there are any.
    background: whether the baselines are rows of a background, for one estimate.
    """

    raw: Array
    targets: list[int]
    score: Score
    again: Array | None = None
    repeats: Repeats | None = None
    background: bool = False

    @cached_property
    def scored(self) -> Array:
        """The scored answers (1 + baselines, k): the first ones, or means where the model has noise."""
        first = self._scored(self.raw)
        if not self.noisy:
            return first
        return like(np.stack([looks.mean(axis=0) for looks in self._looks]), first)

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
    def counts(self) -> tuple[int, ...]:
        """The number of answers for x and for each baseline."""
        return tuple(len(looks) for looks in self._looks)

    @cached_property
    def noisy(self) -> bool:
        """Whether answers to one query differ by more than rounding, and than a hundred-thousandth of f(x) − f(x̊)."""
        if self.again is None:
            return False
        first = host(self._scored(self.raw))
        span, size = np.abs(first[0] - first[1:].mean(axis=0)), np.abs(first).max(axis=0)
        if self.repeats is not None and self.repeats.sample is not None and self.repeats.sample.shape[0]:
            span = np.maximum(span, np.ptp(host(self._scored(self.repeats.sample)), axis=0))
        sizes = [*self._observed, self._draws]
        return any(bool(np.any((one > STEADY * span) & (one > REPEATED * size))) for one in sizes)

    @property
    def noise(self) -> Array | None:
        """The standard deviation of one answer for x (k,); None if x was queried once."""
        return None if self.again is None else like(self.deviations[0], self.raw)

    @cached_property
    def deviations(self) -> list[np.ndarray]:
        """The standard deviation of one answer (k,), for x and each baseline; 0 where there is one answer.

        A few votes agree by coincidence now and then. So 0/1 answers count beside VOTES of each kind, as in the
        interval of Agresti and Coull; votes of several beside one answer with the noise of the plan's.
        """
        if not self.noisy or not self._votes:
            return self._observed
        pairs = zip(self._looks, self._observed, strict=True)
        low, high = (bound([bound(looks, axis=0) for looks in self._scored_all], axis=0) for bound in (np.min, np.max))
        binary = np.all([((looks == low) | (looks == high)).all(axis=0) for looks in self._scored_all], axis=0)
        return [
            np.where(binary, _of_votes(looks, low, high), _beside(len(looks), s, self._draws)) for looks, s in pairs
        ]

    @cached_property
    def _observed(self) -> list[np.ndarray]:
        return [_deviation(looks) for looks in self._looks]

    @property
    def _votes(self) -> bool:
        """Whether all answers that were repeated are votes or marks."""
        repeats = self.repeats
        more = [] if repeats is None else [*repeats.ends, *(repeats.draws or ())]
        return are_votes(np.concatenate([host(raw) for raw in (self.raw, *more)]))

    def answers(self, plan: Plan, chunks: Iterable[tuple[Chunk, Array]], part: int) -> Answers:
        """Return the answers to the plan of baseline number `part`, as a method gets them."""
        means = self.scored if self.noisy else None
        if plan.has_background:
            return Answers(plan, chunks, self.raw, self.targets, self.score, means)
        pair = self._pair(self.raw, part)
        return Answers(plan, chunks, pair, self.targets, self.score, None if means is None else self._pair(means, part))

    def with_model_noise(self, estimate: Estimate, part: int) -> Estimate:
        """Return the estimate for baseline number `part` with the noise of the model in its errors."""
        noise = self.model_noise(part)
        return estimate if noise is None else estimate.with_model_noise(noise)

    def model_noise(self, part: int) -> ModelNoise | None:
        """Return the noise for the estimate of baseline number `part`; None if x was queried once.

        x is shared by all of B baselines: its variance counts B times in each of B estimates, whose mean has it once.
        """
        if self.again is None:
            return None
        if not self.noisy:  # what is more than rounding is known from two answers alone
            own = self.deviations[0]
            own = like(np.where(own > REPEATED * np.abs(host(self.output)), own, 0.0), self.raw)
            return ModelNoise(own, 2**0.5 * own, own)
        count = len(self.counts) - 1
        shares = [1.0, *[1 / count**2] * count] if self.background else [float(count), *[0.0] * count]
        shares[1 + part] = shares[1 + part] or 1.0
        known = [s if m > 1 else self._mean_deviation for s, m in zip(self.deviations, self.counts, strict=True)]
        parts = np.stack([share * s**2 / m for share, s, m in zip(shares, known, self.counts, strict=True)])
        free = np.maximum(1, np.array(self.counts) - 1)[:, None]
        squares = np.sum(parts**2 / free, axis=0)
        some = squares > 0
        freedom = float(np.min(parts.sum(axis=0)[some] ** 2 / squares[some])) if some.any() else np.inf
        draws = self._draws if self.repeats is not None and self.repeats.draws is not None else self._mean_deviation
        found = (self.deviations[0], np.sqrt(parts.sum(axis=0)), draws)
        answer, both, plan = (like(one, self.raw) for one in found)
        return ModelNoise(answer, both, plan, freedom)

    @cached_property
    def _looks(self) -> list[np.ndarray]:
        """All scored answers (m, k), for x and each baseline."""
        found = [[self.raw[place : place + 1, :]] for place in range(self.raw.shape[0])]
        if self.again is not None:
            found[0].append(self.again)
        for place, more in enumerate(() if self.repeats is None else self.repeats.ends[: len(found)]):
            found[place].append(more)
        return [host(self._scored(namespace(self.raw).concat(looks, axis=0))) for looks in found]

    @cached_property
    def _scored_all(self) -> list[np.ndarray]:
        """All scored answers (m, k), for x, each baseline, and the queries of the plan that were repeated."""
        draws = () if self.repeats is None else self.repeats.draws or ()
        return [*self._looks, *(host(self._scored(raw)) for raw in draws)]

    @cached_property
    def _draws(self) -> np.ndarray:
        """The root mean square of the standard deviation of one answer to a query of the plan (k,)."""
        if self.repeats is None or self.repeats.draws is None:
            return np.zeros(len(self.targets))
        first, second = (host(self._scored(raw)) for raw in self.repeats.draws)
        return np.asarray(np.sqrt(np.mean((first - second) ** 2, axis=0) / 2))

    @property
    def _mean_deviation(self) -> np.ndarray:
        known = [s for s, m in zip(self.deviations, self.counts, strict=True) if m > 1]
        return np.asarray(np.sqrt(np.mean(np.square(known), axis=0)))

    def _scored(self, raw: Array) -> Array:
        return scored(raw, self.score)[:, self.targets]

    @staticmethod
    def _pair(rows: Array, part: int) -> Array:
        """The rows of x and of baseline number `part`."""
        return namespace(rows).concat([rows[:1, :], rows[part + 1 : part + 2, :]], axis=0)


def _deviation(looks: np.ndarray) -> np.ndarray:
    """The standard deviation of answers (m, k); of two, their difference less rounding of a mean."""
    if len(looks) == 1:
        return np.zeros(looks.shape[1])
    if len(looks) == 2:
        return np.asarray(np.abs(looks[0] - looks[1]) / 2**0.5)
    return np.asarray(looks.std(axis=0, ddof=1))


def _of_votes(looks: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The standard deviation of one answer of (m, k), which are low (k,) or high, so that s²/m is that of the mean."""
    count, size = len(looks), high - low
    share = (np.sum((looks - low) / np.where(size > 0, size, 1), axis=0) + VOTES) / (count + 2 * VOTES)
    return np.asarray(size * np.sqrt(share * (1 - share) * count / (count + 2 * VOTES)))


def _beside(count: int, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The standard deviation of `count` answers and of one more, which has another."""
    return np.asarray(np.sqrt(((count - 1) * own**2 + other**2) / count))


def are_votes(answers: np.ndarray, levels: bool = False) -> bool:
    """Return whether all answers (n, K) are multiples of 1/m, as 0/1 answers, votes of m and marks are.

    levels: whether there must be two values or more, and few beside the number of answers.
    """
    whole = any(bool(np.all(np.abs(answers * m - np.round(answers * m)) <= 1e-9 * m)) for m in range(1, VOTERS + 1))
    if not whole or not levels:
        return whole
    return 1 < len(np.unique(answers, axis=0)) <= LEVELS * len(answers)
