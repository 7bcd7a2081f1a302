"""What is sent to a service and where the scores are in what comes back.

V2      the Open Inference Protocol: tensors by name, in JSON, or in bytes behind a JSON header
Json    plain JSON: a template with "{rows}" or "{row}" in it, and a path to the scores; or a function for either
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex.errors import InputError, Refused
from geex.models.secrets import Env

DATATYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(bool),
    **{f"FP{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"{kind}{bits}": np.dtype(f"{kind.lower()}{bits}") for kind in ("INT", "UINT") for bits in (8, 16, 32, 64)},
}
NAMES = {dtype: name for name, dtype in DATATYPES.items()}
BINARY_HEADER = "Inference-Header-Content-Length"


class Malformed(ValueError):
    """A body that is no answer to what was asked."""


@dataclass(frozen=True)
class Body:
    """What is sent: bytes and the headers that say what they are."""

    content: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


@dataclass(frozen=True)
class V2:
    """The Open Inference Protocol, version 2."""

    input: str = "input-0"
    output: str | None = None
    datatype: str | None = None
    binary: bool = False
    single: bool = field(default=False, init=False, repr=False)

    @property
    def meaning(self) -> Any:
        """What of it the answers depend on."""
        return (self.input, self.output, self.datatype)

    def address(self, url: str) -> str:
        """The model's own address, …/v2/models/NAME, or its /infer, as the latter."""
        path, mark, query = url.partition("?")
        return url if path.rstrip("/").endswith("/infer") else f"{path.rstrip('/')}/infer{mark}{query}"

    def secrets(self) -> list[str]:
        """What must not be told of a request: it holds queries only."""
        return []

    def hint(self, status: int, url: str) -> str:
        """What is often wrong where a service refuses."""
        if status in (404, 405) and "/models/" not in url:
            return " Wanted the model's own address, …/v2/models/NAME; or request=… for a service with JSON of its own."
        if status in (400, 415, 422) and self.binary:
            return " Not every server takes tensors as bytes: without binary=True they are sent as JSON."
        return ""

    def request(self, queries: Any) -> Body:
        if isinstance(queries, list):
            return self._texts(queries)
        rows = host(queries)
        datatype = self.datatype or NAMES.get(rows.dtype)
        if datatype not in DATATYPES:
            raise InputError(f"datatype is {datatype!r} and queries are {rows.dtype}; wanted {', '.join(DATATYPES)}.")
        rows = np.ascontiguousarray(rows, dtype=DATATYPES[datatype].newbyteorder("<"))
        tensor: dict[str, Any] = {"name": self.input, "shape": list(rows.shape), "datatype": datatype}
        if not self.binary:
            return Body(_dumped(self._asked({**tensor, "data": rows.ravel().tolist()})))
        raw = rows.tobytes()
        head = _dumped(self._asked({**tensor, "parameters": {"binary_data_size": len(raw)}}))
        return Body(head + raw, {"Content-Type": "application/octet-stream", BINARY_HEADER: str(len(head))})

    def _texts(self, texts: list[Any]) -> Body:
        tensor = {"name": self.input, "shape": [len(texts), 1], "datatype": "BYTES", "data": texts}
        return Body(_dumped(self._asked({**tensor, "parameters": {"content_type": "str"}})))

    def _asked(self, tensor: dict[str, Any]) -> dict[str, Any]:
        said: dict[str, Any] = {"inputs": [tensor]}
        if self.binary:
            said["parameters"] = {"binary_data_output": True}
        if self.output is not None:
            said["outputs"] = [{"name": self.output}]
        return said

    def response(self, content: bytes, headers: Mapping[str, str]) -> Any:
        length = headers.get(BINARY_HEADER)
        if length is not None and not length.isdigit():
            raise Malformed(f"the header {BINARY_HEADER} is no number")
        cut = int(length) if length else len(content)
        body, raw = _loaded(content[:cut]), content[cut:]
        outputs = {}
        for tensor in _tensors(body):
            size = (tensor.get("parameters") or {}).get("binary_data_size")
            outputs[tensor["name"]] = (tensor, raw[:size] if size is not None else None)
            raw = raw[size or 0 :]
        tensor, data = self._chosen(outputs)
        return _tensor(tensor, data)

    def _chosen(self, outputs: dict[str, Any]) -> Any:
        if self.output in outputs:
            return outputs[self.output]
        if self.output is None and len(outputs) == 1:
            return next(iter(outputs.values()))
        wanted = "one; say which is wanted, with output=…" if self.output is None else repr(self.output)
        raise Refused(f"the service answered the outputs {', '.join(map(repr, outputs)) or 'none'}; wanted {wanted}.")


