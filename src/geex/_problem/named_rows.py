"""Rows with names, such as those of a data frame, in the order in which a model wants them."""

from collections.abc import Sequence
from typing import Any

from geex.errors import InputError


def has_names(row: Any) -> bool:
    """Whether it is a row with a name for every entry."""
    return hasattr(row, "reindex") and hasattr(row, "index") and getattr(row, "ndim", 0) == 1


def rows_of(table: Any) -> Sequence[Any] | None:
    """The rows of an array, a list or a data frame; None where it has none."""
    if not hasattr(table, "__len__") or getattr(table, "ndim", 1) == 0 or len(table) == 0:
        return None
    # a data frame is a sequence of its columns
    return [table.iloc[place] for place in range(len(table))] if hasattr(table, "iloc") else table


def in_order(what: str, row: Any, names: Sequence[Any] | None) -> Any:
    """A row with names in the order of `names`; anything else as it is. Other names than these are an error."""
    if names is None or not has_names(row) or list(row.index) == list(names):
        return row
    missing = [name for name in names if name not in row.index]
    strange = [name for name in row.index if name not in names]
    if len(row) == len(names) and not any(isinstance(name, str) for name in row.index):
        return row  # numbered, and not named
    if missing or strange or len(row) != len(names):
        told = f"has no {missing[0]!r}" if missing else f"has {strange[0]!r}" if strange else "has a name twice"
        raise InputError(
            f"{what} {told}, and the names are {_start(names)}; wanted a value for each of them, and no other."
        )
    return row[list(names)]


def _start(names: Sequence[Any]) -> str:
    told = ", ".join(map(repr, names[:5]))
    return told if len(names) <= 5 else f"{told} and {len(names) - 5} more"
