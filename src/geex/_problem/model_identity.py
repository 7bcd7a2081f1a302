"""Which model answers, as far as that can be told without a question, so that a journal never mixes two.

    identity = digest(what the answers depend on: weights, a file, an address, the text whose words are shown)

Models of `geex.models` say it themselves. Of a module its parts and its state tell. Of a plain function nothing is
known.
"""

from typing import Any

from geex._problem.digest import PLAIN, digest
from geex._problem.foreign_model import Carried


def identity(model: Any) -> str:
    """A text that is another one for another model; "" where nothing is known."""
    try:
        own = Carried(model).identity
        if own:
            return digest(own)
        return digest(made_of(model), _training(model)) if is_module(model) else ""
    except Exception:  # the model's own code, of which nothing is known; what is wrong with it, its first call tells
        return ""


def is_module(model: Any) -> bool:
    """Whether it is one of PyTorch's, or made like one."""
    return Carried(model).module


def made_of(module: Any) -> tuple[Any, ...]:
    """What a module's answers depend on, but for its mode: parts with their settings, parameters and buffers."""
    parts = [(name, type(part), _settings(part)) for name, part in module.named_modules()]
    return parts, Carried(module).code, dict(module.state_dict()), dict(module.named_buffers())


def _settings(part: Any) -> list[tuple[str, Any]]:
    """Attributes that are plain values, and the functions among them."""
    return [
        (name, value)
        for name, value in sorted(vars(part).items())
        if name != "training"
        and not name.startswith("_")
        and (isinstance(value, (*PLAIN, tuple, list)) or callable(value))
    ]


def _training(module: Any) -> list[bool]:
    return [Carried(part).training for _, part in module.named_modules()]
