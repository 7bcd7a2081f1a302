"""Cells of a table: numbers, texts, categories, dates and missing values.

A missing cell is None, NaN, pandas.NA or NaT.
"""

from dataclasses import dataclass, field
from math import isfinite, nan
from numbers import Integral, Real
from typing import Any

import numpy as np

from geex._arrays.scalars import scalar
from geex._problem.digest import digest
from geex._problem.table.frames import frame_of, inferred
from geex._stored_names import stored

# The largest whole number up to which float64 holds all of them.
WHOLE = 2**53
# Hexadecimal digits of a code: 52 bits, which float64 holds.
CODE_DIGITS = 13


@stored("cells/1")
@dataclass(frozen=True, eq=False)
class Cells:
    """Two rows of a table: the cells to explain, and those that stand for absence; () where these are several rows."""

    names: tuple[str, ...]
    values: tuple[Any, ...] = field(repr=False)
    absent: tuple[Any, ...] = field(repr=False)

    @property
    def absence(self) -> str:
        return "the row of absent values"

    def built(self, present: np.ndarray) -> Any:
        """Return the data frame for presence masks (n, p)."""
        pairs = zip(self.values, self.absent, strict=True)
        columns = [
            _object([value if there else absent for there in present[:, place]])
            for place, (value, absent) in enumerate(pairs)
        ]
        return frame_of(self.names, columns, [inferred(pair) for pair in zip(self.values, self.absent, strict=True)])


def is_missing(cell: Any) -> bool:
    """Return whether a cell has no value."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except TypeError:  # pandas.NA has no truth
        return True
    except ValueError:  # an array, whose comparison is an array
        return False


def is_number(cell: Any) -> bool:
    """Return whether a cell is a number, which float64 holds without rounding."""
    if isinstance(cell, Integral):
        return abs(int(cell)) <= WHOLE
    return isinstance(cell, Real | np.bool_)


def is_infinite(cell: Any) -> bool:
    """Return whether a cell is an infinite number."""
    return isinstance(cell, Real) and not is_missing(cell) and not isinstance(cell, Integral) and not isfinite(cell)


def code(cell: Any) -> float:
    """Return the number in [0, 1) that stands for a cell: another one for another cell, the same in every process."""
    if is_missing(cell):
        parts: tuple[Any, ...] = ("missing",)
    elif is_number(cell):
        parts = ("number", float(cell))
    else:
        parts = ("cell", scalar(cell))
    return float(int(digest(*parts)[:CODE_DIGITS], 16)) / 16.0**CODE_DIGITS


def plain(cell: Any) -> Any:
    """Return a cell as a value that a file can hold: NaN for a missing one, a text for what is no number or text."""
    if is_missing(cell):
        return nan
    cell = scalar(cell)
    if isinstance(cell, np.bool_):
        return bool(cell)
    return cell if isinstance(cell, bool | int | float | str) else str(cell)


def _object(cells: list[Any]) -> np.ndarray:
    """Return cells as an array of objects, whatever they are."""
    column = np.empty(len(cells), object)
    column[:] = cells
    return column
