"""Rows with names: a row of a data frame, a data frame of one row, or a dictionary.

This file and `frames` are the only ones that look into data frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geex._arrays.validation import code_name, subject
from geex._problem.table.cells import is_missing, is_number
from geex._problem.table.frames import is_category
from geex.errors import InputError

# Names that a message lists.
LISTED_COLUMNS = 5


@dataclass(frozen=True, eq=False)
class Row:
    """The cells of a row by the names of their columns. dtypes: the types of the columns; () where they are unknown."""

    names: tuple[Any, ...]
    cells: tuple[Any, ...]
    dtypes: tuple[Any, ...] = ()

    @property
    def missing(self) -> bool:
        """Whether a cell is missing."""
        return any(map(is_missing, self.cells))

    @property
    def numbers(self) -> bool:
        """Whether all cells are numbers or missing, and no column is categorical."""
        return not any(map(is_category, self.dtypes)) and all(is_number(c) or is_missing(c) for c in self.cells)

    @property
    def array(self) -> np.ndarray:
        """The cells of a row of numbers, in the type that holds all of them."""
        plain = [dtype for dtype in self.dtypes if isinstance(dtype, np.dtype) and dtype.kind in "buif"]
        if self.dtypes and len(plain) == len(self.dtypes):
            return np.asarray(self.cells, dtype=np.result_type(*plain))
        return np.asarray([float(cell) for cell in self.cells])

    def ordered(self, what: str, names: Sequence[Any] | None) -> "Row":
        """Return the row in the order of `names`. Raise InputError for other names."""
        if names is None or list(self.names) == list(names):
            return self
        if len(self.names) == len(names) and not any(isinstance(name, str) for name in self.names):
            return replace(self, names=tuple(names))  # numbered columns, which have no names of their own
        own, wanted = list(self.names), list(names)
        if not set(own) >= set(wanted):  # LightGBM keeps "body mass" as "body_mass"
            own, wanted = [_joined(name) for name in own], [_joined(name) for name in wanted]
        missing = [name for name, key in zip(names, wanted, strict=True) if key not in own]
        strange = [name for name, key in zip(self.names, own, strict=True) if key not in wanted]
        if missing or strange or len(own) != len(wanted) or len(set(own)) < len(own):
            found = f"has no {missing[0]!r}" if missing else f"has {strange[0]!r}" if strange else "has a name twice"
            raise InputError(
                f"{subject(what)} must have one value for each of the names {_start(names)}, and no other; it {found}.",
                code=f"{code_name(what)}-names",
            )
        return self._taken([own.index(key) for key in wanted])

    def _taken(self, places: list[int]) -> "Row":
        kept = {name: tuple(getattr(self, name)[place] for place in places) for name in ("names", "cells")}
        return replace(self, **kept, dtypes=tuple(self.dtypes[place] for place in places) if self.dtypes else ())


def row_of(what: str, value: Any) -> Row | None:
    """Return a row with names as a Row; None for anything else. Raise InputError for a data frame of several rows."""
    if isinstance(value, Row):
        return value
    if isinstance(value, Mapping):
        return Row(tuple(value), tuple(value[name] for name in value))
    if is_frame(value):
        rows = frame_rows(value)
        if len(rows) != 1:
            raise InputError(
                f"{subject(what)} must be one row; got a data frame of {len(rows)} rows.",
                code=f"{code_name(what)}-not-one-row",
                fix="Select one, such as frame.iloc[[0]]. geex.explain_batch explains several.",
            )
        return rows[0]
    if hasattr(value, "reindex") and hasattr(value, "index") and getattr(value, "ndim", 0) == 1:
        dtypes = () if value.dtype == object else (value.dtype,) * len(value)
        return Row(tuple(value.index), tuple(value.array), dtypes)
    return None


def is_frame(value: Any) -> bool:
    """Return whether it is a data frame, of pandas or of Polars."""
    return hasattr(value, "columns") and (hasattr(value, "iloc") or hasattr(value, "to_dicts"))


def frame_rows(frame: Any) -> list[Row]:
    """Return the rows of a data frame, with the types of its columns."""
    if hasattr(frame, "to_dicts"):  # Polars has no types that pandas has
        return [Row(tuple(row), tuple(row.values())) for row in frame.to_dicts()]
    columns = [frame.iloc[:, place] for place in range(len(frame.columns))]
    names, dtypes = tuple(frame.columns), tuple(column.dtype for column in columns)
    return [Row(names, cells, dtypes) for cells in zip(*(column.array for column in columns), strict=True)]


def rows_of(table: Any) -> Sequence[Any] | None:
    """Return the rows of an array, a list or a data frame; None where it has none."""
    if is_frame(table):
        return frame_rows(table) or None
    if not hasattr(table, "__len__") or getattr(table, "ndim", 1) == 0 or len(table) == 0:
        return None
    return table  # type: ignore[no-any-return]


def _joined(name: Any) -> Any:
    """Return a name with an underscore for each space."""
    return "".join("_" if letter.isspace() else letter for letter in name) if isinstance(name, str) else name


def _start(names: Sequence[Any]) -> str:
    first = ", ".join(map(repr, names[:LISTED_COLUMNS]))
    return first if len(names) <= LISTED_COLUMNS else f"{first} and {len(names) - LISTED_COLUMNS} more"
