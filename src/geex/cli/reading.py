"""INPUT on the command line: an image, an .npy file, or a row of a table; `-` is standard input."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from geex._explain.defaults import looks_like_a_batch
from geex._problem.foreign_model import Carried
from geex.cli.methods import numbers
from geex.cli.options import Wanted
from geex.cli.pictures import ORDERS, Preprocessing, image, suited
from geex.cli.tables import table
from geex.errors import FileError, InputError

TABLES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True, eq=False)
class Subject:
    """What is explained: x; the picture to show, for images; the names and all rows, for tables.

    channels: the axis of x that holds channels. notes: what was done to the input and may surprise.
    """

    x: np.ndarray
    picture: np.ndarray | None = None
    names: list[str] | None = None
    rows: np.ndarray | None = None
    channels: int | None = None
    notes: list[str] = field(default_factory=list)


def subject(name: str, wanted: Wanted, model: Any) -> Subject:
    """What INPUT holds, in the form that the model wants."""
    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    called = "standard input" if name == "-" else name
    if not content:
        raise FileError(f"{called} is empty.")
    shape = Carried(model).shape
    if content.startswith(b"\x93NUMPY"):
        return _array(content, called, shape)
    if content.startswith(b"PAR1") or Path(name).suffix.lower() in TABLES or (name == "-" and _is_text(content)):
        return _row(content, called, wanted, Carried(model).names)
    if Path(name).suffix.lower() == ".npy":
        raise FileError(f"{called} is no .npy file.")
    return _image(content, called, wanted, shape)


def _is_text(content: bytes) -> bool:
    return b"\x00" not in content[:4096] and b"\n" in content


def _array(content: bytes, name: str, shape: tuple[int, ...] | None) -> Subject:
    import io

    try:
        x = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileError(f"{name} cannot be read as an .npy file ({error}).") from None
    if x.shape == (1, *shape) if shape is not None else looks_like_a_batch(x.shape):
        return Subject(
            x[0], channels=_channels(x.shape[1:]), notes=[f"{name} has a batch axis of 1, which is taken off"]
        )
    return Subject(x, channels=_channels(x.shape))


def _channels(shape: tuple[int, ...]) -> int | None:
    """The axis of an array's channels, where it is three-dimensional and one of its ends is small."""
    if len(shape) != 3:
        return None
    return next((axis for axis in (0, 2) if shape[axis] <= 4), None)


def _row(content: bytes, name: str, wanted: Wanted, keep: Sequence[str] | None) -> Subject:
    rows, names = table(content, name, wanted.drop or (), keep)
    if not -len(rows) <= wanted.row < len(rows):
        raise InputError(f"--row is {wanted.row} and {name} has rows 0 … {len(rows) - 1}.")
    x = rows[wanted.row]
    missing = [column for column, value in zip(names, x, strict=True) if not np.isfinite(value)]
    if missing:
        raise InputError(f"row {wanted.row} of {name} has no number in column {missing[0]!r}; fill it, or --drop it.")
    whole = rows[np.isfinite(rows).all(axis=1)]
    return Subject(x, names=names, rows=whole)


def _image(content: bytes, name: str, wanted: Wanted, shape: tuple[int, ...] | None) -> Subject:
    found, notes = image(content, name)
    steps = preprocessing(wanted, shape)
    x, picture = steps(found)
    return Subject(x, picture=picture, channels=steps.axis, notes=[f"{name} {note}" for note in notes])


def preprocessing(wanted: Wanted, shape: tuple[int, ...] | None) -> Preprocessing:
    """What the model's shape says, with what the options say in its place."""
    steps = Preprocessing() if shape is None or (wanted.size and wanted.order) else suited(shape)
    if wanted.order is not None:
        if wanted.order not in ORDERS:
            raise InputError(f"--order is {wanted.order!r}; wanted {', '.join(ORDERS)}.")
        steps = replace(steps, order=wanted.order, channels=1 if wanted.order == "hw" else steps.channels)
    if wanted.grey:
        steps = replace(steps, channels=1)
    if wanted.size is not None:
        steps = replace(steps, size=_size(wanted.size))
    given = {name: numbers(text, f"--{name}") for name in ("mean", "std") if (text := getattr(wanted, name))}
    if 0.0 in given.get("std", ()):
        raise InputError("--std is 0, by which nothing can be divided.")
    return replace(steps, scale=wanted.scale, squeeze=wanted.squeeze, **given)  # type: ignore[arg-type]


def _size(text: str) -> tuple[int, int]:
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise InputError(f"--size is {text!r}; wanted pixels, such as 224, or height x width, such as 240x320.")
    return int(parts[0]), int(parts[-1])
