"""--baseline, --features and numbers between commas."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import geex
from geex.errors import FileError, InputError

# Pixels of the colours that --baseline names.
PLAIN_COLOURS = {"black": 0, "white": 255}
# What --baseline may be, for messages.
BASELINE_FORMS = "a number, r,g,b, black, white, blur:KERNEL,SIGMA, mean, background:ROWS or an .npy file"


def baseline_of(
    text: str,
    rows: np.ndarray | None = None,
    channels: int | None = None,
    colour: Callable[[int], tuple[float, ...]] | None = None,
) -> Any:
    """Return the baseline that --baseline names.

    Parameters
    ----------
    text : str
        A number, one number for each channel (r,g,b), black, white, blur or blur:KERNEL,SIGMA, mean, background or
        background:ROWS, or an .npy file.
    rows : ndarray (n, p), optional
        All rows of a table, for their mean or as a background.
    channels : int, optional
        The channel axis of the input.
    colour : callable, optional
        What the preparation of an image makes of a grey pixel of 0 … 255.
    """
    if text in PLAIN_COLOURS:
        if colour is None:
            raise InputError(f"--baseline {text} needs an image as INPUT.", code="baseline-colour-without-image")
        return _uniform(colour(PLAIN_COLOURS[text]), channels)
    name, _, settings = text.partition(":")
    if name == "blur":
        values = _floats(settings or "31,5")
        if len(values) != 2:
            raise InputError(f"--baseline must be {BASELINE_FORMS}; got {text!r}.", code="baseline-unknown")
        return geex.blur(int(values[0]), values[1], channels)
    if text == "mean" or name == "background":
        if rows is None:
            raise InputError(f"--baseline {name} needs a table as INPUT.", code=f"baseline-{name}-without-table")
        return geex.mean(rows) if text == "mean" else geex.background(rows, _count(settings or "100", text))
    if text.endswith(".npy"):
        return array_in(Path(text))
    values = _floats(text)
    if not values:
        raise InputError(f"--baseline must be {BASELINE_FORMS}; got {text!r}.", code="baseline-unknown")
    return _uniform(values, channels)


def _uniform(values: Sequence[float], channels: int | None) -> Any:
    return values[0] if len(values) == 1 else geex.per_channel(values, axis=0 if channels is None else channels)


def _count(text: str, given: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise InputError(f"--baseline must be {BASELINE_FORMS}; got {given!r}.", code="baseline-unknown")
    return int(text)


def features_of(text: str, channels: int | None) -> Any:
    """Return the features that --features names: elements, pixels, or an .npy file with a group for each element."""
    if text.endswith(".npy"):
        return geex.Groups(array_in(Path(text)), channels)
    if text == "pixels":
        if channels is None:
            raise InputError("--features pixels needs an INPUT with channels.", code="pixels-without-channels")
        return geex.Pixels(channels=channels)
    if text != "elements":
        raise InputError(f"--features must be elements, pixels or an .npy file; got {text!r}.", code="features-unknown")
    return geex.Elements(channels=channels)


def array_in(path: Path) -> np.ndarray:
    """Return the array in an .npy file. No code in it is run."""
    try:
        found = np.load(path, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # a damaged header can end in any of them
        raise FileError(f"{path} must be an .npy file; it cannot be read: {error}.", code="npy-unreadable") from None
    if not isinstance(found, np.ndarray):
        raise FileError(f"{path} must hold one array, as numpy.save writes it.", code="npy-several-arrays")
    return found


def numbers_in(text: str, flag: str) -> tuple[float, ...]:
    """Return the numbers between commas."""
    values = _floats(text)
    if not values:
        raise InputError(f"{flag} must be numbers such as 0.485,0.456,0.406; got {text!r}.", code="numbers-expected")
    return tuple(values)


def _floats(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return []
