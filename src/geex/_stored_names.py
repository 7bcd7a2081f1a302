"""Names and values that are stored on disk.

A file outlives the code that wrote it. What it holds therefore has a name that is registered beside the class, with a
version ("GEEX/1"), and the values that the class takes when it is made. Modules, class names and reprs may change.

    encoded(GEEX(sigma=0.5))  ->  {"kind": "GEEX/1", "with": {"sigma": 0.5, …}}  ->  restored(…)

What is compared (`brief`: fingerprints and keys) leaves out values that are at their default, so that a new setting
changes no fingerprint as long as it is not used. What is kept to be restored holds all of them.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from geex._stored_types import wrong_field

Kind = TypeVar("Kind", bound=type)

# The class of each registered name.
_CLASSES: dict[str, type] = {}
# The registered name of each class.
_NAMES: dict[type, str] = {}


class Storable:
    """Base of the classes that a file may name by their module, without a registered name."""


class Unstable(Exception):
    """A value that has no stable form, in words."""


class UnknownName(Exception):
    """A stored name that no class in this process has."""


def stored(name: str) -> Callable[[Kind], Kind]:
    """Give a dataclass the name under which files hold it.

    Parameters
    ----------
    name
        A name and a version, such as "acme.Student/1". Take the next version when old values mean something else.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @stored("docs.Shift/1")
    ... @dataclass(frozen=True)
    ... class Shift:
    ...     by: float = 1.0
    >>> encoded(Shift(2.0))
    {'kind': 'docs.Shift/1', 'with': {'by': 2.0}}
    """

    def register(kind: Kind) -> Kind:
        other = _CLASSES.get(name)
        if other is not None and _place(other) != _place(kind):
            raise ValueError(f"the stored name {name!r} is taken by {_place(other)}; take another name or version.")
        _CLASSES[name], _NAMES[kind] = kind, name
        return kind

    return register


def stored_names() -> dict[str, type]:
    """Return every registered name and its class."""
    return dict(_CLASSES)


def name_of(kind: type) -> str:
    """Return the registered name of a class, or the place of one that has none."""
    return _NAMES.get(kind, _place(kind))


def is_stored(value: Any) -> bool:
    """Return whether the class of a value has a registered name."""
    return type(value) in _NAMES


def values_of(value: Any, brief: bool = False) -> dict[str, Any]:
    """Return the declared values of a dataclass: what it takes when it is made."""
    own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return {name: one for name, one in own.items() if not (brief and _is_default(value, name, one))}


def encoded(value: Any, arrays: dict[str, np.ndarray] | None = None, brief: bool = False) -> Any:
    """Return the value as JSON can hold it.

    Parameters
    ----------
    value
        A plain value, an array, or a dataclass of such values.
    arrays
        Takes the arrays, by name. None: an array is represented by its digest, which cannot be restored.
    brief
        Leave out declared values that are at their default.

    Raises
    ------
    Unstable
        Part of the value has no form that is the same in another process.
    """
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple | list):
        return {"list" if isinstance(value, list) else "tuple": [encoded(entry, arrays, brief) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[encoded(part, arrays, brief) for part in item] for item in value.items()]}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return _array(value, arrays)
    if is_dataclass(value) and not isinstance(value, type):
        own = values_of(value, brief)
        return {
            "kind": name_of(type(value)),
            "with": {name: encoded(one, arrays, brief) for name, one in own.items()},
        }
    if callable(value) and "<" not in getattr(value, "__qualname__", "<"):
        return {"function": _place(value)}
    raise Unstable(f"{_place(type(value))} is no dataclass" if not callable(value) else f"{value!r} has no name")


def restored(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what `encoded` wrote.

    Raises
    ------
    UnknownName
        A class or function is not part of geex, and the module that holds it is not imported.
    Exception
        The value is not what `encoded` writes. The class of a user may raise any error.
    """
    if not isinstance(value, dict):
        return value
    if "bytes" in value:
        return bytes.fromhex(value["bytes"])
    if "list" in value or "tuple" in value:
        entries = [restored(entry, arrays) for entry in value["list" if "list" in value else "tuple"]]
        return entries if "list" in value else tuple(entries)
    if "dict" in value:
        return {restored(key, arrays): restored(one, arrays) for key, one in value["dict"]}
    if "array" in value:
        return arrays[value["array"]]
    if "kind" in value:
        kind = class_of(value["kind"])
        taken = {field.name for field in fields(kind) if field.init}
        own = {name: restored(one, arrays) for name, one in value["with"].items()}
        if unknown := set(own) - taken:
            raise UnknownName(f"{value['kind']} with {sorted(unknown)[0]!r}")
        made = kind(**own)
        if kind in _NAMES and (wrong := wrong_field(made)):
            raise TypeError(f"{value['kind']} has a {wrong} of another type")
        return made
    raise UnknownName(str(value.get("function", value)))


def class_of(name: str) -> Any:
    """Return the dataclass with this stored name.

    A user's own class must be imported already, and an extension of geex: no file imports code, or makes other objects.
    """
    if name in _CLASSES:
        return _CLASSES[name]
    module, _, place = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in place.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, Storable) and is_dataclass(found) and found not in _NAMES):
        raise UnknownName(name)
    return found


def fingerprint(facts: Any, arrays: Iterable[np.ndarray] = ()) -> str:
    """Return a digest of declared values and arrays. Values that have no stable form count as themselves: they make a
    fingerprint that holds in this process only."""
    try:
        text = json.dumps(encoded(facts, brief=True), sort_keys=True)
    except Unstable:
        text = f"in this process alone: {facts!r}"
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(_digest(array).encode())
    return digest.hexdigest()


def why_unstable(value: Any) -> str:
    """Return why a value has no stable form, or "" where it has one."""
    try:
        encoded(value, brief=True)
    except Unstable as reason:
        return str(reason)
    return ""


def _array(array: np.ndarray, arrays: dict[str, np.ndarray] | None) -> dict[str, str]:
    if arrays is None:
        return {"digest": _digest(array)}
    name = f"array {len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _digest(array: np.ndarray) -> str:
    content = f"{array.shape} {array.dtype.str} ".encode() + np.ascontiguousarray(array).tobytes()
    return hashlib.sha256(content).hexdigest()


def _is_default(owner: Any, name: str, value: Any) -> bool:
    """Return whether a declared value is what its class takes where none is given."""
    field: Field[Any] = type(owner).__dataclass_fields__[name]
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    if default is MISSING or type(default) is not type(value):
        return False
    try:
        return bool(encoded(default, brief=True) == encoded(value, brief=True))
    except Unstable:
        return default is value


def _place(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"
