"""Names of outputs: the file of --labels, and --target by index or label."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geex._problem.outputs import label_index
from geex.errors import FileError, InputError


def labels_in(path: Path) -> list[str]:
    """Return the labels in a file: one on each line, or a JSON list, or a JSON object by index as for ImageNet."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix != ".json":
            return [line.strip() for line in text.strip("\n").split("\n")]
        found: Any = json.loads(text)
        if isinstance(found, dict):
            found = [found[str(i)] for i in range(len(found))]
        return [str(entry[-1] if isinstance(entry, list) else entry) for entry in found]
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise FileError(
            f"{path} must hold labels, one on each line or as a JSON list; it cannot be read: "
            f"{type(error).__name__}: {error}.",
            code="labels-unreadable",
        ) from None


def output_of(text: str | None, labels: Sequence[str] | None) -> int | None:
    """Return the output that --target names: a label, in any case, or an index."""
    if text is None:
        return None
    if text.lower() not in [label.lower() for label in labels or ()]:
        try:
            return int(text)
        except ValueError:
            pass
    if text == "all":
        raise InputError(
            "--target must be one output; got 'all'. In Python, geex.explain explains several.", code="several-targets"
        )
    if labels is None:
        raise InputError(
            f"--target must be an index, since the outputs have no labels; got {text!r}. Name them with --labels FILE.",
            code="labels-missing",
        )
    return label_index(text, labels)
