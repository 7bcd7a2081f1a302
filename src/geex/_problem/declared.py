"""Settings as values that can be compared, shown as Python, and written to a file.

A number, text or tuple is itself. An object of a dataclass is the `Call` that makes it. An array, a function or an
object of another class is `Unnamed`: what it is can be shown, and it cannot be made again.
"""

from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import singledispatch
from numbers import Integral, Real
from typing import Any, Union

import numpy as np

from geex._stored_names import stored

Value = Union[None, bool, int, float, str, tuple["Value", ...], "Call", "Unnamed"]


@stored("unnamed/1")
@dataclass(frozen=True)
class Unnamed:
    """What has no name. text: what it is. name: the variable that stands for it in code."""

    text: str
    name: str = "value"

    def __str__(self) -> str:
        return self.text

    def code(self, public: dict[str, str] | None = None) -> str:
        """Return the variable that stands for it."""
        return self.name


@stored("call/1")
@dataclass(frozen=True)
class Call:
    """The call that makes an object: the name and module of its class, and arguments by place and by name."""

    name: str
    module: str = "geex"
    args: tuple[Value, ...] = ()
    settings: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        return self._written(self.name, [_text(value) for value in self.args], _text)

    def code(self, public: dict[str, str] | None = None) -> str:
        """Return the call as Python. public: the module of every class that geex exports, by its name."""
        module = (public or {}).get(self.name, self.module) if self.module == "geex" else self.module

        def inside(value: Value) -> str:
            return code(value, public)

        return self._written(f"{module}.{self.name}", [inside(value) for value in self.args], inside)

    def _written(self, name: str, args: list[str], write: Any) -> str:
        return f"{name}({', '.join([*args, *(f'{key}={write(value)}' for key, value in self.settings)])})"


def code(value: Value, public: dict[str, str] | None = None) -> str:
    """Return a value as Python."""
    if isinstance(value, Call | Unnamed):
        return value.code(public)
    if isinstance(value, tuple):
        inside = ", ".join(code(entry, public) for entry in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        inside = ", ".join(_text(entry) for entry in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return str(value) if isinstance(value, Call | Unnamed) else repr(value)


@singledispatch
def declared(value: Any) -> Value:
    """Return the value, in what can be compared and written."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, tuple | list):
        return tuple(declared(entry) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        return Call(type(value).__qualname__, module_of(type(value)), (), _settings(value))
    return Unnamed(f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value))


def _settings(value: Any) -> tuple[tuple[str, Value], ...]:
    """Return the fields that differ from their defaults."""
    changed = []
    for field in fields(value):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        found = declared(getattr(value, field.name))
        if field.init and field.repr and (default is MISSING or found != declared(default)):
            changed.append((field.name, found))
    return tuple(changed)


def module_of(kind: type) -> str:
    """Return "geex" for a class of geex, whose own modules are private; else the module."""
    return "geex" if kind.__module__.split(".")[0] == "geex" else kind.__module__
