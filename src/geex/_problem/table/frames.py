"""Data frames from columns of cells, each column in its own type."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from geex.errors import MissingPackage

# Kinds of NumPy types that hold numbers: booleans, whole numbers, floating ones.
NUMBERS = "buif"


def pandas() -> Any:
    """Return the module. Raise MissingPackage if it is not installed."""
    try:
        import pandas
    except ImportError:
        raise MissingPackage(
            "A row with names needs pandas. Run `pip install pandas` (the extra `sklearn`).", code="pandas-missing"
        ) from None
    return pandas


def frame_of(names: Sequence[Any], columns: Sequence[np.ndarray], dtypes: Sequence[Any]) -> Any:
    """Return a data frame of columns in their types; a whole type only where all numbers are whole."""
    found = [column(cells, dtype) for cells, dtype in zip(columns, dtypes, strict=True)]
    frame = pandas().concat(found, axis=1)
    frame.columns = list(names)
    return frame


def numbers_frame(names: Sequence[Any], numbers: np.ndarray) -> Any:
    """Return a data frame of numbers (n, p)."""
    return pandas().DataFrame(numbers, columns=list(names))


def column(cells: np.ndarray, dtype: Any) -> Any:
    """Return cells as a column of a type; numbers that the type does not hold, as floating ones."""
    if cells.dtype.kind in NUMBERS and dtype.kind in "buif" and not _holds(cells, dtype):
        return pandas().Series(cells, dtype="float64")
    return (
        pandas().Series(cells, dtype=dtype if dtype.kind == "O" and isinstance(dtype, np.dtype) else None).astype(dtype)
    )


def inferred(cells: Sequence[Any]) -> Any:
    """Return the type of a column that holds these cells."""
    if any(type(cell).__name__ == "NAType" for cell in cells):
        return pandas().array(list(cells)).dtype
    known = [cell for cell in cells if cell is not None and cell == cell]
    if len(known) < len(cells) and known and all(isinstance(cell, bool | np.bool_) for cell in known):
        return np.dtype("float64")  # True, False and NaN
    return pandas().Series(list(cells)).dtype


def common(dtype: Any, cells: Sequence[Any], missing: bool) -> Any:
    """Return the type of a frame's column, or the one that it becomes with these cells: floating for 2.5 in whole ones.

    cells: the column's numbers; none for a column that holds other things. missing: whether a cell is missing.
    """
    if not cells or dtype.kind not in "bui":
        return dtype
    if isinstance(dtype, np.dtype):
        return np.dtype("float64") if missing or not _holds(np.asarray(cells, float), dtype) else dtype
    return dtype if _holds(np.asarray(cells, float), dtype) else pandas().Float64Dtype()


def _holds(numbers: np.ndarray, dtype: Any) -> bool:
    """Return whether a type holds these numbers as they are."""
    if dtype.kind == "f":
        return True
    if dtype.kind == "b":
        return bool(np.isin(numbers, (0, 1)).all())
    return bool((numbers == np.round(numbers)).all())


def is_category(dtype: Any) -> bool:
    """Return whether a type is that of a categorical column."""
    return str(dtype) == "category"
