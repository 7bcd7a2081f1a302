"""A row of a CSV or Parquet file: its numbers, the names of its columns, and all rows for their mean."""

import csv
import io
from collections.abc import Sequence

import numpy as np

from geex.errors import FileError, InputError, MissingPackage


def table(content: bytes, name: str, drop: Sequence[str], keep: Sequence[str] | None) -> tuple[np.ndarray, list[str]]:
    """All rows (n, p) in float64 and the names of their columns: those of `keep`, or all but those in `drop`."""
    columns = _parquet(content, name) if content.startswith(b"PAR1") else _csv(content, name)
    for column in (*drop, *(keep or ())):
        if column not in columns:
            raise InputError(f"{name} has no column {column!r}; it has {', '.join(map(repr, columns))}.")
    chosen = list(keep) if keep is not None else [column for column in columns if column not in drop]
    if not chosen or not len(columns[chosen[0]]):
        raise InputError(f"{name} has no row or no column left; wanted a header and rows of numbers.")
    return np.stack([_numbers(columns[column], column, name) for column in chosen], axis=1), chosen


def _csv(content: bytes, name: str) -> dict[str, Sequence[str]]:
    try:
        text = content.decode("utf-8-sig")
        start = text.splitlines()[0] if text.strip() else ""
        delimiter = max(",;\t", key=start.count)
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter, strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{name} cannot be read as CSV ({error}).") from None
    if len(rows) < 2:
        raise FileError(f"{name} has {len(rows)} lines; wanted a header and at least one row.")
    header = [column.strip() for column in rows[0]]
    for number, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise FileError(f"{name} has {len(header)} columns and {len(row)} entries in row {number}.")
    if len(set(header)) < len(header):
        raise FileError(f"{name} has two columns of one name; wanted a header of names.")
    return {column: [row[i] for row in rows[1:]] for i, column in enumerate(header)}


def _parquet(content: bytes, name: str) -> dict[str, Sequence[str]]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingPackage("Parquet files are read by pyarrow: pip install 'geex[parquet]'") from None
    try:
        found = pyarrow.parquet.read_table(io.BytesIO(content))
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise FileError(f"{name} cannot be read as Parquet ({error}).") from None
    return {column: found.column(column).to_pylist() for column in found.column_names}


def _numbers(column: Sequence[object], name: str, file: str) -> np.ndarray:
    made = np.empty(len(column))
    for number, entry in enumerate(column):
        try:
            made[number] = float(entry) if entry not in (None, "") else np.nan  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError(
                f"{file} has {entry!r} in column {name!r}, row {number}; wanted numbers. --drop {name!r} leaves it out."
            ) from None
    return made
