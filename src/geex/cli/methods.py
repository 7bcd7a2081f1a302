"""A method or a baseline by the words of a command line: regression, "GEEX(sigma=0.3)", blur:31,5."""

import ast
import difflib
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import geex
from geex._protocols import Method, Stop
from geex.errors import InputError

KNOWN = {
    name.lower(): getattr(module, name)
    for module in (geex, geex.methods)
    for name in module.__all__
    if is_dataclass(getattr(module, name))
}
METHODS = sorted(name for name, kind in KNOWN.items() if issubclass(kind, Method))
STOPS = sorted(name for name, kind in KNOWN.items() if issubclass(kind, Stop))


@dataclass(frozen=True)
class Setting:
    """What is named: by which option, out of which choices, and an example with settings."""

    name: str
    choices: list[str]
    example: str

    def unknown(self, text: str, near: str = "") -> InputError:
        meant = f" Did you mean {near}?" if near else ""
        return InputError(f"{self.name} is {text!r}; wanted one of {', '.join(self.choices)}.{meant}")


METHOD = Setting("method", METHODS, "'GEEX(sigma=0.3)'")
STOP = Setting("--stop", STOPS, "'Precise(tolerance=0.05)'")


def method(text: str) -> Method:
    """The method that `text` names, with its settings in parentheses."""
    made = _parsed(text, METHOD)
    if not isinstance(made, Method):
        raise METHOD.unknown(text)
    return made


def stop(text: str) -> Stop:
    """The rule that ends a run."""
    made = _parsed(text, STOP)
    if not isinstance(made, Stop):
        raise STOP.unknown(text)
    return made


def _parsed(text: str, of: Setting) -> Any:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        wanted = f"a name such as {of.choices[-1]}, or {of.example}"
        raise InputError(f"{of.name} is {text!r}; wanted {wanted}.") from None
    return _made(tree, text, of)


def _made(node: ast.expr, text: str, of: Setting) -> Any:
    """Numbers, tuples and names of geex; nothing else is evaluated."""
    if isinstance(node, ast.Name):
        return _settled(node.id, {}, text, of)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        settings = {str(word.arg): _made(word.value, text, of) for word in node.keywords}
        return _settled(node.func.id, settings, text, of)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise InputError(f"{of.name} is {text!r}; wanted settings by name, such as {of.example}.") from None


def _settled(name: str, settings: dict[str, Any], text: str, of: Setting) -> Any:
    if name.lower() not in KNOWN:
        raise of.unknown(text, *difflib.get_close_matches(name.lower(), of.choices, 1))
    kind = KNOWN[name.lower()]
    try:
        return kind(**settings)
    except TypeError:
        known = [field for field, entry in kind.__dataclass_fields__.items() if entry.init]
        raise InputError(f"{text!r}: {kind.__name__} has the settings {', '.join(known) or 'none'}.") from None


def baseline(text: str, rows: np.ndarray | None = None, channels: int | None = None) -> Any:
    """A number, one for each channel (r,g,b), blur or blur:KERNEL,SIGMA, mean (of the table), or an .npy file."""
    name, _, settings = text.partition(":")
    if name == "blur":
        kernel, sigma = _numbers(settings or "31,5", 2, "--baseline blur:KERNEL,SIGMA")
        return geex.blur(int(kernel), sigma, channels)
    if name == "mean":
        if rows is None:
            raise InputError("--baseline mean is the mean row of a table, and INPUT is none.")
        return geex.mean(rows)
    if text.endswith(".npy"):
        return array(Path(text))
    numbers = _numbers(text, None, "--baseline as a number, r,g,b, blur:KERNEL,SIGMA, mean or a file.npy")
    return numbers[0] if len(numbers) == 1 else geex.per_channel(numbers, axis=0 if channels is None else channels)


def features(text: str, channels: int | None) -> Any:
    """elements, pixels, or an .npy file with the group of every pixel or column."""
    if text.endswith(".npy"):
        return geex.Groups(array(Path(text)), channels)
    if text == "pixels":
        if channels is None:
            raise InputError("--features pixels wants an input with channels; for others, every element is a feature.")
        return geex.Pixels(channels=channels)
    if text != "elements":
        raise InputError(f"--features is {text!r}; wanted elements, pixels, or an .npy file of groups.")
    return geex.Elements(channels=channels)


def array(path: Path) -> np.ndarray:
    """The array in an .npy file, which runs no code."""
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} cannot be read as an .npy file ({error}).") from None
    if not isinstance(found, np.ndarray):
        raise InputError(f"{path} holds several arrays; wanted one, as numpy.save writes it.")
    return found


def _numbers(text: str, count: int | None, wanted: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or (count is not None and len(numbers) != count):
        raise InputError(f"got {text!r}; wanted {wanted}.")
    return numbers


def numbers(text: str, option: str) -> tuple[float, ...]:
    """Numbers between commas."""
    return tuple(_numbers(text, None, f"{option} as numbers between commas, such as 0.485,0.456,0.406"))
