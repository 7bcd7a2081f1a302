"""The inputs and baselines of a call as arrays: rows with names in the model's order, cells as numbers.

A row of numbers becomes an array. A row with words, categories or missing values becomes an array of codes, and the
model is wrapped: it receives rows of cells again. So does a row of whole numbers or booleans, for a model of data
frames: its columns keep their types.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_torch_array

from geex._arrays.arrays import as_array, host
from geex._explain.prepare import prepare
from geex._problem.background import Background, background
from geex._problem.baselines import applied_rule, check_list, declared_baseline
from geex._problem.declared import Unnamed, Value
from geex._problem.foreign_model import Carried
from geex._problem.outputs import Target, checked_labels, has_label
from geex._problem.table.cells import Cells, is_missing, plain
from geex._problem.table.columns import Columns, TableModel, columns_of
from geex._problem.table.rows import Row, is_frame, row_of
from geex._problem.task import Task
from geex._protocols import Features
from geex._query.retrying_call import Model
from geex.errors import BaselineError, ExplicandError, InputError

# What an error offers where a row has no baseline.
OFFERED = (
    "Pass baseline=geex.background(X), rows to average over; geex.mean(X), the average row of numbers; or another row."
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """What is explained, as arrays.

    model: it takes these arrays. xs, baselines: one of each for every input. cells: what the arrays stand for, where
    they are codes. columns: how cells are numbers. names: those of the columns. declared: the baseline as it was
    passed.
    """

    model: Model
    xs: list[Any]
    baselines: list[Any]
    names: list[str] | None
    declared: Value
    cells: list[Cells | None]
    columns: Columns | None = None

    def tasks(self, settings: dict[str, Any]) -> list[Task]:
        """Return a task for each input, all with the same settings."""
        features = settings["features"]
        if features is not None:
            settings = settings | {"features": named(features, self.names)}
        tasks = [prepare(x, baseline=one, **settings) for x, one in zip(self.xs, self.baselines, strict=True)]
        return [
            replace(task, baseline=self.declared, names=self.names, cells=cells, columns=self.columns)
            for task, cells in zip(tasks, self.cells, strict=True)
        ]


def labels_for(labels: Sequence[str] | None, target: Target, model: Model) -> list[str] | None:
    """Return the labels that must match the outputs: those passed, or the model's if the target is one of them."""
    if labels is None and has_label(target):
        labels = Carried(model).labels
    return checked_labels(labels)


def named(features: Any, names: Sequence[str] | None) -> Any:
    """Return features for columns of these names. Anything that is not features is refused later."""
    return features.of_columns(names) if isinstance(features, Features) else features


def inputs(model: Model, xs: Sequence[Any], baseline: Any) -> Inputs:
    """Return inputs and their baselines as arrays, for the model or for one that is wrapped around it."""
    carried = Carried(model)
    for x in xs:
        if carried.takes_tensors and not is_torch_array(x):
            raise InputError(
                f"`x` must be a tensor for a PyTorch module; got a {type(x).__name__}. Convert x, or pass "
                "geex.models.torch(model), which accepts arrays.",
                code="module-needs-tensors",
            )
    rows = [row_of("x", x) for x in xs]
    names = list(carried.names or ()) or (list(rows[0].names) if rows[0] is not None else None)
    rows = [None if row is None else row.ordered("x", names) for row in rows]
    if carried.frames and baseline is None:
        raise _without_baseline("This model was fitted with a data frame, where 0 is rarely the absence of a value")
    if is_frame(baseline) and len(baseline) != 1:
        baseline = background(baseline)
    if isinstance(baseline, Background):
        baseline = baseline.ordered(names)
    several = isinstance(baseline, list | tuple | Background)
    what = "a baseline" if several else "baseline"
    specs = [_spec(one, names, what) for one in _listed(baseline)]
    flat = all(row is not None or _is_flat(x) for row, x in zip(rows, xs, strict=True))
    if any(_has_cells(one, carried.frames) for one in (*rows, *specs, *xs) if flat or isinstance(one, Row)):
        full = [row if row is not None else _array_row(x, names) for row, x in zip(rows, xs, strict=True)]
        return _coded(model, xs, full, baseline, specs)
    arrays = [x if row is None else row.array for row, x in zip(rows, xs, strict=True)]
    absent = [one.array if isinstance(one, Row) else one for one in specs]
    text = None if names is None else [str(name) for name in names]
    own = carried.cells if isinstance(carried.cells, Cells) else None
    given: Any = absent if several else absent[0]
    if isinstance(baseline, Background):
        given = replace(baseline, rows=np.stack(absent), table=()) if baseline.table else baseline
    return Inputs(model, arrays, [given] * len(xs), text, _declared(baseline, specs), [own] * len(xs))


def _listed(baseline: Any) -> list[Any]:
    """Return the baselines of a list, and the rows of a background where they may hold other things than numbers."""
    if isinstance(baseline, Background):
        return list(baseline.table)
    return list(baseline) if isinstance(baseline, list | tuple) else [baseline]


