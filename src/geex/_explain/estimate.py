"""Another question about stored answers, without a query."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from geex._arrays.validation import is_whole
from geex._explain.driver import explain_tasks, plans_of
from geex._explain.prepare import check_method
from geex._explain.rounds import in_rounds
from geex._journal.journal import Journal
from geex._journal.stored_task import StoredModel, stored_model_of, task_of
from geex._plan.plan import DrawCache
from geex._problem.features import checked
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
from geex._protocols import Features, Method
from geex._query.limits import Limits
from geex._query.session import Engine
from geex._results.explanation import Explanation
from geex._results.record import Record, estimated, explained, feature_names
from geex.errors import (
    FeaturesError,
    InputError,
    JournalError,
    MethodError,
)


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
    """Answer another question from stored answers, without a query.

    None keeps the setting of the explanation, or of the journal.

    Parameters
    ----------
    explanation
        An explanation that `explain` returned, or the path of a journal.
    target
        The output to explain: an index, a label, a list of these, or "all".
    labels
        Names of the outputs, one for each.
    score
        The function of the answers that is explained, as in `explain`. "answer" is the answer as it is.
    features
        The features. Masks of `Presence`, and segments of `LIME`, allow no other features than those of the run.
    method
        A method with the same queries, such as `Regression(of=…)` of the method of the run.
    which
        The run of a journal that has several, from 0 in the order of their last query. −1 is the last.

    Returns
    -------
    Explanation
        The new explanation.

    Raises
    ------
    InputError
        The explanation has no answers, as after `load` or `numpy()`; or an argument cannot be used.
    FeaturesError, MethodError
        The features, or the method, need other queries.
    JournalError
        The journal cannot be read, or lacks answers.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> model = lambda z: np.stack([z @ [1.0, 2.0], z @ [3.0, 1.0]], axis=1)
    >>> first = geex.explain(model, np.ones(2), target=0, progress=False)
    >>> geex.estimate(first, target=1).values.tolist()
    [3.0, 1.0]
    """
    target = reusable_target(target)
    if isinstance(explanation, str | os.PathLike):
        return _from_journal(explanation, which, target, checked_labels(labels), score, features, method)
    record = explanation.record if isinstance(explanation, Explanation) else None
    if record is None or not isinstance(explanation, Explanation):
        raise InputError(
            "`explanation` must have its answers: an explanation from geex.explain, or the path of a journal; got "
            f"{_without_answers(explanation)}.",
            code="answers-missing",
            fix="Saved and converted explanations have no answers.",
        )
    task = record.task
    if isinstance(features, Features):
        features = features.of_columns(task.names)
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
    names = explanation.names if features == explanation.features else feature_names(task, task.names)
    found = explained(record, parts)
    settings = replace(found.settings, absence=explanation.settings.absence)
    return replace(found, labels=named, names=names, settings=settings)


def _without_answers(explanation: Any) -> str:
    return "one without" if isinstance(explanation, Explanation) else f"a {type(explanation).__name__}"


def _check_masks(record: Record, features: Features) -> None:
    """Raise FeaturesError for features other than those that the masks show and hide as a whole."""
    masked = record.plans[0].search.features
    if masked is not None and masked != features:
        raise FeaturesError(
            f"`features` must be {masked!r}, which the masks of this run show and hide; got {features!r}.",
            code="features-of-another-run",
            fix="Call geex.explain(…, features=…).",
        )


def _another_method(record: Record, task: Task, method: Method) -> Task:
    """Return the task with another method of the same queries. Later rounds depend on all settings of a method."""
    check_method(method)
    task = replace(task, method=method)
    for queried, (planned, _) in zip(record.plans, plans_of(task, DrawCache(keep=0)), strict=True):
        follows = queried.before is None or method == record.task.method
        if queried.first.fingerprint != planned.fingerprint or not follows:
            raise MethodError(
                f"`method` must have the queries of {record.task.method!r}; those of {method!r} differ.",
                code="method-of-other-queries",
                fix="Call geex.explain(…, method=…).",
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
        raise JournalError(
            f"`which` must be 0 … {len(runs) - 1}, or −1 for the last run in {path}; got {which!r}.",
            code="which-not-a-run",
        )
    target = checked_target(target, labels)
    given: dict[str, Any] = {"target": target, "score": score, "features": features, "method": method}
    task = replace(task_of(*runs[which], **given), labels=labels)
    checked(task.features, tuple(task.explicand.shape))
    check_score(task.score)
    known = stored_model_of(runs[which][0])
    if not in_rounds(task):
        return _read(path, task, known)
    # the queries of later rounds depend on the target and score of the run, so the run is read as it was first
    return estimate(_read(path, task_of(*runs[which]), known), labels=labels, **given)


def _read(path: Any, task: Task, known: StoredModel) -> Explanation:
    return explain_tasks(Engine(None, Limits(), journal=path, stored_model=known), [task], DrawCache(keep=0))[0]
