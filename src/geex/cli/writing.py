"""Where results go: files by their suffix, or standard output as `-`."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geex._query.retrying_call import Model
from geex._results.explanation import Explanation
from geex.cli.told import plain
from geex.errors import InputError

PICTURES = (".png", ".svg", ".pdf")
SUFFIXES = (".html", *PICTURES, ".npz", ".json")


def checked(outputs: Sequence[str], suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """The files to write, refused before anything is asked: an unknown suffix, a folder that is not there."""
    paths = [Path(f"-{name.removeprefix('-') or '.json'}") if is_stream(name) else Path(name) for name in outputs]
    for path in paths:
        if path.suffix.lower() not in suffixes:
            raise InputError(
                f"--output is {path.name!r}; wanted a name that ends in {', '.join(suffixes)}, or -.html … for "
                "standard output."
            )
        if not path.parent.is_dir():
            raise InputError(f"--output is {str(path)!r} and there is no folder {str(path.parent)!r}.")
        if path.is_dir():
            raise InputError(f"--output is {str(path)!r}, which is a folder.")
    return paths


def is_stream(name: str) -> bool:
    """`-`, or `-.html` and so on: standard output."""
    return name == "-" or (name.startswith("-.") and "/" not in name)


def write(explanation: Explanation, path: Path, image: Any, model: Model | None, call: str | None) -> None:
    """One result into its file; to standard output by way of a file that is gone afterwards."""
    if not is_stream(path.name):
        _written(explanation, path, image, model, call)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"out{path.suffix}"
        _written(explanation, file, image, model, call)
        sys.stdout.flush()
        sys.stdout.buffer.write(file.read_bytes())
        sys.stdout.buffer.flush()


def _written(explanation: Explanation, path: Path, image: Any, model: Model | None, call: str | None) -> None:
    kind = path.suffix.lower()
    if kind == ".html":
        explanation.report(path, image=image, model=model, call=call)
    elif kind in PICTURES:
        explanation.plot(image=image).savefig(path, dpi=150)
    elif kind == ".npz":
        explanation.save(path)
    else:
        path.write_text(json.dumps(plain(explanation, True), allow_nan=False) + "\n", encoding="utf-8")
