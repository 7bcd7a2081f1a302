"""The identity of a model, found without a query, so that a journal never mixes answers of two models.

    identity = digest(what the answers depend on: weights, a file, an address, the text whose words are shown)

Models of `geex.models` provide it themselves. A module of PyTorch is identified by its parts and its state. A function
that the command line names is identified by its name and its source; in Python, a plain function has no identity.
"""

import ast
import inspect
import sys
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
    """Return the identity of a function by its name and its source, comments and layout aside.

    The source is that of its module, and of the modules in the same folder and below that these import.
    """
    sources: dict[str, str] = {}
    root = _file(module)
    waiting = [module]
    while waiting:
        one = waiting.pop()
        file = _file(one)
        if one.__name__ in sources or file is None or root is None or not file.is_relative_to(root.parent):
            continue
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):  # compiled
            continue
        sources[one.__name__] = ast.unparse(tree)
        waiting += [sys.modules[imported] for imported in _imports(tree, one) if imported in sys.modules]
    # a module without imports of its own folder counts by its source alone
    return digest(name, sources.pop(module.__name__, ""), *sorted(sources.items()))


def _file(module: ModuleType) -> Path | None:
    try:
        return Path(inspect.getfile(module)).resolve()
    except TypeError:  # built in
        return None


def _imports(tree: ast.AST, module: ModuleType) -> list[str]:
    """Return the names that a module imports: modules, and what may be modules of a package."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = ".".join((module.__package__ or "").split(".")[: 1 - node.level or None]) if node.level else ""
            base = ".".join(part for part in (package, node.module) if part)
            found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return found


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
