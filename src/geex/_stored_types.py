"""Whether a value from a file is of the type that a dataclass declares.

A file may be damaged, or made by a stranger. An annotation is checked as far as JSON can differ from it: numbers,
texts, enumerations, tuples, lists, classes, and unions of these.
"""

from dataclasses import fields
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin, get_type_hints

# What a forward reference inside a recursive type may stand for.
PLAIN = (NoneType, bool, int, float, str, tuple)


def wrong_field(value: Any) -> str:
    """Return the name of a field of a dataclass whose value is not of its type, or "" where all are."""
    hints: dict[str, Any] = _hints(type(value))  # type: ignore[arg-type]  # a class is hashable
    return next(
        (one.name for one in fields(value) if not matches(getattr(value, one.name), hints.get(one.name, Any))), ""
    )


def matches(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type, as far as the type can be checked."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(matches(value, part) for part in parts)
    if origin is tuple:
        return isinstance(value, tuple) and _entries_match(value, parts)
    if origin is list:
        return isinstance(value, list) and all(matches(entry, parts[0]) for entry in value)
    if isinstance(hint, ForwardRef):
        return isinstance(value, PLAIN)
    return hint is Any or not isinstance(hint, type) or _is_a(value, hint)


def _entries_match(value: tuple[Any, ...], parts: tuple[Any, ...]) -> bool:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return all(matches(entry, parts[0]) for entry in value)
    return len(value) == len(parts) and all(matches(one, part) for one, part in zip(value, parts, strict=True))


def _is_a(value: Any, kind: type) -> bool:
    if kind in (int, float):
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if issubclass(kind, Enum):
        return value in [entry.value for entry in kind]
    return isinstance(value, kind)


@lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, Any]:
    """Return the annotations of a class; {} where they name what only a type checker imports."""
    try:
        return get_type_hints(kind)
    except NameError:
        return {}
