"""Explanations in files: saved ones, and those that a journal holds."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from geex._explain.estimate import estimate
from geex._results.explanation import Explanation
from geex.cli.input_readers.inputs import input_of
from geex.cli.labels import labels_in, output_of
from geex.cli.options import Preparation
from geex.errors import GeexError, InputError

# The first bytes of an SQLite file, and so of a journal.
SQLITE = b"SQLite format 3\x00"


def explanation_in(path: Path, target: str | None, labels: str | None) -> Explanation:
    """Return the explanation that a file holds, or the estimate from the answers of a journal."""
    names = None if labels is None else labels_in(Path(labels))
    if _is_journal(path):
        return estimate(path, target=output_of(target, names)).named(labels=names)
    explanation = Explanation.load(path).named(labels=names)
    if target is not None and output_of(target, explanation.labels) != explanation.target:
        raise InputError(
            f"--target must be {explanation.target}, the only output in {path}; got {target!r}. A journal holds all "
            "outputs.",
            code="target-not-stored",
        )
    return explanation


def check_journal(journal: str, name: str = "--journal") -> None:
    """Raise InputError unless a journal may be at this place: in an existing folder, in a new file or a journal.

    Parameters
    ----------
    journal : str
        The place.
    name : str
        The argument that names it.
    """
    path = Path(journal)
    if not path.parent.is_dir():
        raise InputError(
            f"{name} must be in an existing folder; there is no folder {str(path.parent)!r}.", code="folder-missing"
        )
    if path.is_dir() or (path.is_file() and path.stat().st_size and not _is_journal(path)):
        wanted = "a journal or a new file" if name.startswith("-") else "a journal that geex explain --journal wrote"
        raise InputError(f"{name} must be {wanted}; {journal} holds something else.", code="journal-other-file")


def _is_journal(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def with_input(explanation: Explanation, options: dict[str, Any]) -> tuple[Explanation, Any]:
    """Return an explanation with the names of its features, and its picture, both from the input file.

    Parameters
    ----------
    explanation : Explanation
        An explanation from a journal.
    options : dict
        The options of the command that began the journal. An input that has changed since is not used.
    """
    x = explanation.explicand
    if options.get("input") is None or x is None:
        return explanation, None
    preparation = Preparation(**{option.name: options[option.name] for option in fields(Preparation)})
    try:
        found = input_of(options["input"], preparation, SimpleNamespace(shape=tuple(x.shape)))
    except (GeexError, OSError):
        return explanation, None
    if not np.array_equal(found.x, x):
        return explanation, None
    return with_names(explanation, found.names), found.picture


def with_names(explanation: Explanation, names: Sequence[str] | None) -> Explanation:
    """Return the explanation with names of its features, if there are as many."""
    size = int(np.prod(explanation.values.shape))
    return explanation.named(names=names if names is not None and len(names) == size else None)
