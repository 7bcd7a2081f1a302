"""Digests of objects: equal for equal objects, in every process, and different for different ones.

    digest(thing) = sha256(its kind, and its content: numbers, bytes, entries, attributes, code)

An object counts by its attributes, not by strides, padding, caches of C or addresses. Objects of geex count by their
stored names and declared values, so that their classes may move.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._stored_names import is_stored, name_of, values_of

# Types that count by their repr.
PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None), np.generic, range)
# Callables that count by the arguments they were made with.
MADE = (partial, attrgetter, itemgetter, methodcaller)
# An address in a repr: another one in every process.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Attributes that hold addresses (of scikit-learn's vectorizers).
ADDRESS_ATTRIBUTES = ("_stop_words_id",)

Write = Callable[[bytes], Any]


def digest(*parts: Any) -> str:
    """Return 32 hexadecimal digits that depend on the parts alone."""
    sha = hashlib.sha256()
    _into(sha.update, parts, ())
    return sha.hexdigest()[:32]


def _into(write: Write, part: Any, above: tuple[int, ...]) -> None:
    """Write the kind of a part and its content. above: the ids of the parts that contain it."""
    kind = type(part)
    write(f"{name_of(kind)};".encode())
    if id(part) in above:  # a part that contains itself
        write(b"again;")
    elif isinstance(part, PLAIN_TYPES):
        _text(write, repr(part))
    elif isinstance(part, tuple | list):
        write(f"{len(part)} ".encode())
        for entry in part:
            _into(write, entry, (*above, id(part)))
    elif hasattr(part, "dtype") and hasattr(part, "shape") and not isinstance(part, type):
        _array(write, part, above)
    else:
        held = _held(part)
        _text(write, held) if isinstance(held, str) else _into(write, held, (*above, id(part)))


def _array(write: Write, array: Any, above: tuple[int, ...]) -> None:
    write(f"{array.dtype} {tuple(array.shape)} ".encode())
    try:
        content = host(array)
    except (TypeError, RuntimeError):  # quantised, sparse, or without storage: only its repr is available
        _text(write, repr(array))
        return
    if content.dtype.names is not None:  # bytes between the fields are arbitrary
        _into(write, [content[name] for name in content.dtype.names], above)
    elif content.dtype.hasobject:
        _into(write, content.tolist(), above)
    else:
        write(np.ascontiguousarray(content).tobytes())


def _held(part: Any) -> list[Any] | tuple[Any, ...] | str:
    """Return the content of a part: entries, or a text."""
    if is_stored(part):
        return list(values_of(part, brief=True).items())
    if isinstance(part, set | frozenset):
        return sorted(digest(entry) for entry in part)
    if isinstance(part, Mapping):
        return [(key, part[key]) for key in part]
    if isinstance(part, CodeType):
        return (part.co_code, part.co_consts, part.co_names)
    if isinstance(part, FunctionType):
        return (part.__module__, part.__qualname__, part.__code__, part.__defaults__, part.__closure__)
    if isinstance(part, MethodType):
        return (part.__func__, part.__self__)
    if isinstance(part, CellType):
        return (part.cell_contents,) if part != CellType() else ()
    if isinstance(part, MADE):
        return tuple(part.__reduce__())[1:]
    if hasattr(part, "__qualname__"):
        return f"{part.__module__}.{part.__qualname__}"
    return _attributes(part)


def _attributes(part: Any) -> list[Any] | str:
    """Return the attributes of an object by name; of one without any its repr, unless that has an address in it."""
    state = part.__getstate__()
    parts = [entry for entry in (state if isinstance(state, tuple) else (state,)) if isinstance(entry, Mapping)]
    found = [
        (name, entry[name]) for entry in parts for name in sorted(entry, key=str) if name not in ADDRESS_ATTRIBUTES
    ]
    text = "" if found else repr(part)
    return found if found or ADDRESS.search(text) else text


def _text(write: Write, text: str) -> None:
    write(text.encode("utf-8", "backslashreplace") + b";")
