"""Queries that are repeated where the model has noise, as often as it pays.

Values that add up carry the noise of f(x) and f(x̊). Let G features hold a share g of the difference, w_i the weight of
end i (1 for x, 1/B for each of B baselines), s_i the deviation of one answer, and V the variance of the sum over G from
b queries of the plan, which falls as 1/b. If R of M queries go to the ends, R w_i s_i / Σ w s of them to end i,

    Var(R) = g² (Σ w_i s_i)² / R + V b / (M − R),    least where   R / (M − R) = g Σ w_i s_i / √(V b)

G is the fifth of the features with the largest values, and V comes from the first third of the draws. For the same
noise at every query, R / (M − R) ≈ 1/(2√q) of q features. docs/error-bars.md compares this with fixed
numbers of repeats.

All numbers are functions of earlier answers, so a run that continues from a journal repeats the same queries.
"""

from dataclasses import replace
from math import ceil

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._plan.plan import Again, Ends, Plan
from geex._problem.estimand import Additive
from geex._problem.task import Task
from geex._protocols import Estimate
from geex._query.ordered_answers import Querier
from geex._results.end_answers import EndAnswers, Repeats, are_votes
from geex._results.precision import leading, sum_stderr

# Repeats of each end with which its noise is known well enough to decide how many more pay.
FIRST_REPEATS = 8
# Repeats of each end, where answers agreed so far and may be votes.
SUSPECTED = 4
# Queries of the plan that are repeated: their noise may differ from that of x and the baseline.
REPEATED_DRAWS = 12
# Draws that are queried first, some of which are repeated.
LOOK_DRAWS = 16
# Draws for each feature after which a fit explains what a model that does not vote at random answers.
ENOUGH = 4
# The fewest draws after which that is decided, and the queries that are left for repeats.
LEAST_DRAWS, SPARE = 16, 28
# What a fit leaves of such a model, as a share of the mean square, leave-one-out, is less than this.
UNEXPLAINED = 0.2
# The largest share of a budget that goes into the first repeats.
SHARE = 0.2
# The largest share of a budget that goes into all repeats of the ends.
MOST_SHARE = 0.5
# The share of features whose sum decides how many repeats pay.
TOP = 0.2
# The share of the draws that is queried before that.
EARLY = 1 / 3


