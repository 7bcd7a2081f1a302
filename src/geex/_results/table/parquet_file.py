"""A table of explanations as a Parquet file: the columns of `cells.py`, and facts in the metadata of the schema.

geex         JSON: the format, names, settings and failed rows, under their stored names
geex.arrays  the arrays of the settings, such as a map of groups: an .npz file
"""

import io
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geex._results.table.cells import FEATURE_ARRAYS, ROW_ARRAYS, columns_of, index_columns
from geex._stored_names import UnknownName, encoded, restored, why_unstable
from geex.errors import FileError, MissingPackage

if TYPE_CHECKING:
    from geex._results.table.explanation import TableExplanation

# The version of the file.
TABLE_FORMAT = "table/1"
# Keys of the schema's metadata.
FACTS_KEY, ARRAYS_KEY = b"geex", b"geex.arrays"
# Fields that are stored as facts.
STORED_FACTS = ("index_names", "columns", "inputs", "labels", "estimand", "settings", "partial", "seconds")


def write_parquet(table: "TableExplanation", path: Path) -> Path:
    """Write a file beside `path`, and put it there when it is whole."""
    arrow, parquet = pyarrow_modules()
    arrays: dict[str, np.ndarray] = {}
    facts = {name: encoded(getattr(table, name), arrays) for name in STORED_FACTS}
    facts["features"] = None if why_unstable(table.features) else encoded(table.features, arrays)
    facts["failed"] = [[one.number, _plain(one.label), one.message] for one in table.failed]
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)  # type: ignore[arg-type]
    metadata = {FACTS_KEY: json.dumps({"format": TABLE_FORMAT, **facts}).encode(), ARRAYS_KEY: held.getvalue()}
    columns = {name: _column(arrow, column) for name, column in columns_of(table).items()}
    content = arrow.table(columns).replace_schema_metadata(metadata)
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        parquet.write_table(content, part)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
    return path


def read_parquet(path: Path) -> tuple[dict[str, Any], list[list[Any]]]:
    """Return the fields of a `TableExplanation`, and its failed rows."""
    arrow, parquet = pyarrow_modules()
    try:
        with open(path, "rb") as file:
            content = parquet.read_table(file)
        return _restored(content)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except UnknownName as unknown:
        raise FileError(
            f"{path} holds {unknown}, which is not part of this geex. Import the module that defines it.",
            code="file-unknown-name",
        ) from None
    except (arrow.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        raise FileError(
            f"{path} was not written by TableExplanation.to_parquet of this version ({error}).", code="table-unreadable"
        ) from None


def _restored(content: Any) -> tuple[dict[str, Any], list[list[Any]]]:
    metadata = content.schema.metadata or {}
    facts = json.loads(metadata[FACTS_KEY])
    if facts["format"] != TABLE_FORMAT:
        raise ValueError(f"its format is {facts['format']!r}, and this version reads {TABLE_FORMAT!r}")
    with np.load(io.BytesIO(metadata[ARRAYS_KEY]), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    fields = {name: restored(facts[name], arrays) for name in (*STORED_FACTS, "features")}

    def stacked(kind: str, names: list[str]) -> np.ndarray:
        return np.stack([content.column(f"{kind}.{name}").to_numpy() for name in names], axis=1)

    fields |= {kind: stacked(kind, fields["columns"]) for kind in FEATURE_ARRAYS}
    fields |= {name: content.column(name).to_numpy() for name in ROW_ARRAYS}
    levels = [content.column(name).to_pylist() for name in index_columns(len(fields["index_names"]))]
    fields["data"] = stacked("x", fields["inputs"])
    fields["index"] = levels[0] if len(levels) == 1 else list(zip(*levels, strict=True))
    return fields, facts["failed"]


def _column(arrow: Any, column: Any) -> Any:
    """Return an array of Arrow; labels of mixed types as texts."""
    try:
        return arrow.array(column)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError):
        return arrow.array([str(one) for one in column])


def _plain(label: Any) -> Any:
    """Return a label as JSON can hold it."""
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)


def pyarrow_modules() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackage(
            "Parquet files need pyarrow. Run `pip install pyarrow` (the extra `parquet`).", code="pyarrow-missing"
        ) from None
    return pyarrow, pyarrow.parquet
