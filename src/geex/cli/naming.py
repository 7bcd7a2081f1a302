"""Outputs by their names: the labels file, and --target by index or label."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geex._explain.explain import estimate
from geex._problem.outputs import labelled
from geex._results.explanation import Explanation
from geex.errors import FileError, InputError

SQLITE = b"SQLite format 3\x00"


def labels_in(path: Path) -> list[str]:
    """A label on every line, or JSON: a list of them, or an object by index, as published for ImageNet."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix != ".json":
            return [line.strip() for line in text.strip("\n").split("\n")]
        found: Any = json.loads(text)
        if isinstance(found, dict):
            found = [found[str(i)] for i in range(len(found))]
        return [str(entry[-1] if isinstance(entry, list) else entry) for entry in found]
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, IndexError) as error:
        raise FileError(
            f"{path} cannot be read as labels ({type(error).__name__}: {error}); wanted one on every line, or a JSON "
            "list."
        ) from None


def chosen(text: str | None, labels: Sequence[str] | None) -> int | None:
    """The output that --target names: a label, in any case, or an index."""
    if text is None:
        return None
    if text.lower() not in [label.lower() for label in labels or ()]:
        try:
            return int(text)
        except ValueError:
            pass
    if text == "all":
        raise InputError("--target is 'all'; the command line explains one output at a time, geex.explain several.")
    if labels is None:
        raise InputError(
            f"--target is {text!r} and the names of the outputs are not known; give an index or --labels FILE."
        )
    return labelled(text, labels)


def shown(path: Path, target: str | None, labels: str | None) -> Explanation:
    """The explanation in a file: saved, or made of what a journal holds."""
    names = None if labels is None else labels_in(Path(labels))
    with path.open("rb") as file:
        journal = file.read(len(SQLITE)) == SQLITE
    if journal:
        return estimate(path, target=chosen(target, names)).named(labels=names)
    explanation = Explanation.load(path).named(labels=names)
    if target is not None and chosen(target, explanation.labels) != explanation.target:
        raise InputError(
            f"{path} holds output {explanation.target} alone; its answers are in the journal, if it had one."
        )
    return explanation
