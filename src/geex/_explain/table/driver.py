"""The driver of a table: query all rows as one source, and estimate each as soon as its answers are there.

Answers of a row are dropped with its plan, so that memory does not grow with them.
"""

import time
from dataclasses import dataclass, replace
from math import prod

from geex._arrays.arrays import Array, namespace
from geex._estimate.shapley.learnt import Learnt
from geex._explain.driver import check_storable
from geex._explain.same_model import check_same_model
from geex._explain.table.answered_rows import AnsweredRows
from geex._explain.table.rows import Row, Rows, row_of
from geex._explain.table.source import RowPlan, TableSource
from geex._plan.plan import Ends
from geex._problem.outputs import check_label_count, resolved_score, scored, target_indices
from geex._problem.task import Task
from geex._query.ordered_answers import Querier, default_batch
from geex._query.session import Engine, Session
from geex._results.record import Record, estimated, explained
from geex.errors import ModelError


@dataclass(frozen=True, eq=False)
class TableRun:
    """What a run of a table found: the rows that are done, the errors of those that failed, and how it ended.

    partial: whether rows are missing. outputs: how many the score has. error: what ended the run early.
    """

    rows: Rows
    failed: dict[int, ModelError]
    seconds: float
    partial: bool
    outputs: int
    error: ModelError | None = None


def explain_rows(asking: Engine, source: TableSource, task: Task) -> TableRun:
    """Explain all rows of a source. task: that of the first row, with the score."""
    if asking.journal is not None:
        check_storable(task, source.plan(0).plans)
    total = int(source.starts[-1]) + len(task.baselines)
    batch = default_batch(task.explicand) if task.batch is None else task.batch
    with asking.opened(batch, total, task.progress, task.batch is not None) as session:
        session.log_cost(total, [source])
        return _explained(session, source, task)


def _explained(session: Session, source: TableSource, task: Task) -> TableRun:
    start = time.perf_counter()
    ends = _base(session, task)
    task = replace(task, score=resolved_score(task.score, ends))
    outputs = scored(ends[:1, :], task.score)
    check_label_count(task.labels, int(outputs.shape[1]))
    target_indices(task.target, outputs[0, :])
    rows = Rows(len(source), prod(task.features.shape(tuple(task.explicand.shape))))
    failed: dict[int, ModelError] = {}
    learnt, answered = Learnt(), AnsweredRows(session, source, int(ends.shape[1]))
    for number, plan, answers in answered:
        if isinstance(answers, ModelError):
            failed[number] = answers
        else:
            rows.add(number, _row(task, plan, answers, ends, learnt))
    if not rows.numbers:
        raise next(iter(failed.values()), None) or KeyboardInterrupt()
    whole = len(rows.numbers) + len(failed) == len(source)
    return TableRun(rows, failed, time.perf_counter() - start, not whole, int(outputs.shape[1]), answered.ended_by)


def _base(session: Session, task: Task) -> Array:
    """Return the answers for the baselines, compared with those in the journal."""
    xp = namespace(task.explicand)
    points = Ends(xp.astype(xp.stack(task.baselines), task.dtype))
    querier = Querier(session.dispatcher(task.explicand), len(task.baselines))
    start = time.perf_counter()
    ends = querier.ends(points, 0, len(task.baselines))
    if ends is None:
        raise KeyboardInterrupt
    stored = len(task.baselines) - querier.own
    check_same_model(session, task, points, ends, None, stored, ("x̊", "a baseline"))
    if not stored:
        session.log_duration(time.perf_counter() - start, task.queries)
    return ends


def _row(task: Task, plan: RowPlan, answers: Array, base: Array, learnt: Learnt) -> Row:
    """Return what is kept of one row."""
    raw, own, again = plan.split(answers)
    ends = namespace(raw).concat([raw, base], axis=0)
    target, _ = target_indices(task.target, scored(raw, task.score)[0, :])
    own_task = replace(plan.task, score=task.score, target=task.target)
    record = Record(own_task, [one for one, _ in plan.plans], ends, own, plan.size, target, again)
    parts = [estimated(task.method, replace(part, learnt=learnt)) for part in record.method_answers()]
    return row_of(explained(record, parts, brief=True))
