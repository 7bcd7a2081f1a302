"""The front door: plan, ask, estimate."""

import inspect
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from geex.arrays import Array, host, namespace
from geex.ask import default_batch
from geex.baseline import Baseline
from geex.call import Model
from geex.engine import Engine, Session, engine
from geex.errors import (
    BudgetError,
    ExplicandError,
    FeaturesError,
    InputError,
    JournalError,
    LittleToExplain,
    MethodError,
    PartialRun,
    UnevenScales,
    UnsteadyModel,
)
from geex.explanation import Explanation
from geex.features import Features, checked
from geex.journal import Journal
from geex.limits import Limits
from geex.methods import Method
from geex.outputs import Score, Target, check_score, checked_target, chosen, scored
from geex.plan import Chunk, Ends, Masks, Plan
from geex.pool import Runner
from geex.record import Record, estimated, explained, stored
from geex.task import Task, prepare
from geex.written import task_of

LITTLE = 0.01
UNEVEN = 1e4


def explain(
    model: Model,
    x: Any,
    *,
    baseline: Baseline = None,
    target: Target = None,
    score: Score = None,
    method: Method | None = None,
    queries: int | None = None,
    features: Features | None = None,
    bounds: tuple[Any, Any] | None = None,
    seed: int = 0,
    batch: int | None = None,
    progress: bool = True,
    journal: str | os.PathLike[str] | None = None,
    run: Runner | None = None,
    limits: Limits | None = None,
    price: float | None = None,
) -> Explanation:
    """Gives every feature of x its share of the model's score, and the share's standard error.

    model: a callable from a batch (n, *x.shape) to answers (n,) or (n, k).
    x: one explicand, without a batch axis. Its library and device decide where everything runs.
    baseline: what absence looks like: a number, an array, `blur(…)`, `per_channel(…)`, `mean(data)`, any callable
        from x to an array, or a list of these, over which the explanation is averaged. None: 0.
    target: which output: a whole number, a list, or "all". None: the largest for x.
    score: what of the answer is explained: "softmax" of logits, "log_odds" of probabilities, the "margin" to the
        next output, or a callable (n, k) -> (n, k). None or "answer": the answer as it comes. Log-odds are of p kept
        1e-12 away from 0 and 1.
    method: None: `GEEX()`, the paper's method.
    queries: the most rows that the model may be asked, those for f(x) and f(x̊) included, and the second one for x
        that shows whether the model answers the same. None: 5000.
    features: `Elements()`, `Pixels(channels=axis)`, `Groups(map)`. None: every element.
    bounds: (lowest, highest) valid input; queries are clipped to it. None: no limit.
    seed: same seed, same queries.
    batch: rows per call of the model. None: what 32 MB (GPU: 128 MB) hold, 512 at most. It does not change the result.
        Where memory is too small for it, it is halved.
    progress: show a bar when it takes over two seconds and a person is watching.
    journal: a file that keeps every answer. The same call goes on from what is in it, after whatever ended the last one.
    run: where the model is called: `geex.run.threads(n)`, `processes(n)` or `dask(address)`. None: here.
    limits: how it may be called: `Limits(concurrency=…, attempts=…, …)`. None: those that the model carries, or none.
    price: of one query, for the bar and the forecast.

    Ctrl-C ends the asking: the explanation of what is in comes back, marked `partial`.
    """
    task = prepare(x, baseline, target, score, method, queries, features, bounds, seed, batch, progress)
    return explain_tasks(engine(model, limits, run, journal, price), [task], Masks(keep=0))[0]


def explain_batch(
    model: Model,
    xs: Sequence[Any] | Array,
    *,
    baseline: Baseline = None,
    target: Target = None,
    score: Score = None,
    method: Method | None = None,
    queries: int | None = None,
    features: Features | None = None,
    bounds: tuple[Any, Any] | None = None,
    seed: int = 0,
    batch: int | None = None,
    progress: bool = True,
    journal: str | os.PathLike[str] | None = None,
    run: Runner | None = None,
    limits: Limits | None = None,
    price: float | None = None,
) -> list[Explanation]:
    """`explain` for several explicands (n, *shape), `queries` for each, with one set of masks.

    Masks are kept in memory up to 256 MB and made again from the seed beyond that. After Ctrl-C the list ends with the
    explicand that was being asked about.
    """
    if not hasattr(xs, "__len__") or getattr(xs, "ndim", 1) == 0 or len(xs) == 0:
        raise ExplicandError(f"xs is a {type(xs).__name__} with no explicand in it; wanted one or more.")
    settings = (baseline, target, score, method, queries, features, bounds, seed, batch, progress)
    return explain_tasks(engine(model, limits, run, journal, price), [prepare(x, *settings) for x in xs], Masks())