def _spec(baseline: Any, names: Sequence[Any] | None, what: str) -> Any:
    """Return a baseline that is a row with names in the order of `names`, and any other as it is."""
    row = row_of(what, baseline)
    return baseline if row is None else row.ordered(what, names)


def _has_cells(value: Any, frames: bool) -> bool:
    """Return whether a value cannot be used as an array of numbers: as a row of cells, or with missing values."""
    if isinstance(value, Row):
        return frames or value.missing or not value.numbers
    if isinstance(value, Real):
        return is_missing(value)
    if isinstance(value, list | tuple):
        return all(isinstance(one, Real) for one in value) and any(map(is_missing, value))
    if not is_array_api_obj(value) or len(value.shape) != 1:
        return False
    try:
        numbers = host(as_array("x", value, ExplicandError))
    except ExplicandError:  # such as a sparse tensor: it is refused where x and the baseline are checked
        return False
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).any())


def _is_flat(x: Any) -> bool:
    """Return whether x has one axis, as a row of a table."""
    return len(x.shape) == 1 if is_array_api_obj(x) else isinstance(x, list | tuple)


def _array_row(x: Any, names: Sequence[Any] | None) -> Row:
    """Return an array (p,) as a row. Raise ExplicandError for an array of another shape."""
    array = host(as_array("x", x, ExplicandError))
    if array.ndim != 1 or (names is not None and len(names) != len(array)):
        wanted = "one row (p,)" if names is None else f"one row of {len(names)} columns"
        raise ExplicandError(
            f"`x` must be {wanted} where x or the baseline has missing values or words; its shape is {array.shape}.",
            code="x-not-a-row",
        )
    return Row(tuple(range(len(array)) if names is None else names), tuple(array))


def _coded(model: Model, xs: Sequence[Any], rows: list[Row], baseline: Any, specs: list[Any]) -> Inputs:
    carried = Carried(model)
    framed = carried.frames or not all(one.numbers for one in (*rows, *specs) if isinstance(one, Row))
    if baseline is None and not all(row.numbers for row in rows):
        raise _without_baseline("A row with words or categories needs a baseline, since 0 is not one of them")
    several = isinstance(baseline, list | tuple | Background)
    if isinstance(baseline, Background):
        specs = specs or list(baseline.rows)
    elif several:
        check_list(baseline, (len(rows[0].cells),))
    absent = [[_absent(spec, x, row) for spec in specs] for x, row in zip(xs, rows, strict=True)]
    own = host(xs[0]).dtype if is_array_api_obj(xs[0]) else np.dtype(float)
    dtype = own if own.kind == "f" else np.dtype(float)
    columns = columns_of(rows, [one for part in absent for one in part], framed, dtype)
    codes = [[columns.encoded(one) for one in part] for part in absent]
    tensor = xs[0] if is_torch_array(xs[0]) else None
    return Inputs(
        TableModel(model, columns, tensor),
        [columns.encoded(row) for row in rows],
        [_given(baseline, part) for part in codes],
        columns.names,
        _declared(baseline, specs),
        [_cells(columns.names, row, part) for row, part in zip(rows, absent, strict=True)],
        columns,
    )


def _given(baseline: Any, codes: list[np.ndarray]) -> Any:
    """Return the codes of baselines as the argument that `prepare` takes."""
    if isinstance(baseline, Background):
        return replace(baseline, rows=np.stack(codes), table=())
    return codes if isinstance(baseline, list | tuple) else codes[0]


def _absent(spec: Any, x: Any, row: Row) -> Row:
    """Return a baseline as a row like `row`."""
    if isinstance(spec, Row):
        return spec
    if callable(spec) and not is_array_api_obj(spec):
        spec = applied_rule(spec, x)
        made = row_of("baseline", spec)
        if made is not None:
            return made.ordered("baseline", row.names)
    if spec is None or isinstance(spec, Real):
        return Row(row.names, (0.0 if spec is None else spec,) * len(row.names))
    array = host(as_array("baseline", spec, BaselineError))
    if array.shape not in ((), (1,), (len(row.names),)):
        raise BaselineError(
            f"`baseline` must be a number or have one value for each of {len(row.names)} columns; got {array.shape}.",
            code="baseline-shape",
        )
    return Row(row.names, tuple(np.broadcast_to(array, (len(row.names),))))


def _cells(names: list[str], row: Row, absent: list[Row]) -> Cells:
    """Return the cells of a row and of its baseline, in values that a file can hold."""
    others = tuple(map(plain, absent[0].cells)) if len(absent) == 1 else ()
    return Cells(tuple(names), tuple(map(plain, row.cells)), others)


def _declared(baseline: Any, specs: list[Any]) -> Value:
    """Return the baseline as it was passed; of rows, only that they are."""
    if isinstance(baseline, Background):
        return declared_baseline(baseline)
    found = tuple(
        Unnamed("another row", "baseline") if isinstance(one, Row) else declared_baseline(one) for one in specs
    )
    return found if isinstance(baseline, list | tuple) else found[0]


def _without_baseline(why: str) -> BaselineError:
    return BaselineError(f"`baseline` must be given. {why}.", code="baseline-missing", fix=OFFERED)
