"""Files of results, by their suffix; `-` is standard output."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from geex._query.retrying_call import Model
from geex._results.explanation import Explanation
from geex.cli.results import json_of
from geex.errors import InputError

# Suffixes of pictures.
PICTURES = (".png", ".svg", ".pdf")
# Suffixes of all results.
SUFFIXES = (".html", *PICTURES, ".npz", ".json")


def output_paths(outputs: Sequence[str], suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """Return the files to write. Raise InputError for an unknown suffix or a missing folder, before any query."""
    paths = [Path(f"-{name.removeprefix('-') or '.json'}") if is_stream(name) else Path(name) for name in outputs]
    for path in paths:
        if path.suffix.lower() not in suffixes:
            raise InputError(f"--output must end in {', '.join(suffixes)}; got {path.name!r}.", code="suffix-unknown")
        if not path.parent.is_dir():
            raise InputError(
                f"--output must be in an existing folder; there is no folder {str(path.parent)!r}.",
                code="folder-missing",
            )
        if path.is_dir():
            raise InputError(f"--output must be a file; {str(path)!r} is a folder.", code="output-is-a-folder")
    return paths


def check_not_read(
    written: Sequence[Path], read: Iterable[str | os.PathLike[str] | None], flag: str = "--output"
) -> None:
    """Raise InputError if a file that a command writes is one that it reads, under any name."""
    for path in written:
        for name in read:
            if name is not None and not is_stream(path.name) and _same(path, Path(name)):
                raise InputError(
                    f"{flag} must be another file than those that the command reads; {str(path)!r} is {str(name)!r}.",
                    code="output-is-read",
                )


def _same(one: Path, other: Path) -> bool:
    """Return whether two names are one file: also by links, and for files that do not exist yet."""
    try:
        if one.exists() and other.exists():
            return one.samefile(other)
        return one.resolve() == other.resolve()
    except (OSError, ValueError, RuntimeError):  # no name of a file: an address, or module:name
        return False


def is_stream(name: str) -> bool:
    """Return whether a name stands for standard output: -, -.html and so on."""
    return name == "-" or (name.startswith("-.") and "/" not in name)


Names = tuple[str | None, str | None]  # of the input and of the model


def write(
    explanation: Explanation,
    path: Path,
    image: Any,
    model: Model | None,
    call: str | None,
    names: Names = (None, None),
) -> None:
    """Write a result into its file. For standard output it goes through a temporary file."""
    if not is_stream(path.name):
        _write_file(explanation, path, image, model, call, names)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"out{path.suffix}"
        _write_file(explanation, file, image, model, call, names)
        sys.stdout.flush()
        sys.stdout.buffer.write(file.read_bytes())
        sys.stdout.buffer.flush()


def _write_file(
    explanation: Explanation, path: Path, image: Any, model: Model | None, call: str | None, names: Names
) -> None:
    kind = path.suffix.lower()
    if kind == ".html":
        explanation.report(path, image=image, model=model, call=call, input_name=names[0], model_name=names[1])
    elif kind in PICTURES:
        explanation.plot(image=image).savefig(path, dpi=150)
    elif kind == ".npz":
        explanation.save(path)
    else:
        path.write_text(json.dumps(json_of(explanation, True), allow_nan=False) + "\n", encoding="utf-8")
