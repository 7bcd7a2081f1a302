"""The identity of a model, found without a query, so that a journal never mixes answers of two models.

    identity = digest(what the answers depend on: weights, a file, an address, the text whose words are shown)

Models of `geex.models` provide it themselves. A module of PyTorch is identified by its parts and its state. A function
that the command line names is identified by its name and its source; in Python, a plain function has no identity.
"""

import ast
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from geex._problem.digest import PLAIN_TYPES, digest
from geex._problem.foreign_model import Carried


def identity(model: Any) -> str:
    """Return a text that differs for different models; "" where there is none."""
    try:
        own = Carried(model).identity
        if own:
            return digest(own)
        return digest(module_parts(model), _training(model)) if is_module(model) else ""
    except Exception:  # raised by the model's own code, which may raise anything; its first call will show the error
        return ""


def source_identity(name: str, module: ModuleType) -> str:
    """Return the identity of a function by its name and the source of its module, comments and layout aside."""
    try:
        source = ast.unparse(ast.parse(Path(inspect.getfile(module)).read_bytes()))
    except (OSError, TypeError, SyntaxError, ValueError):  # built in, or compiled
        source = ""
    return digest(name, source)


def is_module(model: Any) -> bool:
    """Return whether the model is a module of PyTorch, or has the same members."""
    return Carried(model).module


def module_parts(module: Any) -> tuple[Any, ...]:
    """Return what a module's answers depend on, except its mode: parts with settings, parameters and buffers."""
    parts = [(name, type(part), _settings(part)) for name, part in module.named_modules()]
    return parts, Carried(module).code, dict(module.state_dict()), dict(module.named_buffers())


def _settings(part: Any) -> list[tuple[str, Any]]:
    """Return the attributes that are plain values or functions."""
    return [
        (name, value)
        for name, value in sorted(vars(part).items())
        if name != "training"
        and not name.startswith("_")
        and (isinstance(value, (*PLAIN_TYPES, tuple, list)) or callable(value))
    ]


def _training(module: Any) -> list[bool]:
    return [Carried(part).training for _, part in module.named_modules()]
