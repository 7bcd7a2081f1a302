"""Methods and stop rules by name: regression, "GEEX(sigma=0.3)", or a class of yours as "module:Class(setting=1)"."""

import ast
import difflib
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import geex
from geex._protocols import Method, Stop
from geex.cli.imports import imported
from geex.errors import InputError

# Classes of geex that an expression may name, in lower case.
CLASSES = {
    name.lower(): getattr(module, name)
    for module in (geex, geex.methods)
    for name in module.__all__
    if is_dataclass(getattr(module, name))
}
# The names of all methods.
METHODS = sorted(name for name, kind in CLASSES.items() if issubclass(kind, Method))
# The names of all stop rules.
STOPS = sorted(name for name, kind in CLASSES.items() if issubclass(kind, Stop))


@dataclass(frozen=True)
class Slot:
    """An option that names a class: the flag, the names of geex, and an example with settings."""

    flag: str
    names: list[str]
    example: str
    base: type

    def error(self, text: str, code: str, near: str = "") -> InputError:
        """Return the error for a text that names no such class."""
        meant = f" Did you mean {near}?" if near else ""
        return InputError(
            f"{self.flag} must be one of {', '.join(self.names)}, or module:Class of yours; got {text!r}.{meant}",
            code=code,
        )


# The options that name a class.
METHOD = Slot("--method", METHODS, "'GEEX(sigma=0.3)'", Method)
STOP = Slot("--stop", STOPS, "'Precise(tolerance=0.05)'", Stop)


def method_of(text: str) -> Method:
    """Return the method that --method names."""
    return _made(text, METHOD)  # type: ignore[no-any-return]


def stop_of(text: str) -> Stop:
    """Return the rule that --stop names."""
    return _made(text, STOP)  # type: ignore[no-any-return]


def _made(text: str, slot: Slot) -> Any:
    try:
        # module:Class(…) becomes module.Class(…), an expression of Python
        tree = ast.parse(text.strip().replace(":", ".", 1), mode="eval").body
    except SyntaxError:
        raise InputError(
            f"{slot.flag} must be a name such as {slot.names[-1]}, or {slot.example}; got {text!r}.",
            code="class-not-an-expression",
        ) from None
    if isinstance(tree, ast.Tuple):
        raise InputError(
            f"{slot.flag} must be one {slot.flag.removeprefix('--')}; got {text!r}. Repeat the option for more.",
            code="class-several",
        )
    made = _evaluated(tree, text, slot)
    if not isinstance(made, slot.base):
        if type(made).__module__.startswith("geex."):
            raise slot.error(text, "class-of-another-kind")
        raise InputError(
            f"{slot.flag} must be a class derived from geex.{slot.base.__name__}; {text!r} is not.",
            code="class-of-another-kind",
        )
    return made


def _evaluated(node: ast.expr, text: str, slot: Slot) -> Any:
    """Return the value of numbers, tuples and classes; nothing else is evaluated."""
    if isinstance(node, ast.Name | ast.Attribute):
        return _instance(node, {}, text, slot)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and not node.args:
        settings = {str(word.arg): _evaluated(word.value, text, slot) for word in node.keywords}
        return _instance(node.func, settings, text, slot)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise InputError(
            f"{slot.flag} must be a class with settings by name, such as {slot.example}; got {text!r}.",
            code="class-not-evaluated",
        ) from None


def _instance(node: ast.expr, settings: dict[str, Any], text: str, slot: Slot) -> Any:
    kind = _class(node, text, slot)
    try:
        return kind(**settings)
    except TypeError as error:
        if not is_dataclass(kind):
            raise InputError(f"{slot.flag} {text!r}: {error}.", code="setting-unknown") from None
        known = [field.name for field in fields(kind) if field.init]
        raise InputError(
            f"{slot.flag} {text!r}: {ast.unparse(node)} has the settings {', '.join(known) or 'none'}.",
            code="setting-unknown",
        ) from None


def _class(node: ast.expr, text: str, slot: Slot) -> Any:
    """Return the class of geex, or of a module of the user's, that a name stands for."""
    name = ast.unparse(node)
    if isinstance(node, ast.Attribute):
        module, _, attribute = name.rpartition(".")
        return imported(module, attribute, slot.flag)
    if name.lower() not in CLASSES:
        raise slot.error(text, "class-unknown", *difflib.get_close_matches(name.lower(), slot.names, 1))
    return CLASSES[name.lower()]
