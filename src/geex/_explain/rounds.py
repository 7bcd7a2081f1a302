"""Queries in rounds: the next queries may depend on the answers so far, and a rule may end the run.

A method in rounds declares how many draws each round has and what it queries. With any other method a stop rule is
applied after 16 draws, and then after half as many more each time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import ceil

import numpy as np

from geex._arrays.arrays import Array, accelerated, host, namespace
from geex._explain.repeats import EARLY, Repeating, plan_adds_up
from geex._plan.plan import Chunk, DrawCache, Plan, seed_of
from geex._problem.task import Task
from geex._protocols import Estimate, Method, RoundsMethod
from geex._query.ordered_answers import Querier
from geex._results.record import estimated, stored

# Draws at the first look of a stop rule.
FIRST_LOOK = 16
# How much the draws grow from one look to the next.
LOOK_GROWTH = 1.5
# Bytes of masks that are kept from one look at the answers to the next.
KEPT_BYTES = 64 * 2**20
# The same on an accelerator.
KEPT_ON_DEVICE = 2**30
# A round's place in the seed's streams, apart from those of baselines.
ROUND_STREAM = 3


@dataclass(frozen=True, eq=False)
class PlanResult:
    """The plan of the last round, the answers (rows, k) of all rounds, and their estimate.

    ended: why a rule ended the queries; "" where the budget did.
    """

    plan: Plan
    answers: Array
    estimate: Estimate
    ended: str = ""


def in_rounds(task: Task) -> bool:
    """Return whether queries, or their number, depend on answers."""
    return task.stop is not None or isinstance(task.method, RoundsMethod)


def query_at_once(
    querier: Querier, task: Task, plan: Plan, draws: int, repeating: Repeating, part: int
) -> PlanResult | None:
    """Query `draws` draws, and estimate while the answers come in; return None if the run stopped before the first."""
    ends = repeating.ends
    if (
        ends.noisy
        or (part == 0 and repeating.held.shape[0])
        or (part == 0 and repeating.may_be_votes and repeating.look_at(plan, draws))
    ):
        return _query_in_two(querier, task, plan, draws, repeating, part)
    blocks = [ends.raw[:0, :]]
    chunks = _collecting(querier.chunks(plan, draws), blocks)
    first = list(islice(chunks, 1))
    if not first and querier.incomplete:
        return None
    estimate = estimated(task.method, ends.answers(plan, chain(first, chunks), part))
    return PlanResult(plan, namespace(ends.raw).concat(blocks, axis=0), estimate)


def _query_in_two(
    querier: Querier, task: Task, plan: Plan, draws: int, repeating: Repeating, part: int
) -> PlanResult | None:
    """Query some draws, repeat x and the baselines as often as it pays by then, and query the rest."""
    answers = repeating.held if part == 0 else repeating.held[:0, :]

    def more(total: int) -> Array:
        """Return the answers to `total` draws."""
        have = answers.shape[0] // plan.search.rows - plan.earlier
        wanted = total - plan.earlier
        blocks = [block for _, block in querier.chunks(plan, wanted, have)] if wanted > have else []
        return namespace(answers).concat([answers, *blocks], axis=0)

    def estimate() -> Estimate:
        return estimated(task.method, repeating.ends.answers(plan, stored(plan, answers), part))

    if part == 0 and repeating.may_be_votes:
        answers = more(repeating.look_at(plan, draws))
        if not querier.incomplete:
            repeating.suspect(estimate(), plan, answers)
    if repeating.ends.noisy and not querier.incomplete:
        answers = more(ceil(EARLY * repeating.affordable(plan, draws)))
        if part == 0 and not querier.incomplete and plan_adds_up(task, plan):
            repeating.improve(estimate(), plan, answers.shape[0] // plan.search.rows)
        plan = _repeating(plan, answers.shape[0] // plan.search.rows)
    if not querier.incomplete:
        answers = more(repeating.affordable(plan, draws))
    if not answers.shape[0] and querier.incomplete:
        return None
    if plan.before is not None and answers.shape[0] // plan.search.rows == plan.earlier:
        plan = plan.before[0]
    return PlanResult(plan, answers, estimate())


def _repeating(plan: Plan, draws: int) -> Plan:
    """Return the plan that continues one after `draws` draws, for a model with noise."""
    search = plan.search.repeating(draws) if plan.before is None else None
    return plan if search is None else replace(plan, search=search, before=(plan, draws))


def _collecting(chunks: Iterator[tuple[Chunk, Array]], blocks: list[Array]) -> Iterator[tuple[Chunk, Array]]:
    """Yield chunks with their answers, and append the answers to `blocks`."""
    for chunk, answers in chunks:
        blocks.append(answers)
        yield chunk, answers


def query_in_rounds(
    querier: Querier, task: Task, plan: Plan, draws: int, repeating: Repeating, part: int
) -> PlanResult | None:
    """Query at most `draws` draws, round by round; return None if the run stopped before the first answer."""
    xp, stop = namespace(repeating.held), task.stop
    answers, own, number, before, seed = repeating.held[: None if part == 0 else 0, :], 0, 0, None, plan.seed
    held = answers.shape[0] // plan.search.rows
    if not plan.cache.keep:
        plan = replace(plan, cache=DrawCache(keep=KEPT_ON_DEVICE if accelerated(plan.explicand) else KEPT_BYTES))
    while True:
        done, draws, ends = plan.earlier + own, repeating.affordable(plan, draws), repeating.ends
        size = min(_size(task.method, plan, number, done), draws - done)
        first = max(own, held) if number == 0 else own
        blocks = [block for _, block in querier.chunks(plan, own + size, first)] if own + size > first else []
        answers = xp.concat([answers, *blocks], axis=0)
        own = answers.shape[0] // plan.search.rows - plan.earlier
        done = plan.earlier + own
        if done == 0:
            return None
        if own == 0 and plan.before is not None:
            plan = plan.before[0]
        if querier.incomplete or done >= draws:
            return PlanResult(plan, answers, estimated(task.method, ends.answers(plan, stored(plan, answers), part)))
        if stop is not None and _may_stop(task.method, number):
            now = estimated(task.method, ends.answers(plan, stored(plan, answers), part))
            if part == 0:  # the budget is shared by all parts as the first one leaves it
                if repeating.may_be_votes and 0 < repeating.look_at(plan, draws) <= done and plan.before is None:
                    repeating.suspect(now, plan, answers)
                repeating.improve(now, plan, done)
            now, ends = repeating.ends.with_model_noise(now, part), repeating.ends
            reason = stop.met(now, before, np.asarray(host(ends.answers(plan, (), part).span)))
            if reason is not None:
                # x and the baselines may have been repeated since
                now = estimated(task.method, ends.answers(plan, stored(plan, answers), part))
                return PlanResult(plan, answers, now, reason)
            before = now
        number += 1
        if not isinstance(task.method, RoundsMethod):
            following = _repeating(plan, done) if ends.noisy else plan
            plan, own = following, own if following is plan else 0
        else:
            search = task.method.next_search(number, ends.answers(plan, stored(plan, answers), part))
            plan, own = replace(plan, search=search, seed=seed_of(seed, ROUND_STREAM, number), before=(plan, own)), 0


def first_draws(task: Task, plan: Plan, draws: int) -> int:
    """Return how many draws are queried whatever the answers are."""
    return min(draws, _size(task.method, plan, 0, 0)) if draws and in_rounds(task) else draws


def _size(method: Method, plan: Plan, number: int, done: int) -> int:
    """Return how many draws a round has: as the method declares, or half of what was queried before."""
    if isinstance(method, RoundsMethod):
        return int(method.round_size(number))
    search, couple = plan.search, 2 * plan.search.block
    total = float(max(FIRST_LOOK, -(-search.least // search.rows)))
    while search.afford(couple * -(-round(total) // couple) * search.rows) <= done:
        total = LOOK_GROWTH * total
    return search.afford(couple * -(-round(total) // couple) * search.rows) - done


def _may_stop(method: Method, number: int) -> bool:
    """Whether a rule may end the run with this round."""
    return not isinstance(method, RoundsMethod) or method.may_stop_after(number)
