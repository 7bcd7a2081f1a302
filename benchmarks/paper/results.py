"""Results on disk, one JSON line each. They survive a kill and are never measured twice."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Result = dict[str, Any]
Key = tuple[str, str, str, str]


def key(data: str, image: str, method: str, settings: dict[str, Any]) -> Key:
    """Return the key of a result: its case, its method, and everything that its numbers depend on."""
    return data, image, method, json.dumps(settings, sort_keys=True, ensure_ascii=False)


def key_of(result: Result) -> Key:
    return key(result["data"], result["image"], result["method"], result["settings"])


class Results:
    """The results of a folder: read once, added to line by line. Several processes may add to one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "results.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        self.known: dict[Key, Result] = {}
        self.read()

    def read(self) -> None:
        """Read the file, without lines that a kill left incomplete."""
        for result in lines(self.file):
            self.known[key_of(result)] = result

    def has(self, result: Result) -> bool:
        return key_of(result) in self.known

    def add(self, result: Result) -> None:
        """Append a result in one write, so that lines of several processes do not mix."""
        self.known[key_of(result)] = result
        line = json.dumps(result, ensure_ascii=False) + "\n"
        if torn(self.file):
            line = "\n" + line
        descriptor = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def map_file(self, data: str, image: str, method: str) -> Path:
        """Where a case's values are kept that is shown in a picture."""
        return self.folder / "maps" / data / f"{image}.{method}.npy"

    def keep_map(self, data: str, image: str, method: str, values: np.ndarray) -> None:
        """Writes values (height, width), whole or not at all."""
        file = self.map_file(data, image, method)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with part.open("wb") as stream:
            np.save(stream, values.astype(np.float32))
        part.replace(file)


def lines(file: Path) -> Iterator[Result]:
    """The results of a file that are whole."""
    if not file.is_file():
        return
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            result = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(result, dict) and {"data", "image", "method", "settings", "aopc"} <= result.keys():
            yield result


def torn(file: Path) -> bool:
    """Whether the file's last line has no end."""
    if not file.is_file() or file.stat().st_size == 0:
        return False
    with file.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) != b"\n"