def estimate(
    explanation: Explanation | str | os.PathLike[str],
    *,
    target: Target = None,
    score: Score = None,
    features: Features | None = None,
    method: Method | None = None,
    which: int = -1,
) -> Explanation:
    """Another question about answers that are already there: other outputs, score, features or method, and no query.

    explanation: one that `explain` returned, or the journal that it wrote.
    method: one that asks the same, such as Regression(of=…) of what was asked.
    which: which of a journal's runs, in the order in which they were begun; −1 is the last.

    None keeps what was there. score="answer" is the answer as it comes. Masks of `Presence`, and segments of `LIME`, show
    and hide whole features: other features want other queries.
    """
    if isinstance(explanation, str | os.PathLike):
        return _from_journal(explanation, which, target, score, features, method)
    record = getattr(explanation, "record", None)
    if record is None:
        raise InputError(
            f"{type(explanation).__name__} has no record of answers; wanted an explanation as geex.explain returned it "
            "(one that was loaded, or converted by .numpy(), has none)."
        )
    task = record.task
    features = task.features if features is None else checked(features, tuple(task.explicand.shape))
    check_score(score)
    _check_masks(record, features)
    target = explanation.target if target is None else checked_target(target)
    task = replace(task, target=target, score=task.score if score is None else score, features=features)
    if method is not None:
        task = _another_method(record, task, method)
    plans = [replace(plan, features=task.features) for plan in record.plans]
    targets, several = chosen(target, scored(record.ends[:1, :], task.score)[0, :])
    record = replace(record, task=task, plans=plans)
    parts = [
        estimated(record.task, p, stored(p, a), record.ends, i, targets)
        for i, (p, a) in enumerate(zip(plans, record.answers, strict=True))
    ]
    return explained(record, parts, targets, several)


def _check_masks(record: Record, features: Features) -> None:
    """Masks that show and hide whole features tell nothing about other ones."""
    masked = getattr(record.plans[0].search, "features", None)
    if masked is not None and repr(masked) != repr(features):
        raise FeaturesError(
            f"the masks that were asked show and hide {masked!r}, and {features!r} were wanted; ask again, with "
            "geex.explain(…, features=…)."
        )


def _another_method(record: Record, task: Task, method: Method) -> Task:
    """The task with a method whose questions are those that were asked."""
    task = replace(task, method=method)
    for asked, (wanted, _) in zip(record.plans, _plans(task, Masks(keep=0)), strict=True):
        if asked.fingerprint != wanted.fingerprint:
            raise MethodError(
                f"{method!r} asks other queries than {record.task.method!r} did; ask them with geex.explain(…)."
            )
    return task


def _from_journal(
    path: Any, which: int, target: Target, score: Score, features: Features | None, method: Method | None
) -> Explanation:
    check_score(score)
    with Journal(path, write=False) as journal:
        runs = journal.runs()
    if not -len(runs) <= which < len(runs):
        raise JournalError(f"which is {which} and {path} holds {len(runs)} runs; wanted 0 … {len(runs) - 1}, or −1.")
    task = task_of(*runs[which], target=checked_target(target), score=score, features=features, method=method)
    checked(task.features, tuple(task.explicand.shape))
    return explain_tasks(Engine(None, Limits(), journal=path), [task], Masks(keep=0))[0]


def explain_tasks(asking: Engine, tasks: list[Task], masks: Masks) -> list[Explanation]:
    """Explains tasks one after the other, with one set of masks and one progress bar."""
    if asking.model is not None:
        tasks = [replace(task, twice=asking.limits.twice) for task in tasks]
    planned = [_planned(task, masks) for task in tasks]
    total = sum(
        1 + len(plans) + task.twice + sum(plan.search.rows * n for plan, n in plans) for task, plans in planned
    )
    explanations: list[Explanation] = []
    batch = min(default_batch(task.explicand) if task.batch is None else task.batch for task in tasks)
    with asking.opened(batch, total, tasks[0].progress) as session:
        for task, plans in planned:
            explanation = _explain(session, task, plans)
            if explanation is None and not explanations:
                raise _nothing(session)
            explanations += [] if explanation is None else [explanation]
            if session.stopped:
                break
    if session.stopped:
        _warn_of_part(session, sum(explanation.queries for explanation in explanations), total)
    return explanations


def _explain(session: Session, task: Task, plans: list[tuple[Plan, int]]) -> Explanation | None:
    """None where the run was stopped before there was anything to explain."""
    xp = namespace(task.explicand)
    asker = session.asker(task)
    points = Ends(xp.astype(xp.stack([task.explicand, *task.baselines, task.explicand]), task.dtype))
    count = 1 + len(task.baselines)
    ends = asker.ends(points, 0, count)
    again = asker.ends(points, count, count + 1) if task.twice and ends is not None else None
    if ends is None:
        return None
    output = scored(ends, task.score)
    targets, several = chosen(task.target, output[0, :])
    if getattr(task.method, "compares", True):
        _warn_if_little(output, targets)
    parts, answers, kept = [], [], []
    for part, (plan, draws) in enumerate(plans):
        heard = [ends[:0, :]]
        answered = _listen(asker.chunks(plan, draws), heard)
        begun = list(islice(answered, 1))
        if not begun and asker.short:
            break
        parts.append(estimated(task, plan, chain(begun, answered), ends, part, targets))
        answers.append(xp.concat(heard, axis=0))
        kept.append(replace(plan, masks=Masks(keep=0)))
    if not parts:
        return None
    ends = ends[: 1 + len(parts), :]
    task = replace(task, baselines=task.baselines[: len(parts)])
    record = Record(task, kept, ends, answers, asker.asked, again, asker.short)
    explanation = explained(record, parts, targets, several)
    _warn_if_unsteady(explanation)
    return explanation