class Repeating:
    """The repeated queries of one run: at most `rows` queries for these and the plans.

    ends: all answers for x and the baselines so far. used: how many queries were repeated. held: answers to the first
    draws of the first plan, if these were queried to find out whether answers vary.
    """

    def __init__(self, querier: Querier, task: Task, points: Array, ends: EndAnswers, rows: int) -> None:
        self.querier, self.task, self.ends, self.rows = querier, task, ends, rows
        self.points = points[: ends.raw.shape[0], ...]
        self.held, self.used, self._suspected = ends.raw[:0, :], 0, False

    def affordable(self, plan: Plan, draws: int) -> int:
        """Return how many draws the budget is enough for after what was repeated: `draws` if nothing was."""
        if not self.used:
            return draws
        return self._after(plan, self.used)

    @property
    def may_be_votes(self) -> bool:
        """Whether f(x) and f(x̊) may be votes or marks, which agree by coincidence, and values hold their noise."""
        ends = self.ends
        if ends.again is None or ends.noisy or self._suspected or self.task.background:
            return False
        return are_votes(host(_joined([ends.raw, ends.again])))

    def begin(self, plan: Plan, draws: int) -> None:
        """Repeat x, the baselines and some queries, if the second answer for x differs from the first.

        draws: at most so many of the plan are queried whatever the answers are.
        """
        count = self._at_first(plan)
        if not self.ends.noisy or self.task.background or not count or not (draws or plan_adds_up(self.task, plan)):
            return
        if draws:
            look = self._after(plan, self._cost(count))
            answers = [answers for _, answers in self.querier.chunks(plan, min(draws, LOOK_DRAWS, look))]
            self.held = _joined([self.held, *answers])
            none = tuple(self.ends.raw[:0, :] for _ in self.points)
            self.ends = replace(self.ends, repeats=Repeats(none, sample=self.held))
            if not self.ends.noisy:  # f(x) and f(x̊) are equal but for rounding
                return
            self._repeat_draws(plan, self.held, count)
        self._repeat_ends([count] * len(self.points))

    def look_at(self, plan: Plan, draws: int) -> int:
        """Return the number of draws after which it is decided whether the model votes at random; 0: it is not."""
        if not plan_adds_up(self.task, plan) or not self._at_first(plan):
            return 0
        wanted = max(EARLY * draws, ENOUGH * self._differing(), LEAST_DRAWS)
        cost = max(SPARE, self._cost(self._at_first(plan), self.rows // 100))
        spare = (self.rows // len(self.task.baselines) - cost) // plan.search.rows
        return min(draws, ceil(wanted), spare) if spare >= LEAST_DRAWS and draws >= LEAST_DRAWS else 0

    def suspect(self, found: Estimate, plan: Plan, answers: Array) -> None:
        """Repeat some queries, if answers so far are votes, and the estimate from them leaves much unexplained."""
        self._suspected = True
        left = found.left_over
        if left is None or not float(np.max(host(left))) > UNEXPLAINED or self.querier.incomplete:
            return
        if not are_votes(host(_joined([self.ends.raw, answers])), levels=True):
            return
        count = self._at_first(plan)
        if self._left(plan, int(answers.shape[0]) // plan.search.rows) < self._cost(count, self.rows // 100):
            return
        self._repeat_draws(plan, answers, max(count, self.rows // 100))
        self._repeat_ends([min(count, SUSPECTED)] * len(self.points))
        if self.ends.noisy:
            self._repeat_ends([count] * len(self.points))

    def _at_first(self, plan: Plan) -> int:
        """Return how often each end is repeated at first: less often where a budget is small."""
        return max(0, min(FIRST_REPEATS, int(SHARE * self._spare(plan)) // (1 + len(self.points))))

    def improve(self, found: Estimate, plan: Plan, draws: int) -> None:
        """Repeat x and the baselines as often as it pays, given the estimate from `draws` draws."""
        noise = None if self.task.background else self.ends.model_noise(0)
        if noise is None or not self.ends.noisy or self.querier.incomplete or not plan_adds_up(self.task, plan):
            return
        found = found.with_model_noise(replace(noise, ends=0 * noise.ends))
        self._repeat_ends(self._paying(found, plan, draws), self._left(plan, draws))

    def _cost(self, count: int, draws: int = 0) -> int:
        """Return the queries of the first repeats: `count` of each end, and of the plan as many, or `draws`."""
        return _repeated(max(count, draws)) + count * len(self.points)

    def _after(self, plan: Plan, repeats: int) -> int:
        """Return how many draws of each plan the budget is enough for beside `repeats` queries."""
        return plan.search.afford((self.rows - repeats) // len(self.task.baselines))

    def _spare(self, plan: Plan) -> int:
        """Return the queries beyond the fewest that the method needs."""
        return self.rows - plan.search.least * len(self.task.baselines)

    def _repeat_ends(self, wanted: list[int], most: int | None = None) -> None:
        """Repeat each end until it has been repeated as often as wanted, `most` times in all."""
        known = self.ends.repeats or Repeats(tuple(self.ends.raw[:0, :] for _ in wanted))
        parts = []
        for place, (have, count) in enumerate(zip(known.ends, wanted, strict=True)):
            first = int(have.shape[0])
            more = None
            if most is not None:  # an end that was repeated more often than now wanted leaves less for the others
                count = min(count, first + most)
                most -= max(0, count - first)
            if count > first and not self.querier.incomplete:
                more = self.querier.ends(Again(self.points[place, ...]), first, count)
            parts.append(have if more is None else _joined([have, more]))
            self.used += int(parts[-1].shape[0]) - first
        self.ends = replace(self.ends, repeats=replace(known, ends=tuple(parts)))

    def _repeat_draws(self, plan: Plan, answers: Array, count: int) -> None:
        """Repeat some of the queries that have answers, spread over them: fewer where a budget is small."""
        if self.querier.incomplete:  # there may be no answer at all
            return
        have, xp = int(answers.shape[0]), namespace(answers)
        most = min(_repeated(count), have)
        places = like(np.unique(np.linspace(0, have - 1, most).round().astype(np.int64)), answers, xp.int64)
        rows = namespace(self.points).take(plan.rows(0, have), places, axis=0)
        second = self.querier.ends(Ends(rows), 0, int(rows.shape[0]))
        if second is None:
            return
        self.used += int(second.shape[0])
        known = self.ends.repeats or Repeats(tuple(self.ends.raw[:0, :] for _ in self.points))
        self.ends = replace(self.ends, repeats=replace(known, draws=(xp.take(answers, places, axis=0), second)))

    def _paying(self, found: Estimate, plan: Plan, draws: int) -> list[int]:
        """Return how often it pays to repeat each end: for the output whose ends have most noise beside its draws."""
        baselines, rows = len(self.task.baselines), plan.search.rows
        weights = np.array([1.0, *[1 / baselines] * baselines])
        noise = weights[:, None] * np.stack(self.ends.deviations)
        features = int(found.values.shape[1])
        differing = max(1, self._differing())
        share = TOP * differing / features
        tops = np.stack([leading(found, output, share) for output in range(noise.shape[1])]).astype(float)
        variance = draws * rows * sum_stderr(found, tops) ** 2
        ends = np.minimum(1.0, tops.sum(axis=1) / differing) * noise.sum(axis=0)
        if not np.isfinite(variance).all() or not ends.any():
            return [0] * len(noise)
        output = int(np.argmax(ends / np.sqrt(np.maximum(variance, np.finfo(float).tiny))))
        ratio = float(ends[output] / np.sqrt(max(variance[output], np.finfo(float).tiny)))
        spent = min(MOST_SHARE, ratio / (1 + ratio)) * self.rows
        repeated = 0 if self.ends.repeats is None else sum(int(more.shape[0]) for more in self.ends.repeats.ends)
        spent = min(spent, self._left(plan, draws) + repeated)
        shares = noise[:, output] / noise[:, output].sum()
        # of the answers for x two are there already, of a baseline one
        return [max(0, ceil(spent * one) - (2 if place == 0 else 1)) for place, one in enumerate(shares)]

    def _left(self, plan: Plan, draws: int) -> int:
        """Return how many queries are left for repeats, after `draws` draws of each plan."""
        return max(0, self.rows - self.used - draws * plan.search.rows * len(self.task.baselines))

    def _differing(self) -> int:
        """Return how many features differ from a baseline."""
        task, xp = self.task, namespace(self.task.explicand)
        apart = sum(xp.astype(task.explicand != baseline, xp.float64) for baseline in task.baselines)
        return int(np.count_nonzero(host(task.features.total(apart[None, ...]))))


def _repeated(count: int) -> int:
    """Return how many queries of the plan are repeated, where each end is `count` times: fewer of a small budget."""
    return max(REPEATED_DRAWS, count) if count >= FIRST_REPEATS else count


def plan_adds_up(task: Task, plan: Plan) -> bool:
    """Return whether values are made to add up to f(x) − f(x̊), and so have its noise."""
    return task.method.estimand(plan.search).additive is Additive.EXACTLY


def _joined(parts: list[Array]) -> Array:
    return namespace(parts[0]).concat(parts, axis=0)
