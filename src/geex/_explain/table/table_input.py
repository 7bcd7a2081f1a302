"""A table as it is passed: its rows as one array, and the names of its rows and columns."""

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geex._arrays.arrays import Array, as_array, as_explicand, host, working
from geex._explain.inputs import Inputs, inputs
from geex._explain.warnings import frames_of_geex
from geex._problem.foreign_model import Carried
from geex._problem.table.rows import is_frame, row_of
from geex._problem.task import Task
from geex._query.retrying_call import Model
from geex.errors import BoundsError, ExplicandError, RepeatedIndex

# The kinds of columns that are numbers: booleans, whole numbers and others.
NUMBER_KINDS = "buif"


@dataclass(frozen=True, eq=False)
class TableInput:
    """A table (n, p) with its columns in the order of the model.

    array: as it was passed. rows: in the working type. index: the label of each row. index_names: the names of the
    levels of the index. columns: their names. first: the first row, with its names if it has any.
    """

    array: Array
    rows: Array
    index: list[Hashable]
    index_names: list[str | None]
    columns: list[str]
    first: Any


def table_input(model: Model, frame: Any) -> TableInput:
    """Return the table. Raise ExplicandError or InputError if it cannot be explained."""
    names = Carried(model).names
    if not is_frame(frame):
        array = _checked(as_array("frame", frame, ExplicandError))
        count, width = (int(length) for length in array.shape)
        columns = list(map(str, names)) if names is not None and len(names) == width else _numbered(width)
        return TableInput(array, working(array), list(range(count)), [None], columns, array[0, ...])
    if 0 in frame.shape:
        raise _empty(tuple(frame.shape))
    first = row_of("frame", frame.iloc[0])
    assert first is not None
    places = [list(first.names).index(name) for name in first.ordered("frame", names).names]
    frame = frame.iloc[:, places]
    columns = list(frame.columns)
    array = _checked(_numbers(frame))
    if not frame.index.is_unique:
        warnings.warn(
            f"The index has {int(frame.index.duplicated().sum()):,} labels that repeat earlier ones. All rows are "
            "kept, in their order.",
            RepeatedIndex,
            stacklevel=frames_of_geex(),
        )
    labels = frame.index.tolist()
    index_names = [None if name is None else str(name) for name in frame.index.names]
    return TableInput(array, working(array), labels, index_names, list(map(str, columns)), frame.iloc[0])


def shared_inputs(model: Model, table: TableInput, baseline: Any) -> Inputs:
    """Return the model for arrays, and the baseline in its order. Raise ExplicandError for a rule, which needs x."""
    several = baseline if isinstance(baseline, list | tuple) else [baseline]
    if any(callable(one) and not is_array_api_obj(one) for one in several):
        raise ExplicandError(
            "`baseline` must be the same for all rows of a table: a number, a row, geex.mean(data) or "
            "geex.background(rows).",
            code="table-baseline-rule",
            fix="For a baseline that depends on x, call geex.explain_batch.",
        )
    return inputs(model, [table.first], baseline)


def check_bounds(task: Task, table: TableInput) -> None:
    """Raise BoundsError unless all rows lie within the bounds."""
    if task.bounds is None:
        return
    outside = (table.rows < task.bounds[0][None, ...]) | (table.rows > task.bounds[1][None, ...])
    beyond = np.flatnonzero(np.asarray(host(outside)).any(axis=1))
    if len(beyond):
        raise BoundsError(
            f"`bounds` must contain all rows; {len(beyond):,} of them lie outside, the first is row {beyond[0]}.",
            code="outside-the-bounds",
        )


def _numbers(frame: Any) -> np.ndarray:
    kinds = {str(name): (dtype, dtype.kind) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)}
    for name, (dtype, kind) in kinds.items():
        if kind not in NUMBER_KINDS:
            raise ExplicandError(
                f"`frame` must have columns of numbers; column {name!r} has the type {dtype}.",
                code="table-not-numeric",
                fix="Encode the column as numbers, or drop it if the model does not use it.",
            )
    single = all(str(dtype) == "float32" for dtype, _ in kinds.values())
    return np.asarray(frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))


def _checked(array: Array) -> Array:
    if array.ndim != 2:
        raise ExplicandError(
            f"`frame` must have the shape (rows, columns); got {tuple(array.shape)}.",
            code="table-shape",
            fix="For inputs with more axes, such as images, call geex.explain_batch.",
        )
    if 0 in array.shape:
        raise _empty(tuple(array.shape))
    try:
        return as_explicand(array)
    except ExplicandError as error:
        if error.code != "x-not-finite":
            raise
        missing = np.asarray(~np.isfinite(np.asarray(host(array), np.float64)).all(axis=1))
        raise ExplicandError(
            f"`frame` must hold finite numbers; {int(missing.sum()):,} of {len(missing):,} rows have none somewhere, "
            f"the first of them is row {int(np.argmax(missing))}.",
            code="table-not-finite",
            fix="Fill in the missing values, or drop these rows.",
        ) from None


def _empty(shape: tuple[int, ...]) -> ExplicandError:
    return ExplicandError(f"`frame` must have a row and a column; got the shape {shape}.", code="table-empty")


def _numbered(width: int) -> list[str]:
    return [f"feature {place}" for place in range(width)]
