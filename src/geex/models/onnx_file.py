"""An ONNX graph as a model: one session per process; batches and types are converted to those of the graph."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._problem.outputs import checked_labels
from geex._query.limits import Limits
from geex.errors import InputError
from geex.models.onnx_session import session_of, weights_beside

# Types of tensors that hold numbers.
GRAPH_TYPES: dict[str, np.dtype[Any]] = {
    "tensor(float)": np.dtype(np.float32),
    "tensor(double)": np.dtype(np.float64),
    "tensor(float16)": np.dtype(np.float16),
    "tensor(bool)": np.dtype(bool),
    **{f"tensor({kind}{bits})": np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}
# Types of outputs that may be scores.
FLOATING = ("tensor(float)", "tensor(double)", "tensor(float16)")


@dataclass(frozen=True, eq=False)
class Onnx:
    """A graph. The process that calls it opens it; see `onnx`."""

    graph: str | bytes = field(repr=False)
    input: str | None = None
    output: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    providers: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    limits: Limits = field(default=Limits(), repr=False)
    name: str = field(init=False, default="")

    def __post_init__(self) -> None:
        graph = self.graph
        name = graph if isinstance(graph, str) else f"<{len(graph)} bytes, {hashlib.sha256(graph).hexdigest()[:16]}>"
        object.__setattr__(self, "name", name)

    def __call__(self, queries: Array) -> np.ndarray:
        """Return the output for queries (n, *shape)."""
        session = session_of(self.graph, self.name, self.providers)
        entry, output = self._input(session), self._output(session)
        rows = _converted(host(queries), entry)
        self._check_shape(rows.shape[1:], entry)
        fixed = entry.shape[0] if entry.shape and isinstance(entry.shape[0], int) else None
        if fixed is None:
            return self._run(session, entry.name, output, rows)
        parts = []
        for start in range(0, len(rows), fixed):
            part = rows[start : start + fixed]
            room = np.concatenate([part, np.repeat(part[-1:], fixed - len(part), axis=0)])
            parts.append(self._run(session, entry.name, output, room)[: len(part)])
        return np.concatenate(parts)

    @property
    def identity(self) -> str:
        """A text that changes with the graph, weights in files beside it, fixed inputs, and the output."""
        settings = (self.input, self.output, self.inputs)
        if isinstance(self.graph, bytes):
            return digest(self.graph, *settings)
        graph = Path(self.graph).read_bytes()
        return digest(graph, weights_beside(Path(self.graph), graph), *settings)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of one row, or None if the graph leaves it open. Opens the graph."""
        dims = self._input(session_of(self.graph, self.name, self.providers)).shape
        known = bool(dims) and all(isinstance(dim, int) for dim in dims[1:])
        return tuple(dims[1:]) if known else None

    def _check_shape(self, got: tuple[int, ...], entry: Any) -> None:
        """Raise InputError unless rows have the axes of the graph. An axis that it leaves open may have any length."""
        declared = None if not entry.shape else entry.shape[1:]
        if declared is None or _fits(got, declared):
            return
        code, fix = "row-shape", "Resize or reshape `x`."
        if got[:1] == (1,) and _fits(got[1:], declared):
            code, fix = "row-shape-batch-axis", "The first axis is a batch: explain x[0]."
        elif len(declared) == len(got) + 1 and declared[0] == 1 and _fits(got, declared[1:]):
            code, fix = "row-shape-channel-axis", "The channel axis is missing: explain x[None]."
        shape = ", ".join(str(dim) if isinstance(dim, int) else "any" for dim in declared)
        raise InputError(f"Rows of {self.name} must have the shape ({shape}); got {got}.", code=code, fix=fix)

    def _run(self, session: Any, name: str, output: str, rows: np.ndarray) -> np.ndarray:
        feed = {name: rows}
        for entry in session.get_inputs():
            if entry.name in self.inputs:
                feed[entry.name] = _repeated(_converted(np.asarray(self.inputs[entry.name]), entry), entry, len(rows))
        return _numbers(session.run([output], feed)[0])

    def _input(self, session: Any) -> Any:
        """Return the input that receives the queries."""
        entries = {entry.name: entry for entry in session.get_inputs()}
        free = [name for name in entries if name not in self.inputs]
        unknown = [name for name in [*self.inputs, *([self.input] if self.input else [])] if name not in entries]
        if unknown:
            raise InputError(
                f"{self.name} has no input {unknown[0]!r}; its inputs are {_listed(entries.values())}.",
                code="graph-input-unknown",
            )
        if self.input is None and len(free) != 1:
            raise InputError(
                f"{self.name} has several inputs: {_listed(entries.values())}. One of them must receive the queries.",
                code="graph-input-not-chosen",
                fix="Name it with input=…, and pass the others as inputs={name: array}.",
            )
        name = self.input or free[0]
        missing = [entry for entry in entries.values() if entry.name not in (*self.inputs, name)]
        if missing:
            raise InputError(
                f"{self.name} needs a value for each input; {_listed(missing)} has none.",
                code="graph-input-missing",
                fix="Pass it as inputs={name: array}.",
            )
        return entries[name]

    def _output(self, session: Any) -> str:
        """Return the name of the output: the one chosen, the only one, or the only one of floating numbers."""
        entries = {entry.name: entry for entry in session.get_outputs()}
        if self.output is not None:
            if self.output not in entries:
                raise InputError(
                    f"{self.name} has no output {self.output!r}; its outputs are {_listed(entries.values())}.",
                    code="graph-output-unknown",
                )
            return self.output
        scores = [entry for entry in entries.values() if entry.type in FLOATING or "map" in entry.type]
        sole = list(entries.values()) if len(entries) == 1 else scores
        if len(sole) != 1:
            raise InputError(
                f"{self.name} has several outputs: {_listed(entries.values())}. One of them must be chosen.",
                code="graph-output-not-chosen",
                fix="Pass output=….",
            )
        return str(sole[0].name)


