"""INPUT on the command line: an image, an .npy file, or a row of a table; `-` is standard input."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from geex._explain.defaults import looks_like_a_batch
from geex._problem.foreign_model import Carried
from geex.cli.baselines import numbers_in
from geex.cli.input_readers.images import ORDERS, Preprocessing, image_in, preprocessing_for
from geex.cli.input_readers.tables import table_in
from geex.cli.options import Preparation
from geex.errors import FileError, InputError

# Suffixes of tables.
TABLES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True, eq=False)
class Input:
    """An input that was read.

    Attributes
    ----------
    x : ndarray
        The input in the form of the model.
    picture : ndarray (h, w, 3), optional
        The picture to show, for images.
    names : list of str, optional
        The names of the columns, for tables.
    rows : ndarray (n, p), optional
        All complete rows, for tables.
    channels : int, optional
        The axis of x that holds channels.
    colour : callable, optional
        What a grey pixel of 0 … 255 becomes in x, for images.
    notes : list of str
        Changes that may surprise, such as a rotation.
    """

    x: np.ndarray
    picture: np.ndarray | None = None
    names: list[str] | None = None
    rows: np.ndarray | None = None
    channels: int | None = None
    colour: Callable[[int], tuple[float, ...]] | None = None
    notes: list[str] = field(default_factory=list)


def input_of(name: str, preparation: Preparation, model: Any) -> Input:
    """Return what INPUT holds, in the form of the model."""
    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    title = "standard input" if name == "-" else name
    if not content:
        raise FileError(f"{title} must not be empty.", code="input-empty")
    shape = Carried(model).shape
    if content.startswith(b"\x93NUMPY"):
        return _array(content, title, shape)
    if content.startswith(b"PAR1") or Path(name).suffix.lower() in TABLES or (name == "-" and _is_text(content)):
        return _row(content, title, preparation, Carried(model).names)
    if Path(name).suffix.lower() == ".npy":
        raise FileError(f"{title} must be an .npy file, as numpy.save writes it.", code="npy-unreadable")
    return _image(content, title, preparation, shape)


def _is_text(content: bytes) -> bool:
    return b"\x00" not in content[:4096] and b"\n" in content


def _array(content: bytes, name: str, shape: tuple[int, ...] | None) -> Input:
    import io

    try:
        x = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # a damaged header can end in any of them
        raise FileError(f"{name} must be an .npy file; it cannot be read: {error}.", code="npy-unreadable") from None
    if x.shape == (1, *shape) if shape is not None else looks_like_a_batch(x.shape):
        return Input(x[0], channels=_channels(x.shape[1:]), notes=[f"{name} has a batch axis of 1, which is removed"])
    return Input(x, channels=_channels(x.shape))


def _channels(shape: tuple[int, ...]) -> int | None:
    """Return the axis of an array's channels: the first or last of three, if it is short."""
    if len(shape) != 3:
        return None
    return next((axis for axis in (0, 2) if shape[axis] <= 4), None)


def _row(content: bytes, name: str, preparation: Preparation, keep: Sequence[str] | None) -> Input:
    rows, names = table_in(content, name, preparation.drop or (), keep)
    if not -len(rows) <= preparation.row < len(rows):
        raise InputError(
            f"--row must be one of the rows 0 … {len(rows) - 1} of {name}; got {preparation.row}.", code="row-missing"
        )
    x = rows[preparation.row]
    missing = [column for column, value in zip(names, x, strict=True) if not np.isfinite(value)]
    if missing:
        raise InputError(
            f"Row {preparation.row} of {name} must have a number in each column; {missing[0]!r} has none. Fill it, or "
            f"use --drop {missing[0]!r}.",
            code="cell-empty",
        )
    complete = rows[np.isfinite(rows).all(axis=1)]
    return Input(x, names=names, rows=complete)


def _image(content: bytes, name: str, preparation: Preparation, shape: tuple[int, ...] | None) -> Input:
    found, notes = image_in(content, name)
    steps = preprocessing_of(preparation, shape)
    x, picture = steps(found)
    told = [f"{name} {note}" for note in notes]
    return Input(x, picture=picture, channels=steps.axis, colour=steps.plain, notes=told)


def preprocessing_of(preparation: Preparation, shape: tuple[int, ...] | None) -> Preprocessing:
    """Return the preprocessing for the model's shape, with the options in its place."""
    steps = Preprocessing() if shape is None or (preparation.size and preparation.order) else preprocessing_for(shape)
    if preparation.order is not None:
        if preparation.order not in ORDERS:
            raise InputError(
                f"--order must be one of {', '.join(ORDERS)}; got {preparation.order!r}.", code="order-unknown"
            )
        steps = replace(steps, order=preparation.order, channels=1 if preparation.order == "hw" else steps.channels)
    if preparation.grey:
        steps = replace(steps, channels=1)
    if preparation.size is not None:
        steps = replace(steps, size=_size(preparation.size))
    texts = {"mean": preparation.mean, "std": preparation.std}
    given = {name: numbers_in(text, f"--{name}") for name, text in texts.items() if text}
    if 0.0 in given.get("std", ()):
        raise InputError("--std must not be 0.", code="std-zero")
    return replace(steps, scale=preparation.scale, squeeze=preparation.squeeze, **given)  # type: ignore[arg-type]


def _size(text: str) -> tuple[int, int]:
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise InputError(
            f"--size must be pixels, such as 224, or height x width, such as 240x320; got {text!r}.", code="size-form"
        )
    return int(parts[0]), int(parts[-1])
