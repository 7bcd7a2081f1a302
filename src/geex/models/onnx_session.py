"""Open ONNX graphs, one session for each process and graph."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from geex.errors import InputError, MissingPackage

# guards _SESSIONS
_SESSIONS_LOCK = threading.Lock()
# open graphs by process, name and providers, each with the version of its file
_SESSIONS: dict[Any, tuple[Any, Any]] = {}


def weights_beside(path: Path, graph: bytes) -> list[str]:
    """Return digests of the files beside a graph whose names occur in it: its external weights."""
    found = []
    for file in sorted(path.parent.iterdir()):
        if file != path and file.name.encode() in graph and file.is_file():
            with file.open("rb") as content:
                found.append(hashlib.file_digest(content, "sha256").hexdigest())
    return found


def session_of(graph: str | bytes, name: str, providers: tuple[str, ...] | None) -> Any:
    """Return the session of the graph in this process. A file that has changed is opened again."""
    version = _version(graph) if isinstance(graph, str) else None
    key = (os.getpid(), name, providers)
    with _SESSIONS_LOCK:
        known, session = _SESSIONS.get(key, (None, None))
        if session is None or known != version:
            session = _open_session(graph, name, providers)
            _SESSIONS[key] = (version, session)
    return session


def _version(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise InputError(
            f"{path} must be the file of an ONNX graph; it cannot be opened: {error.strerror}.", code="graph-unreadable"
        ) from None
    return found.st_mtime_ns, found.st_size


def _open_session(graph: str | bytes, name: str, providers: tuple[str, ...] | None) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingPackage(
            "An ONNX graph needs onnxruntime. Run `pip install onnxruntime` (the extra `onnx`).",
            code="onnxruntime-missing",
        ) from None
    available = onnxruntime.get_available_providers()
    unknown = [provider for provider in providers or () if provider not in available]
    if unknown:
        raise InputError(
            f"`providers` must be among {', '.join(available)}; got {unknown[0]!r}.", code="provider-unknown"
        )
    try:
        return onnxruntime.InferenceSession(graph, providers=list(providers or available))
    except Exception as error:
        raise InputError(
            f"{name} must be an ONNX graph; onnxruntime cannot open it: {error}", code="graph-invalid"
        ) from error