def onnx(
    graph: str | os.PathLike[str] | bytes,
    *,
    input: str | None = None,
    output: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    providers: str | Sequence[str] | None = None,
    labels: Any = None,
    limits: Limits | None = None,
) -> Onnx:
    """Make a model out of an ONNX graph.

    Nothing is opened before the first call. Each process opens the graph once.

    Parameters
    ----------
    graph : path or bytes
        The file of the graph, or its bytes.
    input : str, optional
        The input that receives the queries. By default the only one that is not in `inputs`. Queries are converted to
        its type; for whole numbers they are rounded and clipped to the range of the type.
    output : str, optional
        The output that holds the scores. By default the only one, or the only one of floating numbers.
    inputs : mapping of str to array, optional
        Values of the other inputs, the same for every row. An array that lacks the batch axis is repeated.
    providers : str or sequence of str, optional
        Execution providers of onnxruntime, in order of preference. By default all that it has.
    labels : sequence of str, optional
        Names of the outputs.
    limits : Limits, optional
        How the model may be called. By default one call at a time.

    Returns
    -------
    Onnx
        A callable from queries (n, *shape) to scores (n,) or (n, k). A graph with a fixed batch size gets as many
        rows at a time; the last row is repeated to fill the batch.

    Raises
    ------
    InputError
        If a setting is wrong; when called, if the graph cannot be opened or does not fit the settings.
    MissingPackage
        When called without onnxruntime.

    Examples
    --------
    >>> import numpy as np
    >>> from importlib.resources import files
    >>> import geex
    >>> model = geex.models.onnx(files("geex.demo") / "fashion.onnx")
    >>> model.shape
    (1, 28, 28)
    >>> model(np.zeros((2, 1, 28, 28))).shape
    (2, 10)
    """
    if not isinstance(graph, bytes):
        try:
            graph = str(Path(graph).absolute())
        except TypeError:
            raise InputError(
                f"`graph` must be a path or the bytes of a graph; got a {type(graph).__name__}.",
                code="graph-not-a-path",
            ) from None
    if inputs and input in inputs:
        raise InputError(
            f"`inputs` must not hold {input!r}, which receives the queries. Leave it out of one of the two.",
            code="graph-input-twice",
        )
    named = checked_labels(labels)
    preferred = None if providers is None else (providers,) if isinstance(providers, str) else tuple(providers)
    names = None if named is None else tuple(named)
    return Onnx(graph, input, output, dict(inputs or {}), preferred, names, limits or Limits())


def _converted(array: np.ndarray, entry: Any) -> np.ndarray:
    """Return the array in the type of the graph's input."""
    if entry.type not in GRAPH_TYPES:
        raise InputError(
            f"The input {entry.name!r} must hold numbers; it is of type {entry.type}.", code="graph-input-not-numbers"
        )
    dtype = GRAPH_TYPES[entry.type]
    if dtype.kind in "ui" and array.dtype.kind == "f":
        span = np.iinfo(dtype)
        array = np.clip(np.rint(array), span.min, span.max)
    return np.ascontiguousarray(array, dtype=dtype)


def _fits(got: tuple[int, ...], declared: Sequence[Any]) -> bool:
    """Return whether a shape is the declared one; dimensions that are no numbers are open."""
    return len(got) == len(declared) and all(
        not isinstance(dim, int) or size == dim for size, dim in zip(got, declared, strict=True)
    )


def _repeated(array: np.ndarray, entry: Any, count: int) -> np.ndarray:
    """Return a fixed input for `count` rows; a value without the batch axis is repeated."""
    if entry.shape is None or array.ndim != len(entry.shape) - 1:
        return array
    return np.repeat(array[None], count, axis=0)


def _numbers(answer: Any) -> np.ndarray:
    """Return an array as it is, and rows of {label: score}, as skl2onnx exports classifiers, as (n, k)."""
    if isinstance(answer, list) and answer and isinstance(answer[0], dict):
        return np.array([[row[label] for label in answer[0]] for row in answer])
    return np.asarray(answer)


def _listed(entries: Any) -> str:
    return ", ".join(f"{entry.name!r} {entry.type} {entry.shape}" for entry in entries)
