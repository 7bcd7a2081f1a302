"""A run in legs: what is asked next may depend on what was answered, and enough may be enough.

A method in legs says how many draws each of them has and what it asks. Any other method is looked at, where there is a
rule that may stop it, after 16 draws and then after half as many more each time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from geex._arrays.arrays import Array, accelerated, host, namespace
from geex._plan.plan import Chunk, DrawCache, Plan, seed_of
from geex._problem.outputs import scored
from geex._problem.task import Task
from geex._protocols import Estimate, Method, RoundsMethod
from geex._query.ordered_answers import Querier
from geex._results.record import estimated, pair_of, stored, under_noise

FIRST = 16
GROWTH = 1.5
KEPT, KEPT_ACCELERATED = 64 * 2**20, 2**30  # bytes of masks that are kept from one look at the answers to the next
LEG = 3  # a leg's place in the seed's streams, apart from those of baselines


@dataclass(frozen=True, eq=False)
class Asked:
    """The plan of the last leg, the answers (rows, k) of all, their estimate, and why it ended (""): all was asked."""

    plan: Plan
    answers: Array
    estimate: Estimate
    ended: str = ""


def in_rounds(task: Task) -> bool:
    """Whether what is asked depends on answers."""
    return task.stop is not None or isinstance(task.method, RoundsMethod)


def ask_at_once(
    querier: Querier, task: Task, plan: Plan, draws: int, ends: Array, part: int, targets: list[int]
) -> Asked | None:
    """Asks `draws` draws, and estimates while they come; None where the asking was stopped before anything came."""
    heard = [ends[:0, :]]
    answered = _listen(querier.chunks(plan, draws), heard)
    begun = list(islice(answered, 1))
    if not begun and querier.incomplete:
        return None
    estimate = estimated(task, plan, chain(begun, answered), ends, part, targets)
    return Asked(plan, namespace(ends).concat(heard, axis=0), estimate)


def _listen(answered: Iterator[tuple[Chunk, Array]], heard: list[Array]) -> Iterator[tuple[Chunk, Array]]:
    """Passes answers on and keeps them."""
    for chunk, answers in answered:
        heard.append(answers)
        yield chunk, answers


def ask_in_rounds(
    querier: Querier,
    task: Task,
    plan: Plan,
    draws: int,
    ends: Array,
    part: int,
    targets: list[int],
    again: Array | None = None,
) -> Asked | None:
    """Asks at most `draws` draws; None where the asking was stopped before anything came.

    again: the second answer for x, of which rules are told too.
    """
    xp, stop = namespace(ends), task.stop
    span = _span(ends, part, targets, task)
    answers, own, number, before, seed = ends[:0, :], 0, 0, None, plan.seed
    if not plan.cache.keep:
        plan = replace(plan, cache=DrawCache(keep=KEPT_ACCELERATED if accelerated(plan.explicand) else KEPT))
    while True:
        done = plan.earlier + own
        size = min(_size(task.method, plan, number, done), draws - done)
        heard = [block for _, block in querier.chunks(plan, own + size, own)]
        answers = xp.concat([answers, *heard], axis=0)
        own = answers.shape[0] // plan.search.rows - plan.earlier
        done = plan.earlier + own
        if done == 0:
            return None
        if own == 0 and plan.before is not None:
            plan = plan.before[0]
        if querier.incomplete or done >= draws:
            return Asked(plan, answers, estimated(task, plan, stored(plan, answers), ends, part, targets))
        if stop is not None and _may_stop(task.method, number):
            now = estimated(task, plan, stored(plan, answers), ends, part, targets)
            now = under_noise(now, ends, again, task.score, targets)
            reason = stop.met(now, before, span)
            if reason is not None:
                return Asked(plan, answers, now, reason)
            before = now
        number += 1
        if isinstance(task.method, RoundsMethod):
            search = task.method.next_search(
                number, plan, stored(plan, answers), pair_of(ends, part), targets, task.score
            )
            plan, own = replace(plan, search=search, seed=seed_of(seed, LEG, number), before=(plan, own)), 0


def _size(method: Method, plan: Plan, number: int, done: int) -> int:
    """How many draws a leg has: what the method says, or half of what was asked before, in what the search can ask."""
    if isinstance(method, RoundsMethod):
        return int(method.round_size(number))
    search, couple = plan.search, 2 * plan.search.block
    total = float(max(FIRST, -(-search.least // search.rows)))
    while search.afford(couple * -(-round(total) // couple) * search.rows) <= done:
        total = GROWTH * total
    return search.afford(couple * -(-round(total) // couple) * search.rows) - done


def _may_stop(method: Method, number: int) -> bool:
    """Whether a rule may end the run with this round."""
    return not isinstance(method, RoundsMethod) or method.may_stop_after(number)


def _span(ends: Array, part: int, targets: list[int], task: Task) -> np.ndarray:
    """f(x) − f(x̊) of every target (k,)."""
    outputs = host(scored(pair_of(ends, part), task.score))[:, targets]
    return np.asarray(outputs[0] - outputs[1])
