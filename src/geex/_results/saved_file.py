"""A saved explanation: an .npz file of arrays, and of facts as JSON, with no pickle in it."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from geex._protocols import Features
from geex._stored_names import UnknownName, encoded, restored, why_unstable
from geex.errors import FileError

# The version of saved explanations.
FILE_FORMAT = "explanation/1"


def write_file(path: Path, facts: dict[str, Any], arrays: dict[str, np.ndarray], features: Features | None) -> Path:
    """Writes a file beside `path` and puts it there when it is whole."""
    arrays = dict(arrays)
    settings = {name: encoded(fact, arrays) for name, fact in {**facts, "features": _storable(features)}.items()}
    told = np.array(json.dumps(settings))
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            np.savez_compressed(file, format=np.array(FILE_FORMAT), facts=told, **arrays)  # type: ignore[arg-type]
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
    return path


def read_file(path: Path, wanted: Sequence[str]) -> tuple[dict[str, Any], dict[str, np.ndarray], Features | None]:
    """What `write_file` wrote; `wanted` are the facts and arrays that have to be there."""
    with readable(path):
        with open(path, "rb") as file:
            if file.read(2) != b"PK":
                raise FileError(
                    f"{path} is not an explanation saved by geex: it is no .npz file.", code="file-no-explanation"
                )
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays_file:
            content = {name: arrays_file[name] for name in arrays_file.files}
        if str(content["format"]) != FILE_FORMAT:
            raise FileError(
                f"{path} is in format {str(content['format'])!r}; this version reads {FILE_FORMAT!r}.",
                code="file-format",
            )
        facts = {name: restored(fact, content) for name, fact in json.loads(str(content["facts"])).items()}
        missing = [name for name in wanted if name not in facts and name not in content]
        if missing:
            raise KeyError(missing[0])
        return facts, content, facts.pop("features", None)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise FileError for whatever a damaged or crafted file leads to."""
    try:
        yield
    except UnknownName as unknown:
        raise FileError(
            f"{path} holds {unknown}, which is not part of this geex. Import the module that defines it, or load the "
            "file with the version that saved it.",
            code="file-unknown-name",
        ) from None
    except (FileError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        raise FileError(
            f"{path} is not an explanation saved by geex ({type(error).__name__}: {error}).", code="file-damaged"
        ) from error


def _storable(features: Features | None) -> Features | None:
    """Return the features, or None where they have no stable form: they are not needed to read the values."""
    return None if why_unstable(features) else features
