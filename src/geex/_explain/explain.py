"""The front door: plan, ask, estimate."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from geex._arrays.arrays import Array
from geex._arrays.validation import is_whole
from geex._explain.driver import explain_tasks, plans_of
from geex._explain.model_names import in_models_order, labels_for
from geex._explain.prepare import check_method, prepare
from geex._explain.rounds import in_rounds
from geex._explain.warnings import many_channels, one_row
from geex._journal.journal import Journal
from geex._journal.stored_task import StoredModel, stored_model_of, task_of
from geex._plan.plan import DrawCache
from geex._problem.baselines import Baseline
from geex._problem.features import checked
from geex._problem.named_rows import rows_of
from geex._problem.outputs import (
    Score,
    Target,
    check_label_count,
    check_score,
    checked_labels,
    checked_target,
    has_label,
    resolved_score,
    reusable_target,
    scored,
    target_indices,
)
from geex._problem.task import Task
from geex._protocols import Features, Method, Runner, Stop
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.session import Engine, engine
from geex._results.explanation import Explanation
from geex._results.record import Record, estimated, explained
from geex.errors import (
    ExplicandError,
    FeaturesError,
    InputError,
    JournalError,
    MethodError,
)


def explain(
    model: Model,
    x: Any,
    *,
    baseline: Baseline = None,
    target: Target = None,
    labels: Sequence[str] | None = None,
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
    stop: Stop | None = None,
) -> Explanation:
    """Gives every feature of x its share of the model's score, and the share's standard error.

    model: a callable from a batch (n, *x.shape) to answers (n,) or (n, k).
    x: one explicand, without a batch axis. Its library and device decide where everything runs.
    baseline: what absence looks like: a number, an array, `blur(…)`, `per_channel(…)`, `mean(data)`, any callable
        from x to an array, or a list of these, over which the explanation is averaged. None: 0.
    target: which output: a whole number, a label, a list of these, or "all". None: the largest for x.
    labels: names of the outputs, one for each. None: those that the model carries, if any.
    score: what of the answer is explained: "softmax" of logits, "log_odds" of probabilities, the "margin" to the
        next output, or a callable (n, k) -> (n, k). "answer": the answer as it comes. "log_odds" are of p kept
        1e-12 away from 0 and 1, "bounded_log_odds" 1e-3, "sure_log_odds" of p above 1e-3 and 1 − p above 1e-8. "auto":
        the last where the answers are chances of classes, or bounded ones where these are rounded; else the answer,
        as it is where only 0 and 1 are answered.
        None: "auto" for the default method of images, else the answer.
    method: None: what won the benchmark on that kind of input: `Guided()` for images, `Shapley()` for
        all that has no neighbours. `GEEX()` is the paper's method.
    queries: the most rows that the model may be asked, those for f(x) and f(x̊) included, and the second one for x
        that shows whether the model answers the same. None: 5000, as in the paper, and 1000 for the default method.
    features: `Elements()`, `Pixels(channels=axis)`, `Groups(map)`. None: every element; for the default method the
        pixels of what looks like an image (1, 3 or 4 channels, first or last).
    bounds: (lowest, highest) valid input; queries are clipped to it. None: no limit.
    seed: same seed, same queries.
    batch: rows per call of the model. None: what 32 MB (GPU: 128 MB) hold, 512 at most. It does not change the result.
        Where memory is too small for it, it is halved.
    progress: show a bar when it takes over two seconds and a person is watching.
    journal: a file that keeps every answer. The same call goes on from what is in it, whatever ended the last one.
    run: where the model is called: `geex.run.threads(n)`, `processes(n)` or `dask(address)`. None: here.
    limits: how it may be called: `Limits(concurrency=…, attempts=…, …)`. None: those that the model carries, or none.
    price: of one query, for the bar and the forecast.
    stop: a rule that ends the run when it is enough: `Precise(tolerance)`, `Settled(overlap)`. None: the budget does.

    Ctrl-C ends the asking: the explanation of what is in comes back, marked `partial`.
    """
    target = reusable_target(target)
    names = labels_for(labels, target, model)
    x, baseline = in_models_order(model, x, baseline)
    task = prepare(
        x,
        baseline=baseline,
        target=target,
        score=score,
        method=method,
        queries=queries,
        features=features,
        bounds=bounds,
        seed=seed,
        batch=batch,
        progress=progress,
        stop=stop,
        labels=names,
    )
    (one_row if features is None else many_channels)(task)
    return explain_tasks(engine(model, limits, run, journal, price), [task], DrawCache(keep=0))[0]


def explain_batch(
    model: Model,
    xs: Sequence[Any] | Array,
    *,
    baseline: Baseline = None,
    target: Target = None,
    labels: Sequence[str] | None = None,
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
    stop: Stop | None = None,
) -> list[Explanation]:
    """`explain` for several explicands (n, *shape), `queries` for each, with one set of masks.

    Masks are kept in memory up to 256 MB and made again from the seed beyond that. After Ctrl-C the list ends with the
    explicand that was being asked about.
    """
    rows = rows_of(xs)
    if rows is None:
        raise ExplicandError(f"xs is a {type(xs).__name__} with no explicand in it; wanted one or more.")
    target = reusable_target(target)
    names = labels_for(labels, target, model)
    settings: dict[str, Any] = {
        "target": target,
        "score": score,
        "method": method,
        "queries": queries,
        "features": features,
        "bounds": bounds,
        "seed": seed,
        "batch": batch,
        "progress": progress,
        "stop": stop,
        "labels": names,
    }
    ordered = [in_models_order(model, x, baseline) for x in rows]
    tasks = [prepare(x, baseline=absent, **settings) for x, absent in ordered]
    (one_row if features is None else many_channels)(tasks[0])
    return explain_tasks(engine(model, limits, run, journal, price), tasks, DrawCache())


def estimate(
    explanation: Explanation | str | os.PathLike[str],
    *,
    target: Target = None,
    labels: Sequence[str] | None = None,
    score: Score = None,
    features: Features | None = None,
    method: Method | None = None,
    which: int = -1,
) -> Explanation:
    """Another question about answers that are already there: other outputs, score, features or method, and no query.

    explanation: one that `explain` returned, or the journal that it wrote.
    labels: names of the outputs, one for each; None: those that the explanation has.
    method: one that asks the same, such as Regression(of=…) of what was asked.
    which: which of a journal's runs, in the order in which they were last asked; −1 is the last.

    None keeps what was there. score="answer" is the answer as it comes. Masks of `Presence`, and segments of `LIME`,
    show and hide whole features: other features want other queries.
    """
    target = reusable_target(target)
    if isinstance(explanation, str | os.PathLike):
        return _from_journal(explanation, which, target, checked_labels(labels), score, features, method)
    record = explanation.record if isinstance(explanation, Explanation) else None
    if record is None or not isinstance(explanation, Explanation):
        raise InputError(
            f"{type(explanation).__name__} has no record of answers; wanted an explanation as geex.explain returned it "
            "(one that was loaded, or converted by .numpy(), has none)."
        )
    task = record.task
    features = task.features if features is None else checked(features, tuple(task.explicand.shape))
    check_score(score)
    _check_masks(record, features)
    named = explanation.labels if labels is None else checked_labels(labels)
    strict = labels is not None or has_label(target)
    target = explanation.target if target is None else checked_target(target, named)
    score = task.score if score is None else resolved_score(score, record.ends)
    task = replace(task, target=target, score=score, features=features)
    if method is not None:
        task = _another_method(record, task, method)
    plans = [replace(plan, features=task.features) for plan in record.plans]
    output = scored(record.ends[:1, :], task.score)[0, :]
    check_label_count(named if strict else None, int(output.shape[0]))
    targets, _ = target_indices(target, output)
    record = replace(record, task=task, plans=plans, targets=targets)
    parts = [estimated(task.method, answers) for answers in record.method_answers()]
    names = explanation.names if features == explanation.features else None
    found = explained(record, parts)
    settings = replace(found.settings, absence=explanation.settings.absence)
    return replace(found, labels=named, names=names, settings=settings)


def _check_masks(record: Record, features: Features) -> None:
    """DrawCache that show and hide whole features tell nothing about other ones."""
    masked = record.plans[0].search.features
    if masked is not None and masked != features:
        raise FeaturesError(
            f"the masks that were asked show and hide {masked!r}, and {features!r} were wanted; ask again, with "
            "geex.explain(…, features=…)."
        )


def _another_method(record: Record, task: Task, method: Method) -> Task:
    """The task with a method whose questions are those that were asked. Later legs follow from all of its settings."""
    check_method(method)
    task = replace(task, method=method)
    for asked, (wanted, _) in zip(record.plans, plans_of(task, DrawCache(keep=0)), strict=True):
        follows = asked.before is None or method == record.task.method
        if asked.first.fingerprint != wanted.fingerprint or not follows:
            raise MethodError(
                f"{method!r} asks other queries than {record.task.method!r} did; ask them with geex.explain(…)."
            )
    return task


def _from_journal(
    path: Any,
    which: int,
    target: Target,
    labels: list[str] | None,
    score: Score,
    features: Features | None,
    method: Method | None,
) -> Explanation:
    check_score(score)
    if method is not None:
        check_method(method)
    with Journal(path, write=False) as journal:
        runs = journal.runs()
    if not is_whole(which) or not -len(runs) <= which < len(runs):
        raise JournalError(f"which is {which!r} and {path} holds {len(runs)} runs; wanted 0 … {len(runs) - 1}, or −1.")
    target = checked_target(target, labels)
    given: dict[str, Any] = {"target": target, "score": score, "features": features, "method": method}
    task = replace(task_of(*runs[which], **given), labels=labels)
    checked(task.features, tuple(task.explicand.shape))
    known = stored_model_of(runs[which][0])
    if not in_rounds(task):
        return _read(path, task, known)
    # what was asked followed from what the run was about, so that is read first
    return estimate(_read(path, task_of(*runs[which]), known), labels=labels, **given)


def _read(path: Any, task: Task, known: StoredModel) -> Explanation:
    return explain_tasks(Engine(None, Limits(), journal=path, stored_model=known), [task], DrawCache(keep=0))[0]
