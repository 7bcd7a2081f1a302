"""A model behind HTTP: one call is one request, and every way it fails has a name.

    TransientError   no answer, or none that can be used: timeout, reset, 408, 425, 429, 5xx. The engine asks again.
    Unreachable      one of these: nobody there.
    Unreadable       one of these: a body that is cut off, no JSON, of the wrong length, or with NaN in it.
    TooLarge         413, or a request of more than 64 MB. The engine asks for the halves.
    Refused          any other status, or a request that cannot be made: it would be refused again.

Nothing is retried here, and nothing waits. Messages hold no header, and of the address neither user nor query.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from geex._arrays.arrays import Array
from geex._arrays.validation import positive
from geex._problem.digest import digest
from geex._problem.outputs import checked_labels
from geex._query.limits import Limits
from geex.errors import InputError, Refused, TooLarge, TransientError, Unreachable, Unreadable
from geex.models.http_client import Reply, library, send
from geex.models.request_formats import DATATYPES, V2, Json, Malformed
from geex.models.secrets import Address, Env, Secret, scrubbed

LIMITS = Limits(concurrency=8, rows=64, attempts=8)
TIMEOUT = 30.0
AGAIN = {408, 425, 429}
LARGEST = 64 * 2**20
SHOWN = 300
READ = 2**16


@dataclass(frozen=True, eq=False)
class Http:
    """A service: where it is, how it is spoken to, and how hard it may be asked; see `http`."""

    address: Address
    protocol: V2 | Json
    headers: tuple[tuple[str, Secret | Env], ...] = ()
    timeout: float = TIMEOUT
    labels: tuple[str, ...] | None = None
    limits: Limits = field(default=LIMITS, repr=False)
    verify: bool | str = field(default=True, repr=False)

    def __call__(self, queries: Array | list[Any]) -> Any:
        """Queries (n, *shape), or a list of n texts -> scores (n,) or (n, k); lists of labels as they come."""
        if not self.protocol.single or len(queries) == 1:
            return self._asked(queries)
        answers = [self._asked(queries[number : number + 1]) for number in range(len(queries))]
        return (
            np.concatenate(answers) if isinstance(answers[0], np.ndarray) else [row for part in answers for row in part]
        )

    @property
    def identity(self) -> str:
        """Another one for another address, request or place of the scores, and the same with another secret."""
        return digest(self.address.open, self.protocol.meaning)

    def _asked(self, queries: Any) -> Any:
        headers = {name: value.reveal() for name, value in self.headers}
        secrets = [*headers.values(), *self.address.secrets(), *self.protocol.secrets()]
        reply = self._sent(queries, headers, secrets)
        if not 200 <= reply.status < 300:
            raise self._failed(reply, secrets)
        try:
            return _checked(self.protocol.response(reply.content, reply.headers), len(queries))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            # reading a body that has another form than was agreed on ends in one of these
            said = f"{error}" if isinstance(error, Malformed) else f"{type(error).__name__}: {error}"
            raise Unreadable(
                scrubbed(said, secrets) + _start(reply.content, secrets) + f" ({self.address} answered {reply.status})"
            ) from None

    def _sent(self, queries: Any, headers: dict[str, str], secrets: list[str]) -> Reply:
        httpx = library()
        body = self.protocol.request(queries)
        if len(body.content) > LARGEST and len(queries) > 1:
            size = f"{len(queries)} rows are {len(body.content) / 2**20:.0f} MB as a request"
            raise TooLarge(f"{size}, and {LARGEST / 2**20:.0f} MB are the most; ask fewer at a time.")
        try:
            return send(self.address, body, headers, self.timeout, self.verify)
        except httpx.TimeoutException:
            raise TransientError(f"{self.address} gave no whole answer within {self.timeout:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, UnicodeError, OSError) as error:
            said = f"{type(error).__name__}: {scrubbed(str(error), secrets)}"
            wrong = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, UnicodeError)
            if isinstance(error, wrong) or "CERTIFICATE_VERIFY_FAILED" in said:
                raise Refused(f"{self.address} cannot be asked: {said}") from None
            if isinstance(error, httpx.ConnectError):
                raise Unreachable(f"{self.address} could not be reached: {said} Is the address right?") from None
            raise TransientError(f"{self.address} broke off: {said}") from None

    def _failed(self, reply: Reply, secrets: list[str]) -> Exception:
        said = f"{self.address} answered {reply.status}{_start(reply.content, secrets)}"
        if reply.status in AGAIN or reply.status >= 500:
            return TransientError(said, _seconds(reply.headers.get("Retry-After")))
        hint = ""
        if 300 <= reply.status < 400:
            where = scrubbed(reply.headers.get("Location", "elsewhere"), secrets)
            hint = f" It sends to {Address(where)}: give that address, if it is right."
        elif reply.status in (401, 403):
            hint = ' Give a token with headers={"Authorization": geex.models.env("NAME", "Bearer {}")}.'
        else:
            hint = self.protocol.hint(reply.status, self.address.url)
        kind = TooLarge if reply.status == 413 else Refused
        return kind(f"{said}{hint}", reply.status)


def http(
    url: str,
    *,
    protocol: str | None = None,
    input: str = "input-0",
    output: str | None = None,
    datatype: str | None = None,
    binary: bool = False,
    request: Any = None,
    response: str | Callable[[Any], Any] | None = None,
    headers: Mapping[str, str | Env] | None = None,
    timeout: float = TIMEOUT,
    labels: Any = None,
    limits: Limits | None = None,
    verify: bool | str = True,
) -> Http:
    """A model behind HTTP. Nothing is sent before the first call; connections are kept, for every process its own.

    protocol: "v2", the Open Inference Protocol of MLServer, KServe and Triton, at …/v2/models/NAME; or "json". None:
        "json" where request or response is given.
    input, output, datatype, binary: for v2: the names of the tensors (the only output, if None), the type of the input
        ("FP32", …; None: that of the queries), and whether tensors travel as bytes behind the JSON.
    request: for json: a template, any JSON in which "{rows}" stands for all rows of a call, or "{row}" for its only
        one, and `env(name)` for a token; or a function from queries (n, *shape) to JSON or bytes. None: "{rows}".
    response: the path to the scores, keys and places with dots between, * for every entry of a list, such as
        "predictions.*.score"; or a function from the JSON to a list with an entry for each row. None: the whole body.
    headers: values are never shown; `env(name)` reads one from the environment at every request.
    timeout: seconds for a request and its whole answer.
    limits: None: 8 calls at a time of at most 64 rows, 8 attempts.
    verify: False, or the path of a certificate authority's file, for services with certificates of their own.
    """
    protocol = protocol or ("v2" if request is None and response is None else "json")
    if protocol not in ("v2", "json") or not _is_address(url):
        told = Address(url) if isinstance(url, str) else type(url).__name__
        raise InputError(f"url is {told} and protocol {protocol!r}; wanted http://… or https://…, and 'v2' or 'json'.")
    spoken: V2 | Json
    if protocol == "v2":
        if request is not None or response is not None:
            raise InputError("request and response are for protocol='json'; leave them out, or leave out 'v2'.")
        if datatype is not None and datatype not in DATATYPES:
            raise InputError(f"datatype is {datatype!r}; wanted one of {', '.join(DATATYPES)}.")
        spoken = V2(input, output, datatype, binary)
    else:
        spoken = Json("{rows}" if request is None else request, "" if response is None else response)
    if limits is None:
        limits = Limits(
            concurrency=LIMITS.concurrency, rows=1 if spoken.single else LIMITS.rows, attempts=LIMITS.attempts
        )
    named = checked_labels(labels)
    return Http(
        address=Address(spoken.address(url)),
        protocol=spoken,
        headers=tuple((name, _held(name, value)) for name, value in (headers or {}).items()),
        timeout=positive("timeout", timeout, InputError, "a number of seconds"),
        labels=None if named is None else tuple(named),
        limits=limits,
        verify=verify,
    )


def _is_address(url: Any) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, TypeError, AttributeError):
        return False


def _held(name: str, value: Any) -> Secret | Env:
    if isinstance(value, Env):
        return value
    if not isinstance(value, str):
        raise InputError(f"the header {name!r} is a {type(value).__name__}; wanted text or geex.models.env(name).")
    return Secret(value)


def _checked(rows: Any, count: int) -> Any:
    """One entry for each row, numbers finite: as an array, or, where labels are in it, as the list it is."""
    if not isinstance(rows, np.ndarray | list | tuple):
        raise Malformed(f"the scores are a {type(rows).__name__} and no list")
    if len(rows) != count:
        raise Malformed(f"{len(rows)} rows were answered and {count} asked")
    if isinstance(rows, list | tuple) and _labelled(rows):
        return list(rows)
    answers = np.asarray(rows)
    if answers.dtype.kind not in "buif":
        answers = answers.astype(np.float64)
    if not np.isfinite(answers).all():
        raise Malformed("NaN or infinity among the scores")
    return answers


def _labelled(value: Any) -> bool:
    """Whether there are labels in it; raises Malformed where a number beside them is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Malformed("NaN or infinity among the scores")
    if isinstance(value, list | tuple | Mapping):
        entries = value.values() if isinstance(value, Mapping) else value
        found = [_labelled(entry) for entry in entries]
        return isinstance(value, Mapping) or any(found)
    return isinstance(value, str)


def _start(content: bytes, secrets: list[str]) -> str:
    """The first words of a body; cut after it is scrubbed, since half a secret is not known for one."""
    text = scrubbed(content[:READ].decode(errors="replace").strip(), secrets)
    return f": {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}" if text else ", with no body."


def _seconds(after: str | None) -> float | None:
    """Retry-After in seconds from now: a number, or a date."""
    if after is None:
        return None
    try:
        seconds = float(after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(after).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
