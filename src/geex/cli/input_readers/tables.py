"""CSV and Parquet files: all rows as numbers, and the names of the columns."""

import csv
import io
from collections.abc import Sequence

import numpy as np

from geex.errors import FileError, InputError, MissingPackage


def table_in(
    content: bytes, name: str, drop: Sequence[str], keep: Sequence[str] | None
) -> tuple[np.ndarray, list[str]]:
    """Return all rows (n, p) and the names of the columns: those in `keep`, or all but those in `drop`."""
    columns = columns_in(content, name)
    for column in (*drop, *(keep or ())):
        if column not in columns:
            raise InputError(
                f"{name} must have a column {column!r}; it has {', '.join(map(repr, columns))}.", code="column-missing"
            )
    used = list(keep) if keep is not None else [column for column in columns if column not in drop]
    if not used or not len(columns[used[0]]):
        raise InputError(f"{name} must have a row and a column that is not dropped.", code="table-empty")
    return np.stack([_numbers(columns[column], column, name) for column in used], axis=1), used


def columns_in(content: bytes, name: str) -> dict[str, Sequence[object]]:
    """Return the entries of all columns, by their names."""
    return dict(_parquet(content, name) if content.startswith(b"PAR1") else _csv(content, name))


def _csv(content: bytes, name: str) -> dict[str, Sequence[str]]:
    try:
        text = content.decode("utf-8-sig")
        start = text.splitlines()[0] if text.strip() else ""
        delimiter = max(",;\t", key=start.count)
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter, strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{name} cannot be read as CSV: {error}.", code="csv-unreadable") from None
    if len(rows) < 2:
        raise FileError(f"{name} must have a header and a row; it has {len(rows)} lines.", code="table-empty")
    header = [column.strip() for column in rows[0]]
    for number, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise FileError(
                f"{name} must have {len(header)} entries in each row; row {number} has {len(row)}.", code="row-length"
            )
    if len(set(header)) < len(header):
        raise FileError(f"{name} must have a header of different names; two are the same.", code="header-repeats")
    return {column: [row[i] for row in rows[1:]] for i, column in enumerate(header)}


def _parquet(content: bytes, name: str) -> dict[str, Sequence[str]]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingPackage(
            "Parquet files need pyarrow. Run `pip install pyarrow` (the extra `parquet`).", code="pyarrow-missing"
        ) from None
    try:
        found = pyarrow.parquet.read_table(io.BytesIO(content))
        return {column: found.column(column).to_pylist() for column in found.column_names}
    except Exception as error:  # damaged files end in many kinds of them
        raise FileError(f"{name} cannot be read as Parquet: {error}.", code="parquet-unreadable") from None


def _numbers(column: Sequence[object], name: str, file: str) -> np.ndarray:
    made = np.empty(len(column))
    for number, entry in enumerate(column):
        try:
            made[number] = float(entry) if entry not in (None, "") else np.nan  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError(
                f"{file} must hold numbers; column {name!r} has {entry!r} in row {number}. Use --drop {name!r}.",
                code="cell-not-a-number",
            ) from None
    return made
