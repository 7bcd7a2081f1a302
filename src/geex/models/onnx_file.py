"""An ONNX graph as a model: one session per process, batches and types as the graph wants them."""

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._problem.outputs import checked_labels
from geex._query.limits import Limits
from geex.errors import InputError, MissingPackage

TYPES: dict[str, np.dtype[Any]] = {
    "tensor(float)": np.dtype(np.float32),
    "tensor(double)": np.dtype(np.float64),
    "tensor(float16)": np.dtype(np.float16),
    "tensor(bool)": np.dtype(bool),
    **{f"tensor({kind}{bits})": np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}
FLOATING = ("tensor(float)", "tensor(double)", "tensor(float16)")


@dataclass(frozen=True, eq=False)
class Onnx:
    """A graph, opened where it is called; see `onnx`."""

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
        """Queries (n, *shape) -> the chosen output, row by row."""
        session = _session(self)
        entry, output = self._input(session), self._output(session)
        rows = _cast(host(queries), entry)
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
        """Another one for another graph, weights in files beside it, other inputs, or another output."""
        if isinstance(self.graph, bytes):
            return digest(self.graph, self.input, self.output, self.inputs)
        graph = Path(self.graph).read_bytes()
        return digest(graph, _weights(Path(self.graph), graph), self.input, self.output, self.inputs)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of one row as the graph declares it, None where it does not. Opens the graph."""
        dims = self._input(_session(self)).shape
        known = bool(dims) and all(isinstance(dim, int) for dim in dims[1:])
        return tuple(dims[1:]) if known else None

    def _check_shape(self, got: tuple[int, ...], entry: Any) -> None:
        """Rows have the axes that the graph declares; one that it leaves open may have any length."""
        wanted = None if not entry.shape else entry.shape[1:]
        if wanted is None or _goes(got, wanted):
            return
        mend = "resize or reshape x (on the command line: --size, --order, --grey)"
        if got[:1] == (1,) and _goes(got[1:], wanted):
            mend = "its first axis is a batch: explain x[0]"
        elif len(wanted) == len(got) + 1 and wanted[0] == 1 and _goes(got, wanted[1:]):
            mend = "it lacks the channel axis: explain x[None]"
        told = ", ".join(str(dim) if isinstance(dim, int) else "any" for dim in wanted)
        raise InputError(f"{self.name} takes rows of shape ({told}), and x has the shape {got}; {mend}.")

    def _run(self, session: Any, name: str, output: str, rows: np.ndarray) -> np.ndarray:
        feed = {name: rows}
        for entry in session.get_inputs():
            if entry.name in self.inputs:
                feed[entry.name] = _repeated(_cast(np.asarray(self.inputs[entry.name]), entry), entry, len(rows))
        return _numbers(session.run([output], feed)[0])

    def _input(self, session: Any) -> Any:
        """The input that takes the queries."""
        entries = {entry.name: entry for entry in session.get_inputs()}
        free = [name for name in entries if name not in self.inputs]
        unknown = [name for name in [*self.inputs, *([self.input] if self.input else [])] if name not in entries]
        if unknown:
            raise InputError(f"{self.name} has no input {unknown[0]!r}; it has {_told(entries.values())}.")
        if self.input is None and len(free) != 1:
            raise InputError(
                f"{self.name} takes {_told(entries.values())}; say which of them the queries go to, with input=…, and "
                "give the others with inputs={name: array}."
            )
        name = self.input or free[0]
        missing = [entry for entry in entries.values() if entry.name not in (*self.inputs, name)]
        if missing:
            raise InputError(f"{self.name} also takes {_told(missing)}; give it with inputs={{name: array}}.")
        return entries[name]

    def _output(self, session: Any) -> str:
        """The output that is answered: the one named, the only one, or the only one of floating numbers."""
        entries = {entry.name: entry for entry in session.get_outputs()}
        if self.output is not None:
            if self.output not in entries:
                raise InputError(f"{self.name} has no output {self.output!r}; it has {_told(entries.values())}.")
            return self.output
        scores = [entry for entry in entries.values() if entry.type in FLOATING or "map" in entry.type]
        sole = list(entries.values()) if len(entries) == 1 else scores
        if len(sole) != 1:
            raise InputError(f"{self.name} answers {_told(entries.values())}; say which is wanted, with output=….")
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
    """A model out of an ONNX graph, a file or its bytes. Nothing is opened before the first call, once per process.

    input, output: by name, where the graph has several. Queries are cast to the type that the input wants; for whole
        numbers they are rounded, and cut to the type's range. A graph with a fixed batch size is asked that many rows
        at a time, the last one repeated where rows are missing.
    inputs: the other inputs by name. An array with one axis less than the graph's input is repeated for every row.
    providers: onnxruntime's execution providers, in order of preference; None: those it has, the CPU last.
    """
    if not isinstance(graph, bytes):
        try:
            graph = str(Path(graph).absolute())
        except TypeError:
            raise InputError(f"graph is a {type(graph).__name__}; wanted a path or the bytes of a graph.") from None
    if inputs and input in inputs:
        raise InputError(f"{input!r} is where the queries go, and inputs gives it a fixed value too; leave one out.")
    named = checked_labels(labels)
    chosen = None if providers is None else (providers,) if isinstance(providers, str) else tuple(providers)
    names = None if named is None else tuple(named)
    return Onnx(graph, input, output, dict(inputs or {}), chosen, names, limits or Limits())


_LOCK = threading.Lock()
_SESSIONS: dict[Any, tuple[Any, Any]] = {}


def _weights(path: Path, graph: bytes) -> list[str]:
    """Digests of the files beside a graph that it names."""
    found = []
    for file in sorted(path.parent.iterdir()):
        if file != path and file.name.encode() in graph and file.is_file():
            with file.open("rb") as content:
                found.append(hashlib.file_digest(content, "sha256").hexdigest())
    return found


def _session(model: Onnx) -> Any:
    """The graph's session in this process; a file that was written anew is opened anew."""
    version = _version(model.graph) if isinstance(model.graph, str) else None
    key = (os.getpid(), model.name, model.providers)
    with _LOCK:
        known, session = _SESSIONS.get(key, (None, None))
        if session is None or known != version:
            session = _opened(model)
            _SESSIONS[key] = (version, session)
    return session


def _version(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}; wanted the file of an ONNX graph.") from None
    return found.st_mtime_ns, found.st_size


def _opened(model: Onnx) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingPackage("an ONNX graph runs on onnxruntime: pip install 'geex[onnx]'") from None
    there = onnxruntime.get_available_providers()
    unknown = [name for name in model.providers or () if name not in there]
    if unknown:
        raise InputError(f"providers has {unknown[0]!r}, and this onnxruntime has {', '.join(there)}.")
    try:
        return onnxruntime.InferenceSession(model.graph, providers=list(model.providers or there))
    except Exception as error:
        raise InputError(f"{model.name} is no graph that onnxruntime can open: {error}") from error


def _cast(array: np.ndarray, entry: Any) -> np.ndarray:
    """In the type that the graph's input wants."""
    if entry.type not in TYPES:
        raise InputError(f"the input {entry.name!r} wants {entry.type}; queries are numbers.")
    wanted = TYPES[entry.type]
    if wanted.kind in "ui" and array.dtype.kind == "f":
        span = np.iinfo(wanted)
        array = np.clip(np.rint(array), span.min, span.max)
    return np.ascontiguousarray(array, dtype=wanted)


def _goes(got: tuple[int, ...], wanted: Sequence[Any]) -> bool:
    return len(got) == len(wanted) and all(not isinstance(w, int) or g == w for g, w in zip(got, wanted, strict=True))


def _repeated(array: np.ndarray, entry: Any, count: int) -> np.ndarray:
    """A fixed input for every one of `count` rows, where it is given for one."""
    if entry.shape is None or array.ndim != len(entry.shape) - 1:
        return array
    return np.repeat(array[None], count, axis=0)


def _numbers(answer: Any) -> np.ndarray:
    """An array as it comes; {label: score} for every row, as classifiers exported by skl2onnx answer, as (n, k)."""
    if isinstance(answer, list) and answer and isinstance(answer[0], dict):
        return np.array([[row[label] for label in answer[0]] for row in answer])
    return np.asarray(answer)


def _told(entries: Any) -> str:
    return ", ".join(f"{entry.name!r} {entry.type} {entry.shape}" for entry in entries)