@dataclass(frozen=True, eq=False)
class Json:
    """Plain JSON, by templates or functions."""

    template: Any = field(repr=False)
    path: str | Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.template) and _holds(self.template, "{rows}") == _holds(self.template, "{row}"):
            raise InputError(
                "request has no one place for the rows; wanted '{rows}' in it for all rows of a call, or '{row}' "
                "for the only one."
            )

    @property
    def single(self) -> bool:
        """Whether a request has room for one row only."""
        return not callable(self.template) and _holds(self.template, "{row}")

    @property
    def meaning(self) -> Any:
        """What of it the answers depend on."""
        return (self.template, self.path)

    def address(self, url: str) -> str:
        return url

    def request(self, queries: Any) -> Body:
        if callable(self.template):
            made = self.template(queries)
            return Body(made, {}) if isinstance(made, bytes) else Body(_dumped(made))
        rows = list(queries) if isinstance(queries, list) else host(queries).tolist()
        return Body(_dumped(_filled(self.template, rows)))

    def hint(self, status: int, url: str) -> str:
        """What is often wrong where a service refuses: here nothing is known of it."""
        return ""

    def secrets(self) -> list[str]:
        """What must not be told of a request."""
        return [] if callable(self.template) else _revealed(self.template)

    def response(self, content: bytes, headers: Mapping[str, str]) -> Any:
        body = _loaded(content)
        found = self.path(body) if callable(self.path) else _at(body, self.path)
        return [found] if self.single else found


def _dumped(value: Any) -> bytes:
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """Arrays, as functions may leave them in a request."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the request holds a {type(value).__name__}, which JSON has not")


def _loaded(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the body is no JSON ({type(error).__name__})") from None


def _holds(template: Any, mark: str) -> bool:
    if isinstance(template, Mapping):
        return any(_holds(part, mark) for part in template.values())
    if isinstance(template, list | tuple):
        return any(_holds(part, mark) for part in template)
    return bool(template == mark)


def _revealed(template: Any) -> list[str]:
    """The secrets in a template."""
    if isinstance(template, Env):
        return [template.reveal()]
    parts = template.values() if isinstance(template, Mapping) else template
    return [text for part in parts for text in _revealed(part)] if isinstance(template, list | tuple | Mapping) else []


def _filled(template: Any, rows: list[Any]) -> Any:
    if isinstance(template, Mapping):
        return {key: _filled(part, rows) for key, part in template.items()}
    if isinstance(template, list | tuple):
        return [_filled(part, rows) for part in template]
    if isinstance(template, Env):
        return template.reveal()
    if template == "{rows}":
        return rows
    return rows[0] if template == "{row}" else template


def _at(body: Any, path: str) -> Any:
    """What `path` leads to: keys and places between dots, * for every entry of a list."""
    keys = [key for key in path.split(".") if key]
    for depth, key in enumerate(keys):
        rest = ".".join(keys[depth + 1 :])
        if key == "*":
            if not isinstance(body, list):
                raise Malformed(f"{path!r} wants a list at '*' and there is a {type(body).__name__}")
            return [_at(entry, rest) for entry in body]
        try:
            body = body[int(key)] if isinstance(body, list) else body[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Malformed(f"{path!r} leads nowhere: no {key!r} in what came back") from None
    return body


def _tensors(body: Any) -> list[Any]:
    """The outputs of an answer in the Open Inference Protocol."""
    found = body.get("outputs") if isinstance(body, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(one, Mapping) and "name" in one for one in found):
        raise Malformed(
            "no list of tensors is under 'outputs', as the Open Inference Protocol has it; a service with JSON of its "
            "own wants request=… and response=…"
        )
    return found


def _texts_in(raw: bytes) -> list[str]:
    """Texts as bytes, each behind its length."""
    texts, start = [], 0
    while start < len(raw):
        end = start + 4 + int.from_bytes(raw[start : start + 4], "little")
        if end > len(raw):
            raise Malformed("a text is cut off")
        texts.append(raw[start + 4 : end].decode())
        start = end
    return texts


def _tensor(tensor: Any, raw: bytes | None) -> Any:
    shape, datatype = tuple(tensor["shape"]), tensor["datatype"]
    if datatype == "BYTES":
        texts = tensor["data"] if raw is None else _texts_in(raw)
        return np.array(texts, dtype=object).reshape(shape[0], -1)[:, 0].tolist()
    if datatype not in DATATYPES:
        raise Refused(f"the service answered a tensor of {datatype}; wanted one of {', '.join(DATATYPES)}.")
    dtype = DATATYPES[datatype].newbyteorder("<")
    if raw is not None:
        return np.frombuffer(raw, dtype).reshape(shape)
    return np.array(tensor["data"], dtype=dtype).reshape(shape)
