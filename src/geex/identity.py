"""Which model answers, as far as that can be told without a question, so that a journal never mixes two.

    identity = digest(what the answers depend on: weights, a file, an address, the text whose words are shown)

Models of `geex.models` say it themselves. Of a module its state tells. Of a plain function nothing is known.
"""

import hashlib
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from geex.arrays import host

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def identity(model: Any) -> str:
    """A text that is another one for another model; "" where nothing is known."""
    told = getattr(model, "identity", "")
    if isinstance(told, str) and told:
        return told
    state = getattr(model, "state_dict", None)
    found = state() if callable(state) and not isinstance(model, type) else None
    return digest(type(model), found) if isinstance(found, Mapping) else ""


def digest(*parts: Any) -> str:
    """A short text that is the same for equal parts, in this process and in any other."""
    sha = hashlib.sha256()
    _into(sha.update, parts)
    return sha.hexdigest()[:32]


def _into(write: Callable[[bytes], None], part: Any) -> None:
    """Writes a part: its kind, and what is in it. Of what nothing is known the kind alone."""
    write(f"{_name(part if callable(part) and hasattr(part, '__qualname__') else type(part))}:".encode())
    if isinstance(part, PLAIN):
        write(repr(part).encode() + b";")
    elif hasattr(part, "dtype") and hasattr(part, "shape"):
        write(f"{part.dtype} {tuple(part.shape)} ".encode())
        array = host(part)
        _into(write, array.tolist()) if array.dtype.hasobject else write(np.ascontiguousarray(array).tobytes())
    elif isinstance(part, Mapping):
        for key in part:
            _into(write, (key, part[key]))
    elif isinstance(part, tuple | list):
        write(f"{len(part)} ".encode())
        for entry in part:
            _into(write, entry)
    elif is_dataclass(part) and not isinstance(part, type):
        _into(write, [getattr(part, field.name) for field in fields(part)])
    elif callable(part) and not hasattr(part, "__qualname__"):
        with suppress(Exception):  # pickling runs code of the part's own
            write(pickle.dumps(part, protocol=4))


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
