"""A run as text and arrays: enough to estimate again from its answers, and no code.

Settings are stored by their registered names and declared values (`_stored_names`). Of a user's own score function only
the name is stored: it must be passed again. Of the model, a digest and its names for outputs and features are stored,
and no secret.
"""

import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import isroutine
from typing import Any

import numpy as np

from geex._arrays.arrays import dtype_of, host, library, restored_array
from geex._problem.declared import Call, Unnamed
from geex._problem.table.cells import Cells
from geex._problem.task import Task
from geex._protocols import Features, Method, RoundsMethod, Stop
from geex._stored_names import UnknownName, Unstable, encoded, restored
from geex._stored_types import matches, wrong_field
from geex.errors import GeexError, JournalError

# The version of the stored settings.
TASK_FORMAT = "run/1"
# The types of its parts. The target is one output, or a list of them, each an index or a label.
TASK_TYPES: dict[str, Any] = {
    "method": Method,
    "features": Features,
    "stop": Stop | None,
    "queries": int,
    "seed": int,
    "twice": bool,
    "background": bool,
    "cells": Cells | None,
    "baseline": str | float | bool | tuple[Any, ...] | Call | Unnamed | None,
    "target": int | str | list[int | str] | None,
}
# Two runs that differ in none of these, and in no array, are the same run.
COMPARED_SETTINGS = ("method", "features", "seed", "dtype", "identity")
# For a method in rounds, these decide what is queried too.
COMPARED_IN_ROUNDS = ("target", "score")


@dataclass(frozen=True)
class StoredModel:
    """What is stored of a model.

    identity: its digest. labels, names: the names of its outputs and features. absence: what a baseline of zeros stands
    for, where it has a meaning of its own.
    """

    identity: str = ""
    labels: list[str] | None = None
    names: list[str] | None = None
    absence: str | None = None


def stored_model_of(settings: str) -> StoredModel:
    """Return what is stored of the model whose answers a run was given."""
    with _readable():
        model = StoredModel(**_facts(settings)["model"])
        _require(not wrong_field(model), "model")
    return model


