"""The front door: plan, ask, estimate."""

import inspect
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from geex.arrays import Array, host, namespace
from geex.ask import Asker, Model, progress_bar
from geex.baseline import Baseline
from geex.errors import (
    BudgetError,
    ExplicandError,
    FeaturesError,
    InputError,
    LittleToExplain,
    UnevenScales,
)
from geex.explanation import Explanation
from geex.features import Features, checked
from geex.methods import Method
from geex.outputs import Score, Target, check_score, checked_target, chosen, scored
from geex.plan import Chunk, Masks, Plan
from geex.record import Record, estimated, explained, stored
from geex.task import Task, prepare

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
    queries: the most rows that the model may be asked, those for f(x) and f(x̊) included. None: 5000.
    features: `Elements()`, `Pixels(channels=axis)`, `Groups(map)`. None: every element.
    bounds: (lowest, highest) valid input; queries are clipped to it. None: no limit.
    seed: same seed, same queries.
    batch: rows per call of the model. None: what 32 MB (GPU: 128 MB) hold, 512 at most. It does not change the result.
    progress: show a bar when it takes over two seconds and a person is watching.
    """
    task = prepare(x, baseline, target, score, method, queries, features, bounds, seed, batch, progress)
    return explain_tasks(model, [task], Masks(keep=0))[0]


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
) -> list[Explanation]:
    """`explain` for several explicands (n, *shape), `queries` for each, with one set of masks.

    Masks are kept in memory up to 256 MB and made again from the seed beyond that.
    """
    if not hasattr(xs, "__len__") or getattr(xs, "ndim", 1) == 0 or len(xs) == 0:
        raise ExplicandError(f"xs is a {type(xs).__name__} with no explicand in it; wanted one or more.")
    settings = (baseline, target, score, method, queries, features, bounds, seed, batch, progress)
    return explain_tasks(model, [prepare(x, *settings) for x in xs], Masks())


def estimate(
    explanation: Explanation,
    *,
    target: Target = None,
    score: Score = None,
    features: Features | None = None,
) -> Explanation:
    """Another question about answers that are already there: other outputs, score or features, and no query.

    None keeps what the explanation has. score="answer" is the answer as it comes. Masks of `Presence`, and segments of
    `LIME`, show and hide whole features: other features want other queries.
    """
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
    plans = [replace(plan, features=task.features) for plan in record.plans]
    targets, several = chosen(target, scored(record.ends[:1, :], task.score)[0, :])
    record = replace(record, task=task, plans=plans)
    parts = [
        estimated(record.task, p, stored(p, a), record.ends, i, targets)
        for i, (p, a) in enumerate(zip(plans, record.answers, strict=True))
    ]
    names = explanation.names if repr(features) == repr(explanation.features) else None
    return replace(explained(record, parts, targets, several), labels=explanation.labels, names=names)


def _check_masks(record: Record, features: Features) -> None:
    """Masks that show and hide whole features tell nothing about other ones."""
    masked = getattr(record.plans[0].search, "features", None)
    if masked is not None and repr(masked) != repr(features):
        raise FeaturesError(
            f"the masks that were asked show and hide {masked!r}, and {features!r} were wanted; ask again, with "
            "geex.explain(…, features=…)."
        )


def explain_tasks(model: Model, tasks: list[Task], masks: Masks) -> list[Explanation]:
    """Explains tasks one after the other, with one set of masks and one progress bar."""
    if not callable(model):
        raise InputError(f"model is {model!r}; wanted a callable from a batch (n, *shape) to (n,) or (n, k).")
    planned = [_plans(task, masks) for task in tasks]
    total = sum(1 + len(plans) + sum(plan.search.rows * n for plan, n in plans) for plans in planned)
    with progress_bar(total, tasks[0].progress) as bar:
        return [_explain(model, task, plans, bar) for task, plans in zip(tasks, planned, strict=True)]


def _explain(model: Model, task: Task, plans: list[tuple[Plan, int]], bar: Any) -> Explanation:
    start = time.perf_counter()
    xp = namespace(task.explicand)
    asker = Asker(model, task.explicand, task.queries, task.batch, bar)
    ends = asker.rows(xp.astype(xp.stack([task.explicand, *task.baselines]), task.dtype))
    output = scored(ends, task.score)
    targets, several = chosen(task.target, output[0, :])
    if getattr(task.method, "compares", True):
        _warn_if_little(output, targets)
    parts, answers = [], []
    for part, (plan, count) in enumerate(plans):
        heard = [ends[:0, :]]
        answered = _listen(asker.chunks(plan.chunks(count)), heard)
        parts.append(estimated(task, plan, answered, ends, part, targets))
        answers.append(xp.concat(heard, axis=0))
    kept = [replace(plan, masks=Masks(keep=0)) for plan, _ in plans]
    explanation = explained(Record(task, kept, ends, answers, asker.asked), parts, targets, several)
    return replace(explanation, seconds=time.perf_counter() - start)


def _plans(task: Task, masks: Masks) -> list[tuple[Plan, int]]:
    """A plan for every baseline and how many draws of it are asked; every baseline has a seed of its own."""
    count = len(task.baselines)
    rows = (task.queries - 1 - count) // count
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
