"""A table of explanations as CSV: the columns of `cells.py`, numbers with all their digits."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geex._results.table.cells import columns_of

if TYPE_CHECKING:
    from geex._results.table.explanation import TableExplanation


def write_csv(table: "TableExplanation", path: Path) -> Path:
    """Write the file."""
    columns = columns_of(table)
    plain = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*plain, strict=True))
    return path