def _planned(task: Task, masks: Masks) -> tuple[Task, list[tuple[Plan, int]]]:
    """The task and its plans. A budget that is just enough without the second question about x goes without it."""
    try:
        return task, _plans(task, masks)
    except BudgetError:
        if not task.twice:
            raise
        once = replace(task, twice=False)
        return once, _plans(once, masks)


def _plans(task: Task, masks: Masks) -> list[tuple[Plan, int]]:
    """A plan for every baseline and how many draws of it are asked; every baseline has a seed of its own."""
    count = len(task.baselines)
    rows = (task.queries - 1 - count - task.twice) // count
    plans = []
    for part, baseline in enumerate(task.baselines):
        search = task.method.search(task.explicand, baseline, task.features, max(rows, 0))
        if rows < search.least:
            raise BudgetError(
                f"queries is {task.queries} and this method needs at least {1 + count + count * search.least}: one for "
                f"f(x), {count} for f(x̊) and {search.least} for every baseline. Thousands are usual."
            )
        seed = task.seed if part == 0 else _seed_of(task.seed, part)
        plan = Plan(task.explicand, baseline, search, task.features, seed, task.bounds, task.dtype, masks)
        plans.append((plan, search.afford(rows)))
        _warn_if_uneven(task, baseline)
    return plans


def _seed_of(seed: int, part: int) -> int:
    return int(np.random.SeedSequence(seed, spawn_key=(2, part)).generate_state(1, np.uint64)[0])


def _listen(answered: Iterator[tuple[Chunk, Array]], heard: list[Array]) -> Iterator[tuple[Chunk, Array]]:
    """Passes answers on and keeps them."""
    for chunk, answers in answered:
        heard.append(answers)
        yield chunk, answers


def _nothing(session: Session) -> BaseException:
    if session.stopped or session.journal is None:
        return KeyboardInterrupt()
    return JournalError(
        f"{session.journal.path} does not hold enough answers to what this method asks; let geex.explain(…, "
        f"journal={str(session.journal.path)!r}) ask them."
    )


def _warn_of_part(session: Session, queries: int, total: int) -> None:
    way = "with journal=… the same call could go on from here"
    if session.journal is not None:
        way = f"the same call with journal={str(session.journal.path)!r} goes on from here"
    warnings.warn(
        f"stopped after {queries:,} of {total:,} queries: the explanation is of what is in, and {way}.",
        PartialRun,
        stacklevel=_frames_of_geex(),
    )


def _warn_if_unsteady(explanation: Explanation) -> None:
    if explanation.unsteady:
        warnings.warn(
            f"the model answered x differently the second time: its scores have noise of about "
            f"{np.max(host(explanation.noise)):.2g}. Is it in its evaluation mode, and is it one model that answers?",
            UnsteadyModel,
            stacklevel=_frames_of_geex(),
        )


def _warn_if_little(output: Array, targets: list[int]) -> None:
    ends = host(output)[:, targets]
    difference = np.abs(ends[:1] - ends[1:].mean(axis=0))
    little = difference <= LITTLE * np.abs(ends).max(axis=0)
    if len(targets) == 1 and bool(little.all()):
        warnings.warn(
            f"f(x) = {ends[0, 0]:.4g} and f(x̊) = {ends[1:, 0].mean():.4g} hardly differ: there is little to explain, "
            "and another baseline or target may be wanted.",
            LittleToExplain,
            stacklevel=_frames_of_geex(),
        )


def _warn_if_uneven(task: Task, baseline: Array) -> None:
    """A row of a table and a method that had to choose one σ for all of its columns."""
    if len(task.explicand.shape) != 1 or getattr(task.method, "sigma", 1.0) is not None:
        return
    reach = np.abs(host(task.explicand - baseline))
    reach = reach[reach > 0]
    if reach.size and reach.max() > UNEVEN * reach.min():
        warnings.warn(
            f"x differs from the baseline by {reach.min():.2g} in one column and by {reach.max():.2g} in another, and "
            "one sigma cannot suit both; standardise the columns, or take method=geex.Shapley(), which needs none.",
            UnevenScales,
            stacklevel=_frames_of_geex(),
        )


def _frames_of_geex() -> int:
    """How many frames up a warning belongs: to the first caller that is not geex."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("geex."):
        level, frame = level + 1, frame.f_back
    return level - 1
