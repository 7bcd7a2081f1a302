"""What a run was given, as text and arrays: enough to estimate again from its answers, and nothing that runs.

Settings are dataclasses of geex and are made again from their fields. What is the user's own code (a score, a noise
family, a method) is only named: it has to be given again. Of the model there are a digest and its names for outputs and
features, and no secret.
"""

import hashlib
import importlib
import io
import json
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from geex._arrays.arrays import dtype_of, host, library, revived
from geex._problem.task import Task
from geex.errors import JournalError

ARRAYS = ("explicand", "baselines", "bounds")
PLAIN = ("queries", "seed", "target", "twice", "baseline")
MADE = ("method", "features", "score", "stop")
KEY = ("method", "features", "seed", "dtype", "identity")
ABOUT = ("target", "score")  # what is asked in legs follows from what the run is about


class Unknown:
    """Code of the user's own, of which only the name is known."""

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True)
class Known:
    """What is written of a model: its identity, its names for outputs and features, and what a baseline of zeros stands
    for, where it has them."""

    identity: str = ""
    labels: list[str] | None = None
    names: list[str] | None = None
    absence: str | None = None


def known_of(settings: str) -> Known:
    """That of the model whose answers a run was given."""
    return Known(**json.loads(settings).get("model", {}))


def written(task: Task, model: Known) -> tuple[str, str, bytes]:
    """A key for what is asked and estimated, the settings, and the arrays of a task for a model."""
    arrays: dict[str, np.ndarray] = {"explicand": host(task.explicand)}
    arrays |= {f"baseline {i}": host(baseline) for i, baseline in enumerate(task.baselines)}
    arrays |= {f"bound {i}": host(bound) for i, bound in enumerate(task.bounds or ())}
    made = {name: _text(getattr(task, name), arrays) for name in MADE}
    settings = {name: getattr(task, name) for name in PLAIN} | made
    settings |= {
        "identity": model.identity,
        "model": asdict(model),
        "library": library(task.explicand),
        "dtype": str(task.dtype).removeprefix("torch."),
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    key = KEY + ABOUT if hasattr(task.method, "following") else KEY
    digest = hashlib.sha256(json.dumps([settings[name] for name in key]).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape} {arrays[name].dtype}".encode() + arrays[name].tobytes())
    return digest.hexdigest(), json.dumps(settings), file.getvalue()


def task_of(settings: str, arrays: bytes, **given: Any) -> Task:
    """The task that was written, with what is `given` (and not None) in the place of what was."""
    facts = json.loads(settings)
    with np.load(io.BytesIO(arrays), allow_pickle=False) as file:
        content = {name: file[name] for name in file.files}
    explicand = revived(content["explicand"], facts["library"])
    count = sum(name.startswith("baseline ") for name in content)
    bounds = [revived(content[name], facts["library"]) for name in ("bound 0", "bound 1") if name in content]
    made = {name: _made(facts[name], content) for name in MADE} | {n: v for n, v in given.items() if v is not None}
    for name in MADE:
        if isinstance(made[name], Unknown):
            raise JournalError(
                f"the journal was written with {name}={made[name].name}, which is no part of geex; give it again, as "
                f"{name}=…"
            )
    task = Task(
        explicand=explicand,
        dtype=dtype_of(facts["dtype"], explicand),
        baselines=[revived(content[f"baseline {i}"], facts["library"]) for i in range(count)],
        bounds=(bounds[0], bounds[1]) if bounds else None,
        batch=None,
        progress=False,
        queries=facts["queries"],
        seed=facts["seed"],
        target=facts["target"],
        twice=facts["twice"],
        baseline=facts["baseline"],
        method=made["method"],
        features=made["features"],
        score=made["score"],
        stop=made["stop"],
    )
    return replace(task, target=given["target"]) if given.get("target") is not None else task


def _text(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The value in what JSON can hold."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return {"list" if isinstance(value, list) else "tuple": [_text(entry, arrays) for entry in value]}
    kind = type(value)
    if is_dataclass(value) and kind.__module__.split(".")[0] == "geex":
        told = {field.name: _text(getattr(value, field.name), arrays) for field in fields(value) if field.init}
        return {"made": f"{kind.__module__}:{kind.__qualname__}", "with": told}
    if isinstance(value, np.ndarray):
        name = f"array {len(arrays)}"
        arrays[name] = value
        return {"array": name}
    named = value if hasattr(value, "__qualname__") else kind
    return {"unknown": f"{named.__module__}.{named.__qualname__}"}


def _made(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """What `_text` wrote, made again; Unknown where some part of it is the user's own."""
    if not isinstance(value, dict):
        return value
    if "unknown" in value:
        return Unknown(value["unknown"])
    if "array" in value:
        return arrays[value["array"]]
    if "made" not in value:
        entries = [_made(entry, arrays) for entries in value.values() for entry in entries]
        return entries if "list" in value else tuple(entries)
    told = {name: _made(entry, arrays) for name, entry in value["with"].items()}
    foreign = [entry for entry in told.values() if isinstance(entry, Unknown)]
    if foreign:
        return foreign[0]
    module, _, name = value["made"].partition(":")
    kind = getattr(importlib.import_module(module), name, None) if module.split(".")[0] == "geex" else None
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise JournalError(f"the journal names {value['made']!r}, which this version of geex does not have.")
    return kind(**told)
