"""The columns of a table of explanations in a file: of the index, of every feature, and of every row.

index | values.NAME  stderr.NAME  centre.NAME … | x.NAME … | output  base_value  target …
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from geex._results.table.explanation import TableExplanation

# Arrays (rows, columns), and arrays (rows,).
FEATURE_ARRAYS = ("values", "stderr", "centre")
ROW_ARRAYS = ("output", "base_value", "gap", "gap_stderr", "target", "queries", "freedom", "noise", "numbers")


def index_columns(levels: int) -> list[str]:
    """Return the names of the columns that hold the index."""
    return ["index"] if levels == 1 else [f"index.{level}" for level in range(levels)]


def columns_of(table: "TableExplanation") -> dict[str, Sequence[Any] | np.ndarray]:
    """Return all columns by their names."""
    levels = [table.index] if len(table.index_names) == 1 else list(zip(*table.index, strict=True))
    found: dict[str, Sequence[Any] | np.ndarray] = dict(zip(index_columns(len(levels)), levels, strict=True))
    for kind in FEATURE_ARRAYS:
        for name, column in zip(table.columns, getattr(table, kind).T, strict=True):
            found[f"{kind}.{name}"] = column
    for name, column in zip(table.inputs, table.data.T, strict=True):
        found[f"x.{name}"] = column
    return found | {name: getattr(table, name) for name in ROW_ARRAYS}
