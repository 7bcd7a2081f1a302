"""The body of a request, and the scores in the body of an answer.

V2      the Open Inference Protocol: tensors by name, as JSON, or as bytes after a JSON header
Json    any other JSON: a template with "{rows}" or "{row}", and a path to the scores; or a function for either
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex.errors import InputError, Refused
from geex.models.redaction import SECRET_KEYS, TOKEN, Confidential, excerpt
from geex.models.secrets import Env

# What stands for the rows of a call, or for its only row, in a template.
ROWS = ("{rows}", "{row}")
# Characters of names in an answer that a message quotes.
NAMES_LENGTH = 200
# Types of tensors in the Open Inference Protocol.
DATATYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(bool),
    **{f"FP{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"{kind}{bits}": np.dtype(f"{kind.lower()}{bits}") for kind in ("INT", "UINT") for bits in (8, 16, 32, 64)},
}
# The same, from NumPy's types.
DATATYPE_NAMES = {dtype: name for name, dtype in DATATYPES.items()}
# The types of values that JSON may hold in a tensor, by the kind of its datatype. NumPy would convert texts too.
JSON_KINDS: dict[str, set[type]] = {"f": {float, int}, "i": {int}, "u": {int}, "b": {bool, int}}
# How many bytes of a body are JSON, where tensors follow as bytes.
BINARY_HEADER = "Inference-Header-Content-Length"


class Malformed(ValueError):
    """A body of an unexpected form. The message continues "the service answered 200, but"."""


@dataclass(frozen=True)
class Body:
    """The bytes of a request, and the headers that describe them."""

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
        """The settings that the answers depend on."""
        return (self.input, self.output, self.datatype)

    def address(self, url: str) -> str:
        """Return the address …/v2/models/NAME/infer, also for …/v2/models/NAME."""
        path, mark, query = url.partition("?")
        return url if path.rstrip("/").endswith("/infer") else f"{path.rstrip('/')}/infer{mark}{query}"

    def secrets(self) -> list[Confidential]:
        """Return the secrets of a request: none, it holds queries only."""
        return []

    def hint(self, status: int, url: str) -> tuple[str, str]:
        """Return the code and the fix of what is often wrong when a service refuses, or two empty texts."""
        if status in (404, 405) and "/models/" not in url:
            return "url-not-a-model", (
                "Pass the address of the model, …/v2/models/NAME, or request=… for a service with JSON of its own."
            )
        if status in (400, 415, 422) and self.binary:
            return "binary-refused", "Leave out binary=True: some servers accept tensors as JSON only."
        return "", ""

    def request(self, queries: Any, key: str = "") -> Body:
        """Return the request for queries. `key` is its id, which the answer repeats."""
        if isinstance(queries, list):
            return self._texts(queries, key)
        rows = host(queries)
        datatype = self.datatype or DATATYPE_NAMES.get(rows.dtype)
        if datatype not in DATATYPES:
            raise InputError(
                f"Queries must have one of the types {', '.join(DATATYPES)}; got {rows.dtype}.",
                code="query-type-unknown",
                fix="Pass datatype=… to convert them.",
            )
        rows = np.ascontiguousarray(rows, dtype=DATATYPES[datatype].newbyteorder("<"))
        tensor: dict[str, Any] = {"name": self.input, "shape": list(rows.shape), "datatype": datatype}
        if not self.binary:
            return Body(_dumped(self._message({**tensor, "data": rows.ravel().tolist()}, key)))
        raw = rows.tobytes()
        head = _dumped(self._message({**tensor, "parameters": {"binary_data_size": len(raw)}}, key))
        return Body(head + raw, {"Content-Type": "application/octet-stream", BINARY_HEADER: str(len(head))})

    def _texts(self, texts: list[Any], key: str) -> Body:
        tensor = {"name": self.input, "shape": [len(texts), 1], "datatype": "BYTES", "data": texts}
        return Body(_dumped(self._message({**tensor, "parameters": {"content_type": "str"}}, key)))

    def _message(self, tensor: dict[str, Any], key: str) -> dict[str, Any]:
        message: dict[str, Any] = {"id": key} if key else {}
        message["inputs"] = [tensor]
        if self.binary:
            message["parameters"] = {"binary_data_output": True}
        if self.output is not None:
            message["outputs"] = [{"name": self.output}]
        return message

    def response(self, content: bytes, headers: Mapping[str, str], key: str = "") -> Any:
        """Return the scores of an answer. Raise Malformed if it has the id of another request."""
        length = headers.get(BINARY_HEADER)
        if length is not None and not length.isdigit():
            raise Malformed(f"the header {BINARY_HEADER} is not a number")
        cut = int(length) if length else len(content)
        body, raw = _loaded(content[:cut]), content[cut:]
        outputs = {}
        tensors = _tensors(body)
        if key and body.get("id") not in (None, "", key):
            raise Malformed("it has the id of another request")
        for tensor in tensors:
            size = (tensor.get("parameters") or {}).get("binary_data_size")
            outputs[tensor["name"]] = (tensor, raw[:size] if size is not None else None)
            raw = raw[size or 0 :]
        tensor, data = self._choose(outputs)
        return _tensor(tensor, data)

    def _choose(self, outputs: dict[str, Any]) -> Any:
        if self.output in outputs:
            return outputs[self.output]
        if self.output is None and len(outputs) == 1:
            return next(iter(outputs.values()))
        found = excerpt(", ".join(map(repr, outputs)), NAMES_LENGTH) or "none"
        if self.output is not None:
            raise Refused(
                f"The service must return an output {self.output!r}; got {found}.", code="service-output-unknown"
            )
        raise Refused(
            f"The service must return one output, or you choose one; got {found}.",
            code="service-output-not-chosen",
            fix="Pass output=….",
        )


@dataclass(frozen=True, eq=False)
class Json:
    """JSON by templates or functions."""

    template: Any = field(repr=False)
    path: str | Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.template) and _holds(self.template, "{rows}") == _holds(self.template, "{row}"):
            raise InputError(
                '`request` must contain "{rows}" for all rows of a call, or "{row}" for a single row, and not both.',
                code="template-without-rows",
            )

    @property
    def single(self) -> bool:
        """Whether a request holds one row only."""
        return not callable(self.template) and _holds(self.template, "{row}")

    @property
    def meaning(self) -> Any:
        """The settings that the answers depend on."""
        return (self.template, self.path)

    def address(self, url: str) -> str:
        return url

    def request(self, queries: Any, key: str = "") -> Body:
        if callable(self.template):
            made = self.template(queries)
            return Body(made, {}) if isinstance(made, bytes) else Body(_dumped(made))
        rows = list(queries) if isinstance(queries, list) else host(queries).tolist()
        return Body(_dumped(_filled(self.template, rows)))

    def hint(self, status: int, url: str) -> tuple[str, str]:
        """Return two empty texts: any service may refuse for any reason."""
        return "", ""

    def secrets(self) -> list[Confidential]:
        """Return the secrets of a request: variables of the environment, and what looks like a credential."""
        return [] if callable(self.template) else [Confidential(text) for text in _revealed(self.template)]

    def response(self, content: bytes, headers: Mapping[str, str], key: str = "") -> Any:
        body = _loaded(content)
        found = self.path(body) if callable(self.path) else _at(body, self.path)
        return [found] if self.single else found


def _dumped(value: Any) -> bytes:
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """Return an array as a list: a user's function may leave arrays in a request."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the request holds a {type(value).__name__}, which JSON cannot represent")


