"""Rows with names, such as those of a data frame, in the order of the model's features."""

from collections.abc import Sequence
from typing import Any

from geex._arrays.validation import code_name, subject
from geex.errors import InputError

# Names that a message lists.
SHOWN = 5


def has_names(row: Any) -> bool:
    """Return whether it is a row with a name for every entry, such as a pandas Series."""
    return hasattr(row, "reindex") and hasattr(row, "index") and getattr(row, "ndim", 0) == 1


def is_table(rows: Any) -> bool:
    """Return whether it is a data frame: rows under the names of columns."""
    return hasattr(rows, "columns") and hasattr(rows, "iloc")


def rows_of(table: Any) -> Sequence[Any] | None:
    """Return the rows of an array, a list or a data frame; None where it has none."""
    if not hasattr(table, "__len__") or getattr(table, "ndim", 1) == 0 or len(table) == 0:
        return None
    # a data frame is a sequence of its columns
    return [table.iloc[place] for place in range(len(table))] if hasattr(table, "iloc") else table


def ordered_row(what: str, row: Any, names: Sequence[Any] | None) -> Any:
    """Return a row with names in the order of `names`; anything else as it is. Raise InputError for other names."""
    if names is None or not has_names(row) or list(row.index) == list(names):
        return row
    missing = [name for name in names if name not in row.index]
    strange = [name for name in row.index if name not in names]
    if len(row) == len(names) and not any(isinstance(name, str) for name in row.index):
        return row  # numbered columns, which have no names
    if missing or strange or len(row) != len(names):
        found = f"has no {missing[0]!r}" if missing else f"has {strange[0]!r}" if strange else "has a name twice"
        raise InputError(
            f"{subject(what)} must have one value for each of the names {_start(names)}, and no other; it {found}.",
            code=f"{code_name(what)}-names",
        )
    return row[list(names)]


def _start(names: Sequence[Any]) -> str:
    first = ", ".join(map(repr, names[:SHOWN]))
    return first if len(names) <= SHOWN else f"{first} and {len(names) - SHOWN} more"
