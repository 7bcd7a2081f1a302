"""What a setting has to be: numbers of any library, but no bool; paths."""

import os
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from geex.errors import GeexError


def is_whole(value: Any) -> bool:
    """Whether the value is a whole number, Python's or NumPy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether the value is a finite real number, Python's or NumPy's."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def whole(name: str, value: Any, least: int, kind: type[GeexError]) -> int:
    """The value as an int, where it is a whole number of at least `least`."""
    if not is_whole(value) or value < least:
        raise kind(f"{name} is {value!r}; wanted a whole number of at least {least}.")
    return int(value)


def positive(name: str, value: Any, kind: type[GeexError], meaning: str = "a positive number") -> float:
    """The value as a float, where it is a finite number above 0."""
    if not is_number(value) or not value > 0:
        raise kind(f"{name} is {value!r}; wanted {meaning}.")
    return float(value)


def truth(name: str, value: Any, kind: type[GeexError]) -> bool:
    """The value, where it is True or False."""
    if not isinstance(value, bool):
        raise kind(f"{name} is {value!r}; wanted True or False.")
    return value


def file_path(name: str, value: Any, kind: type[GeexError]) -> Path:
    """The value as a path, where it is one."""
    if not isinstance(value, str | os.PathLike):
        raise kind(f"{name} is {value!r}; wanted the path of a file.")
    return Path(value)