def _loaded(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        kind = type(error).__name__
    raise Malformed(f"its body is no JSON ({kind})")


def _holds(template: Any, mark: str) -> bool:
    if isinstance(template, Mapping):
        return any(_holds(part, mark) for part in template.values())
    if isinstance(template, list | tuple):
        return any(_holds(part, mark) for part in template)
    return bool(template == mark)


def _revealed(template: Any, name: str = "") -> list[str]:
    """Return the secrets in the part of a template under a key."""
    if isinstance(template, Env):
        return [template.reveal()]
    if isinstance(template, str):
        secret = template not in ROWS and (SECRET_KEYS.search(name) or TOKEN.search(template))
        return [template] if secret else []
    if isinstance(template, Mapping):
        return [text for key, part in template.items() for text in _revealed(part, f"{name} {key}")]
    return [text for part in template for text in _revealed(part, name)] if isinstance(template, list | tuple) else []


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
    """Return the value at `path`: keys and positions separated by dots, * for each entry of a list."""
    keys = [key for key in path.split(".") if key]
    for depth, key in enumerate(keys):
        rest = ".".join(keys[depth + 1 :])
        if key == "*":
            if not isinstance(body, list):
                raise Malformed(f"the path {path!r} needs a list at '*', not a {type(body).__name__}")
            return [_at(entry, rest) for entry in body]
        try:
            body = body[int(key)] if isinstance(body, list) else body[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Malformed(f"the path {path!r} leads nowhere: there is no {key!r}") from None
    return body


def _tensors(body: Any) -> list[Any]:
    """Return the outputs of an answer in the Open Inference Protocol."""
    found = body.get("outputs") if isinstance(body, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(one, Mapping) and "name" in one for one in found):
        raise Malformed(
            "it has no list of tensors under 'outputs', as the Open Inference Protocol requires; for a service with "
            "JSON of its own set request=… and response=… (--request, --response)"
        )
    return found


def _texts_in(raw: bytes) -> list[str]:
    """Return texts that are stored as bytes, each after its length."""
    texts, start = [], 0
    while start < len(raw):
        end = start + 4 + int.from_bytes(raw[start : start + 4], "little")
        if end > len(raw):
            raise Malformed("one of its texts is cut off")
        texts.append(raw[start + 4 : end].decode())
        start = end
    return texts


def _tensor(tensor: Any, raw: bytes | None) -> Any:
    shape, datatype = tuple(tensor["shape"]), tensor["datatype"]
    if datatype == "BYTES":
        texts = tensor["data"] if raw is None else _texts_in(raw)
        return np.array(texts, dtype=object).reshape(shape[0], -1)[:, 0].tolist()
    if datatype not in DATATYPES:
        raise Refused(
            f"The service must return a tensor of {', '.join(DATATYPES)}; got {excerpt(repr(datatype), NAMES_LENGTH)}.",
            code="tensor-type-unknown",
        )
    dtype = DATATYPES[datatype].newbyteorder("<")
    if raw is not None:
        return np.frombuffer(raw, dtype).reshape(shape)
    kinds = _kinds(tensor["data"])
    if not kinds <= JSON_KINDS[dtype.kind]:
        found = ", ".join(sorted(kind.__name__ for kind in kinds - JSON_KINDS[dtype.kind]))
        raise Malformed(f"its tensor of type {datatype} holds values of type {found}")
    return np.array(tensor["data"], dtype=dtype).reshape(shape)


def _kinds(data: Any) -> set[type]:
    """Return the types of the values in nested lists."""
    found = set(map(type, data))
    if list in found:
        nested = (_kinds(part) for part in data if isinstance(part, list))
        found = found.difference([list]).union(*nested)
    return found