def written(task: Task, model: StoredModel) -> tuple[str, str, bytes]:
    """Return the key of a run (what is queried and estimated), its settings, and its arrays."""
    arrays: dict[str, np.ndarray] = {"explicand": host(task.explicand)}
    arrays |= {f"baseline {i}": host(baseline) for i, baseline in enumerate(task.baselines)}
    arrays |= {f"bound {i}": host(bound) for i, bound in enumerate(task.bounds or ())}
    given = dict(arrays)
    settings = {
        "format": TASK_FORMAT,
        "method": encoded(task.method, arrays),
        "features": encoded(task.features, arrays),
        "score": _score(task.score),
        "stop": encoded(task.stop, arrays),
        "queries": task.queries,
        "seed": task.seed,
        "target": task.target,
        "twice": task.twice,
        "background": task.background,
        "baseline": encoded(task.baseline),
        "library": library(task.explicand),
        "dtype": str(task.dtype).removeprefix("torch."),
        "identity": model.identity,
        "cells": encoded(task.cells),
        "model": {
            "identity": model.identity,
            "labels": model.labels,
            "names": model.names,
            "absence": model.absence,
        },
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    key = _key(task, settings, given)
    return key, json.dumps({**settings, "checksum": _checksum(settings)}), file.getvalue()


def task_of(settings: str, arrays: bytes, **given: Any) -> Task:
    """Return the stored task. Settings in `given` that are not None replace the stored ones."""
    with _readable():
        facts = _facts(settings)
        task = _task(facts, _content(arrays), given)
        _check(task)
    return replace(task, target=given["target"]) if given.get("target") is not None else task


@contextmanager
def _readable() -> Iterator[None]:
    """Raise JournalError for whatever a damaged or crafted run leads to."""
    try:
        yield
    except GeexError:
        raise
    except Exception as error:
        raise JournalError(
            f"The run in the journal is damaged ({type(error).__name__}: {error}). Use another name to start anew.",
            code="journal-damaged-run",
        ) from error


def _content(arrays: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(arrays), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _task(facts: dict[str, Any], content: dict[str, np.ndarray], given: dict[str, Any]) -> Task:
    explicand = restored_array(content["explicand"], facts["library"])
    count = sum(name.startswith("baseline ") for name in content)
    bounds = [restored_array(content[name], facts["library"]) for name in ("bound 0", "bound 1") if name in content]
    return Task(
        explicand=explicand,
        dtype=dtype_of(facts["dtype"], explicand),
        baselines=[restored_array(content[f"baseline {i}"], facts["library"]) for i in range(count)],
        bounds=(bounds[0], bounds[1]) if bounds else None,
        batch=None,
        progress=False,
        queries=facts["queries"],
        seed=facts["seed"],
        target=facts["target"],
        twice=facts["twice"],
        cells=restored(facts.get("cells"), content),
        background=facts.get("background", False),  # journals of before do not have it
        baseline=restored(facts["baseline"], content),
        method=_part("method", facts, content, given),
        features=_part("features", facts, content, given),
        score=_part("score", facts, content, given),
        stop=_part("stop", facts, content, given),
    )


def _check(task: Task) -> None:
    """Raise ValueError unless the parts of a stored task fit together."""
    shape = tuple(task.explicand.shape)
    for array in (task.explicand, *task.baselines, *(task.bounds or ())):
        numbers = host(array)
        _require(numbers.dtype.kind == "f" and numbers.shape == shape and numbers.size > 0, "arrays")
    _require(bool(task.baselines) and bool(np.isfinite(host(task.explicand)).all()), "arrays")
    for name, kind in TASK_TYPES.items():
        _require(matches(getattr(task, name), kind), name)
    _require(task.queries > 0 and task.seed >= 0, "queries or seed")
    _require(task.target != [], "target")


def _require(condition: bool, name: str) -> None:
    if not condition:
        raise ValueError(f"its {name} cannot be used")


def _facts(settings: str) -> dict[str, Any]:
    """Return the settings. Raise JournalError if this version does not read their format."""
    facts: dict[str, Any] = json.loads(settings)
    if facts.get("format") != TASK_FORMAT:
        raise JournalError(
            f"The journal holds a run in format {facts.get('format')!r}; this version of geex reads {TASK_FORMAT!r}. "
            "Use the version that wrote it.",
            code="journal-run-format",
        )
    if facts.pop("checksum", None) not in (None, _checksum(facts)):  # older runs have none
        raise ValueError("its settings do not match their checksum")
    return facts


def _checksum(settings: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(settings, sort_keys=True).encode())


def _part(name: str, facts: dict[str, Any], arrays: dict[str, np.ndarray], given: dict[str, Any]) -> Any:
    """Return one setting of a run: the one that is given, or the stored one."""
    if given.get(name) is not None:
        return given[name]
    try:
        return restored(facts[name], arrays)
    except UnknownName as unknown:
        raise JournalError(
            f"The journal was written with {name}={unknown}, which is not part of geex.",
            code="journal-unknown-name",
            fix=f"Pass it again as {name}=…, or import the module that defines it first.",
        ) from None


def _score(score: Any) -> Any:
    """Return a score by its name. Of a function only the name is stored."""
    try:
        return encoded(score)
    except Unstable:
        named = score if isroutine(score) or isinstance(score, type) else type(score)
        return {"function": f"{named.__module__}:{named.__qualname__}"}


def _key(task: Task, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Return a digest of what is queried and estimated."""
    compared = settings | {
        "method": encoded(task.method, brief=True),
        "features": encoded(task.features, brief=True),
    }
    names = COMPARED_SETTINGS + COMPARED_IN_ROUNDS if isinstance(task.method, RoundsMethod) else COMPARED_SETTINGS
    digest = hashlib.sha256(json.dumps([compared[name] for name in names], sort_keys=True).encode())
    if task.background:
        digest.update(b"background")
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape} {arrays[name].dtype}".encode() + arrays[name].tobytes())
    return digest.hexdigest()
