"""The public function that explains all rows of a table."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._explain.inputs import labels_for, named
from geex._explain.prepare import prepare
from geex._explain.table.driver import TableRun, explain_rows
from geex._explain.table.source import table_source
from geex._explain.table.table_input import TableInput, check_bounds, shared_inputs, table_input
from geex._explain.warnings import frames_of_geex, uneven_scales
from geex._problem.baselines import Baseline
from geex._problem.outputs import Score, reusable_target
from geex._problem.task import Task
from geex._protocols import Features, Method, RoundsMethod, Runner
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.session import Engine, engine
from geex._results.table.explanation import FailedRow, TableExplanation
from geex.errors import FailedRows, MethodError, PartialRun, TargetError, UnsteadyModel
from geex.models.scikit_learn import as_model

# The default budget of a row, in all and for each feature.
ROW_QUERIES, COLUMN_QUERIES = 200, 4
# The target that stands for the largest output of each row.
PREDICTED = "predicted"


def explain_table(
    model: Model,
    frame: Any,
    *,
    baseline: Baseline = None,
    target: int | str | None = None,
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
    most_cost: float | None = None,
) -> TableExplanation:
    """Explain all rows of a table as one job.

    Rows share calls of the model. The baseline, or the rows of a background, is queried once for all. Masks differ from
    row to row. What the first 20 rows show of interactions is used for the others.

    Parameters
    ----------
    model
        As in `explain`.
    frame
        The rows: a data frame of numbers, whose index and columns are kept, or an array (rows, columns).
    baseline
        What absence looks like, the same for all rows: a number, a row, `mean(data)`, `background(rows)`, or a data
        frame. A list of these averages over them. None: 0.
    target
        The output to explain, an index or a label. None or "predicted": the largest output of each row.
    labels, score, method, features, bounds, seed, batch, progress, run, limits, price, most_cost
        As in `explain`. Methods in rounds, such as `Guided`, cannot be used.
    queries
        The most queries for each row; those of the baselines come once on top. None: 4 for each feature, at least 200.
    journal
        A file that stores every answer. The same call continues from it after an interruption. Another table or another
        number of queries is another run.

    Returns
    -------
    TableExplanation
        Values and standard errors of all rows.

    Raises
    ------
    ExplicandError
        The table is empty, or not a table of finite numbers.
    MethodError
        The method cannot be used for tables.
    ModelError
        The model failed on the first rows, or on the baseline.
    GeexError
        As in `explain`.

    Notes
    -----
    Rows on which the model fails are left out, listed in `failed`, and named in a `FailedRows` warning. After Ctrl-C,
    or if 20 rows fail one after the other, the rows so far are returned, with a `PartialRun` warning. Labels of the
    index that repeat give a `RepeatedIndex` warning.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> found = geex.explain_table(lambda z: z[:, 0] * z[:, 1] + 3 * z[:, 2], rows, progress=False)
    >>> found.values.shape
    (50, 3)
    >>> found.top(1).columns
    ['feature 2']
    """
    target = _checked_target(reusable_target(target))
    model = as_model(model)
    names = labels_for(labels, target, model)
    table = table_input(model, frame)
    given = shared_inputs(model, table, baseline)
    asking = engine(given.model, limits, run, journal, price, most_cost)
    if queries is None and method is None:
        queries = max(ROW_QUERIES, COLUMN_QUERIES * int(table.rows.shape[1]))
    task = prepare(
        table.array[0, ...],
        baseline=given.baselines[0],
        target=target,
        score=score,
        method=method,
        queries=queries,
        features=features if features is None else named(features, table.columns),
        bounds=bounds,
        seed=seed,
        batch=batch,
        progress=progress,
        labels=names,
    )
    check_bounds(task, table)
    _check_method(task.method)
    for absent in task.baselines:
        uneven_scales(task, absent)
    task = replace(task, twice=asking.limits.twice, baseline=given.declared, names=table.columns)
    found = explain_rows(asking, table_source(task, table.rows), task)
    _warn(found, asking, len(table.index))
    return _table(found, task, table, asking)


def _checked_target(target: Any) -> Any:
    if isinstance(target, str) and target == PREDICTED:
        return None
    if target == "all" or not (target is None or isinstance(target, str | int | np.integer)):
        raise TargetError(
            f"`target` must be one output, or 'predicted' for the largest output of each row; got {target!r}.",
            code="table-several-targets",
            fix="Call geex.explain_table once for each output, or geex.explain_batch.",
        )
    return target


def _check_method(method: Method) -> None:
    if isinstance(method, RoundsMethod):
        raise MethodError(
            f"`method` must have no rounds for a table; got {type(method).__name__}, whose queries depend on answers.",
            code="table-method-in-rounds",
            fix="Use geex.Shapley(), geex.Presence(), geex.Regression() or geex.GEEX(); or call geex.explain_batch.",
        )


def _warn(found: TableRun, asking: Engine, rows: int) -> None:
    """Warn of rows that failed, of a model with noise, and of rows that are missing."""
    level = frames_of_geex()
    if found.failed:
        number, error = next(iter(found.failed.items()))
        text = f"The model failed on {len(found.failed):,} of {rows:,} rows, which are left out. Row {number}: {error}"
        warnings.warn(text, FailedRows, stacklevel=level)
    if found.rows.unsteady:
        warnings.warn(
            f"The model answered {found.rows.unsteady:,} of {rows:,} rows differently the second time. Check that it "
            "is in evaluation mode, and that one model answers all calls.",
            UnsteadyModel,
            stacklevel=level,
        )
    if found.partial:
        journal = "" if asking.journal is None else str(asking.journal)
        why = "" if found.error is None else f" Too many rows failed one after the other: {found.error}"
        way = f"The same call with journal={journal or '…'!r} continues from here."
        text = f"The run was stopped after {len(found.rows.numbers):,} of {rows:,} rows.{why} {way}"
        warnings.warn(text, PartialRun, stacklevel=level)


def _table(found: TableRun, task: Task, table: TableInput, asking: Engine) -> TableExplanation:
    """Return the result, with the names of the model where it has as many."""
    rows = found.rows
    assert rows.estimand is not None
    assert rows.settings is not None
    labels = asking.stored_model.labels if task.labels is None else task.labels
    settings = replace(rows.settings, queries=task.queries, seed=task.seed, twice=task.twice, fingerprints=())
    if asking.stored_model.absence is not None and task.baseline == 0.0:
        settings = replace(settings, absence=asking.stored_model.absence)
    failed = [FailedRow(number, table.index[number], str(error)) for number, error in found.failed.items()]
    return TableExplanation(
        index=[table.index[number] for number in rows.numbers],
        index_names=table.index_names,
        columns=_feature_names(task.features, table),
        **rows.arrays(),
        numbers=np.array(rows.numbers, np.int64),
        data=np.asarray(host(table.rows), np.float64)[rows.numbers],
        inputs=table.columns,
        estimand=rows.estimand,
        settings=settings,
        features=task.features,
        labels=labels if labels is not None and len(labels) == found.outputs else None,
        failed=failed,
        partial=found.partial,
        seconds=found.seconds,
    )


def _feature_names(features: Features, table: TableInput) -> list[str]:
    """Return the names of the features: of the columns, or of groups of them."""
    count = prod(features.shape((len(table.columns),)))
    names = features.names()
    if names is not None and len(names) == count:
        return list(names)
    return table.columns if count == len(table.columns) else [f"group {number}" for number in range(count)]
