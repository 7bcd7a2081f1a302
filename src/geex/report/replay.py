"""The Python that makes the same explanation of the same model and input.

Small inputs and baselines are written out. What cannot be written is named in a comment: the code uses that name.
"""

from dataclasses import replace

import numpy as np

import geex
from geex._arrays.arrays import host
from geex._problem.declared import Call, Unnamed, Value
from geex._problem.declared import code as declared_code
from geex._results.explanation import Explanation

WRITTEN = 64  # numbers that are written out
# The default features, which a call leaves out.
ELEMENTS = Call("Elements")


def call(explanation: Explanation) -> str:
    """Return the code; the names that it needs stand in its comments."""
    made = explanation.settings
    if made.queries is None:
        return f"# {made.method}, with gradients: see benchmarks.whitebox"
    values, notes = _named(explanation)
    arrays = {name: _array(explanation, name, values) for name in ("x", "baseline")}
    x = [] if arrays["x"] else [_shape(explanation)]
    needed = ["# model: the model that was explained", *x]
    needed += [f"# {name}: {text}" for name, text in notes.items() if not arrays.get(name)]
    written = [line for line in arrays.values() if line]
    lines = [f"    {name}={code(value)}," for name, value in values.items() if value is not None]
    head = ["import geex", *(["import numpy as np"] if written else []), "", *needed, *written]
    return "\n".join([*head, "explanation = geex.explain(", "    model,", "    x,", *lines, ")"])


def code(value: Value) -> str:
    """Return a setting as Python: classes with the module that exports them."""
    methods = dict.fromkeys(geex.methods.__all__, "geex.methods")
    return declared_code(value, methods | dict.fromkeys(geex.__all__, "geex"))


def _named(explanation: Explanation) -> tuple[dict[str, Value], dict[str, str]]:
    """The arguments of the call, in which what cannot be written has a name of its own, and what these names mean."""
    made = explanation.settings
    target = explanation.target
    values: dict[str, Value] = {
        "baseline": made.baseline,
        "target": tuple(target) if isinstance(target, list) else target,
        "score": made.score,
        "method": made.method,
        "queries": made.queries,
        "features": None if made.features == ELEMENTS else made.features,
        "bounds": made.bounds,
        "seed": made.seed,
        "stop": made.stop,
        "limits": None if made.twice else Call("Limits", settings=(("twice", False),)),
    }
    notes: dict[str, str] = {}
    return {name: _renamed(value, name, notes) for name, value in values.items()}, notes


def _renamed(value: Value, argument: str, notes: dict[str, str]) -> Value:
    """A setting whose unnamed parts have names that differ, which `notes` describes."""
    if isinstance(value, Unnamed):
        wanted = argument if value.name == "value" else value.name
        name = wanted if wanted not in notes else f"{wanted}_{len(notes)}"
        notes[name] = value.text
        return replace(value, name=name)
    if isinstance(value, tuple):
        return tuple(_renamed(part, argument, notes) for part in value)
    if isinstance(value, Call):
        args = tuple(_renamed(part, argument, notes) for part in value.args)
        return replace(value, args=args, settings=tuple((k, _renamed(v, k, notes)) for k, v in value.settings))
    return value


def _array(explanation: Explanation, name: str, values: dict[str, Value]) -> str:
    """A line that makes x or the baseline; "" where it is too long, unknown or not used."""
    array = explanation.explicand if name == "x" else explanation.baseline
    used = name == "x" or isinstance(values["baseline"], Unnamed)
    plain = explanation.cells is None and explanation.settings.library == "numpy"
    if array is None or not used or not plain or int(np.prod(array.shape)) > WRITTEN:
        return ""
    numbers = np.asarray(host(array))
    return f"{name} = np.array({numbers.tolist()}, dtype={str(numbers.dtype)!r})"


def _shape(explanation: Explanation) -> str:
    """The comment on an x that is not written out."""
    if explanation.cells is not None:
        return f"# x: a row with the columns {', '.join(explanation.cells.names)}"
    shape = "" if explanation.explicand is None else f", an array of shape {tuple(explanation.explicand.shape)}"
    return f"# x: the input{shape}"
