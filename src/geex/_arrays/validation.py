"""Checks of single settings: whole numbers, positive numbers, switches, paths.

Every check takes the name of the setting, and raises the error class that it is given. The code of the error is the
name and the mistake: `whole("queries", 0, 1, BudgetError)` raises a BudgetError with the code "queries-too-small".
"""

import os
import re
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from geex.errors import GeexError

LONGEST = 40  # characters of a value's repr in a message; a longer one is replaced by the value's type


def subject(name: str) -> str:
    """Return a name as the first words of a sentence: identifiers in backticks, other words with a capital letter."""
    return f"`{name}`" if name.isidentifier() else name[:1].upper() + name[1:]


def code_name(name: str) -> str:
    """Return a name as the first part of an error code.

    >>> code_name("the baseline's values")
    'baseline-values'
    """
    words = re.sub(r"^(the|an?) |'s\b", "", name.lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def shown(value: Any) -> str:
    """Return a value as a message shows it: its repr where that is short, else its type."""
    if value is None or isinstance(value, bool | int | float | str | bytes | tuple | list | dict | type):
        text = repr(value)
        if len(text) <= LONGEST:
            return text
    return f"an object of type {type(value).__qualname__}"


def is_whole(value: Any) -> bool:
    """Return whether the value is a whole number, of Python or of NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether the value is a finite real number, of Python or of NumPy."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def whole(name: str, value: Any, least: int, kind: type[GeexError]) -> int:
    """Return the value as an int. Raise `kind` unless it is a whole number of at least `least`."""
    if not is_whole(value) or value < least:
        mistake = "too-small" if is_whole(value) else "not-whole"
        raise kind(
            f"{subject(name)} must be a whole number of at least {least}; got {shown(value)}.",
            code=f"{code_name(name)}-{mistake}",
        )
    return int(value)


def positive(name: str, value: Any, kind: type[GeexError], meaning: str = "a positive number") -> float:
    """Return the value as a float. Raise `kind` unless it is a finite number above 0."""
    if not is_number(value) or not value > 0:
        raise kind(f"{subject(name)} must be {meaning}; got {shown(value)}.", code=f"{code_name(name)}-not-positive")
    return float(value)


def share(name: str, value: Any, kind: type[GeexError], whole: bool = True) -> float:
    """Return the value as a float. Raise `kind` unless it is above 0 and at most 1, or below 1 if `whole` is False."""
    if not is_number(value) or not 0 < value <= 1 or (value == 1 and not whole):
        end = "at most 1" if whole else "below 1"
        raise kind(
            f"{subject(name)} must be a number above 0 and {end}; got {shown(value)}.",
            code=f"{code_name(name)}-not-a-share",
        )
    return float(value)


def truth(name: str, value: Any, kind: type[GeexError]) -> bool:
    """Return the value. Raise `kind` unless it is True or False."""
    if not isinstance(value, bool):
        raise kind(f"{subject(name)} must be True or False; got {shown(value)}.", code=f"{code_name(name)}-not-boolean")
    return value


def file_path(name: str, value: Any, kind: type[GeexError]) -> Path:
    """Return the value as a path. Raise `kind` unless it is one."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str) or "\0" in os.fspath(value):
        raise kind(
            f"{subject(name)} must be the path of a file; got {shown(value)}.", code=f"{code_name(name)}-not-a-path"
        )
    return Path(value)
