"""A saved explanation: an .npz file of arrays, and of facts as JSON, with no pickle in it."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geex._problem.features import Elements, Groups, Pixels
from geex._protocols import Features
from geex.errors import FileError

FORMAT = "geex explanation 1"


def write_file(path: Path, facts: dict[str, Any], arrays: dict[str, np.ndarray], features: Features | None) -> Path:
    """Writes a file beside `path` and puts it there when it is whole."""
    kind, groups = (None, np.zeros(0, int)) if features is None else to_facts(features)
    told = np.array(json.dumps({**facts, "features": kind}))
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            np.savez_compressed(file, format=np.array(FORMAT), facts=told, groups=groups, **arrays)  # type: ignore[arg-type]
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
    return path


def read_file(path: Path, wanted: Sequence[str]) -> tuple[dict[str, Any], dict[str, np.ndarray], Features | None]:
    """What `write_file` wrote; `wanted` are the facts and arrays that have to be there."""
    try:
        with open(path, "rb") as file:
            if file.read(2) != b"PK":
                raise FileError(f"{path} is not an explanation saved by geex: it is no .npz file.")
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays_file:
            content = {name: arrays_file[name] for name in arrays_file.files}
        if str(content["format"]) != FORMAT:
            raise FileError(f"{path} is in format {str(content['format'])!r}; this version reads {FORMAT!r}.")
        facts = json.loads(str(content["facts"]))
        missing = [name for name in wanted if name not in facts and name not in content]
        if missing:
            raise KeyError(missing[0])
        return facts, content, from_facts(facts.get("features"), content.get("groups"))
    except (FileError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        raise FileError(f"{path} is not an explanation saved by geex ({type(error).__name__}: {error}).") from error


def to_facts(features: Features) -> tuple[dict[str, Any] | None, np.ndarray]:
    """Features as values that JSON can hold and a map of groups, empty where they are none; None for a stranger's."""
    if isinstance(features, Groups):
        return {"kind": "Groups", "channels": features.channels}, features.map
    if isinstance(features, Elements):
        return {"kind": "Elements", "channels": features.channels, "line": features.line}, np.zeros(0, int)
    if isinstance(features, Pixels):
        return {"kind": "Pixels", "channels": features.channels}, np.zeros(0, int)
    return None, np.zeros(0, int)


def from_facts(facts: dict[str, Any] | None, groups: np.ndarray | None) -> Features | None:
    """The features that `to_facts` described."""
    if facts is None or groups is None:
        return None
    if facts["kind"] == "Groups":
        return Groups(groups, facts["channels"])
    settings = {name: value for name, value in facts.items() if name != "kind"}
    return Pixels(**settings) if facts["kind"] == "Pixels" else Elements(**settings)
