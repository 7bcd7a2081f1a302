"""Rows of any cells as rows of numbers, and back.

    a number in a column of numbers  ->  itself
    any other cell                   ->  its code, a number in [0, 1)

Queries of methods that show and hide features hold only numbers and codes of x and the baselines, so each of them is a
row of cells again. Codes depend on the cell alone: a journal stays valid when other rows are explained beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._problem.digest import digest
from geex._problem.foreign_model import Carried
from geex._problem.model_identity import identity
from geex._problem.table.cells import code, is_infinite, is_missing, is_number
from geex._problem.table.frames import common, frame_of, inferred, is_category, numbers_frame
from geex._problem.table.rows import Row, row_of
from geex.errors import BaselineError, ExplicandError, InputError

# A column's cells by their codes.
Known = Mapping[float, Any]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of x and its baselines.

    cells: by their codes; None for a column of numbers that stand for themselves. dtype: that of the column in a data
    frame; None where the model receives arrays.
    """

    name: Any
    cells: Known | None
    dtype: Any = None

    def encoded(self, cell: Any) -> float:
        """Return the number of a cell. Raise InputError for a cell that the column does not have."""
        if self.cells is None and is_number(cell) and not is_missing(cell):
            return float(cell)
        for number in _numbers_of(cell):
            if number in (self.cells or ()):
                return number
        raise InputError(f"Column {str(self.name)!r} has no cell {cell!r}.", code="cell-unknown")

    def decoded(self, numbers: np.ndarray) -> np.ndarray:
        """Return the cells of numbers (n,). Raise InputError for a number that stands for no cell."""
        if self.cells is None:
            return numbers
        found, places = np.unique(numbers, return_inverse=True)
        if strange := [number for number in found if number not in self.cells]:
            raise InputError(
                f"Column {str(self.name)!r} must have the cell of x or of the baseline, since one of them is not a "
                f"number; the method sent {float(strange[0]):.3g}.",
                code="query-not-a-cell",
                fix="Use a method that shows and hides features, such as method=geex.Shapley().",
            )
        cells = np.empty(len(found), object)
        cells[:] = [self.cells[number] for number in found]
        return np.asarray(cells[places])


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table. framed: whether the model receives data frames; else arrays of type `dtype`."""

    columns: tuple[Column, ...]
    framed: bool
    dtype: Any = np.float64

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(column.name) for column in self.columns]

    @property
    def labels(self) -> list[Any]:
        """The names of the columns, as the data frame has them."""
        return [column.name for column in self.columns]

    @property
    def of_numbers(self) -> bool:
        """Whether all cells are numbers that stand for themselves."""
        return all(column.cells is None for column in self.columns)

    def encoded(self, row: Row) -> np.ndarray:
        """Return a row as numbers (p,)."""
        pairs = zip(self.columns, row.cells, strict=True)
        return np.array([column.encoded(cell) for column, cell in pairs])

    def decoded(self, queries: np.ndarray) -> Any:
        """Return queries (n, p) as a data frame or an array of cells."""
        if self.of_numbers and all(column.dtype in (None, np.float64) for column in self.columns):
            return numbers_frame(self.labels, queries) if self.framed else queries.astype(self.dtype)
        columns = [column.decoded(queries[:, place]) for place, column in enumerate(self.columns)]
        if self.framed:
            return frame_of(self.labels, columns, [column.dtype for column in self.columns])
        return np.stack([_as_numbers(column) for column in columns], axis=1).astype(self.dtype)


@dataclass(frozen=True, eq=False)
class TableModel:
    """A model of rows of numbers, made of a model of rows of cells."""

    model: Any
    columns: Columns
    like: Array | None = field(default=None, repr=False)

    def __call__(self, queries: Array) -> Any:
        rows = self.columns.decoded(host(queries))
        return self.model(rows if self.like is None else like(rows, self.like))

    def codes(self, x: Any) -> Any:
        """Return x, a row of cells or of codes, as codes."""
        row = row_of("x", x)
        if row is None and not np.isnan(np.asarray(host(x), float)).any():
            return x
        names = self.columns.labels
        return self.columns.encoded(Row(tuple(names), tuple(host(x))) if row is None else row.ordered("x", names))

    @property
    def identity(self) -> str:
        """A text that changes with the model, and with the names and types of the columns; "" where it has none."""
        own = identity(self.model)
        types = [str(column.dtype) for column in self.columns.columns]
        return digest(own, self.columns.names, types) if own else ""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.columns.names

    @property
    def labels(self) -> Any:
        """The labels of the model inside."""
        return Carried(self.model).labels

    @property
    def limits(self) -> Any:
        """The limits of the model inside."""
        return Carried(self.model).limits

    @property
    def most_rows(self) -> int | None:
        """The most rows of one call of the model inside."""
        return Carried(self.model).most_rows


def columns_of(xs: Sequence[Row], absent: Iterable[Row], framed: bool, dtype: Any = np.float64) -> Columns:
    """Return the columns of rows and their baselines, which have the same names in the same order.

    Raises
    ------
    ExplicandError, BaselineError
        A cell is infinite, or does not suit its column.
    """
    rows = [*xs, *absent]
    typed = next((row.dtypes for row in rows if row.dtypes), (None,) * len(xs[0].cells))
    found = []
    for place, (name, kind) in enumerate(zip(xs[0].names, typed, strict=True)):
        own, others = ([row.cells[place] for row in part] for part in (xs, rows[len(xs) :]))
        _check(str(name), own, others, kind)
        found.append(_column(name, [*own, *others], kind, framed))
    return Columns(tuple(found), framed, dtype)


def _column(name: Any, cells: list[Any], dtype: Any, framed: bool) -> Column:
    known = [cell for cell in cells if not is_missing(cell)]
    missing = len(known) < len(cells)
    numbers = not (is_category(dtype) if dtype is not None else False) and all(map(is_number, known))
    if framed:
        dtype = inferred(cells) if dtype is None else common(dtype, known if numbers else (), missing)
    if numbers and not missing:
        return Column(name, None, dtype if framed else None)
    # of equal cells, such as 1 and 1.0, the first is kept: that of x
    codes = {float(cell) if numbers and not is_missing(cell) else code(cell): cell for cell in reversed(cells)}
    return Column(name, codes, dtype if framed else None)


def _numbers_of(cell: Any) -> Iterable[float]:
    """Yield the numbers that may stand for a cell."""
    yield code(cell)
    if is_number(cell):
        yield float(cell)


def _check(name: str, own: list[Any], others: list[Any], dtype: Any) -> None:
    """Raise InputError for cells that are infinite, of another kind than the column, or of no category of it."""
    if any(map(is_infinite, own)):
        raise ExplicandError(f"`x` must hold finite numbers; {name!r} is infinite.", code="x-not-finite")
    if any(map(is_infinite, others)):
        raise BaselineError(f"`baseline` must hold finite numbers; {name!r} is infinite.", code="baseline-not-finite")
    kinds = {isinstance(cell, str) for cell in own if not is_missing(cell)}
    for cell in others:
        if kinds and not is_missing(cell) and isinstance(cell, str) not in kinds:
            right = "a text" if True in kinds else "a number"
            raise BaselineError(
                f"`baseline` must have {right} in column {name!r}, as x has; got {cell!r}.",
                code="baseline-cell-type",
                fix="Pass another row as the baseline, such as X.mode().iloc[0].",
            )
    if dtype is None or not is_category(dtype):
        return
    for what, cells, kind in (("x", own, ExplicandError), ("baseline", others, BaselineError)):
        for cell in cells:
            if not is_missing(cell) and cell not in dtype.categories:
                raise kind(
                    f"`{what}` must have one of the categories of column {name!r}; {cell!r} is none of them.",
                    code=f"{what}-not-a-category",
                )


def _as_numbers(cells: np.ndarray) -> np.ndarray:
    """Return cells as numbers, NaN for a missing one."""
    if cells.dtype != object:
        return cells
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
