"""A model behind HTTP: one call is one request, and each kind of failure has its own error.

    TransientError   no usable answer: timeout, reset, 408, 425, 429, 5xx. The engine retries.
    Unreachable      a TransientError: no connection.
    Unreadable       a TransientError: the body is cut off, no JSON, of the wrong length, or holds NaN.
    TooLarge         413, or a request of more than 64 MB. The engine sends the halves.
    Refused          any other status, or a request that cannot be made. A retry would fail too.

Nothing is retried and nothing waits here. Messages hold no header, no user and no query of the address.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from geex._arrays.arrays import Array, host
from geex._arrays.validation import positive, shown
from geex._problem.digest import digest
from geex._problem.outputs import checked_labels
from geex._query.calls.call_context import call_key
from geex._query.limits import Limits
from geex.errors import InputError, ModelError, Refused, TooLarge, TransientError, Unreachable, Unreadable
from geex.models.http_answers import BODY_EXCERPT, checked_scores, retry_after_seconds, start_of
from geex.models.http_client import Reply, library, send
from geex.models.http_network import LARGEST_REPLY, ReplyTooLarge
from geex.models.redaction import confidential, excerpt, remember
from geex.models.request_formats import DATATYPES, V2, Json, Malformed
from geex.models.secrets import Address, Env, Secret

# The limits of a service that declares none.
LIMITS = Limits(concurrency=8, rows=64, attempts=8)
# Seconds for a request and its whole answer.
TIMEOUT = 30.0
# Statuses below 500 that may pass: request timeout, too early, too many requests.
RETRIED_STATUSES = {408, 425, 429}
# What the name of a header consists of.
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Bytes of the largest request that is sent; many servers refuse more.
LARGEST_REQUEST = 64 * 2**20


@dataclass(frozen=True, eq=False)
class Http:
    """A service: its address, its protocol and its limits; see `http`."""

    address: Address
    protocol: V2 | Json
    headers: tuple[tuple[str, Secret | Env], ...] = ()
    timeout: float = TIMEOUT
    labels: tuple[str, ...] | None = None
    limits: Limits = field(default=LIMITS, repr=False)
    verify: bool | str = field(default=True, repr=False)
    idempotency_key: str | None = field(default=None, repr=False)

    @property
    def most_rows(self) -> int | None:
        """The most rows of one call: one, where a request holds one row. It is then retried by itself."""
        return 1 if self.protocol.single else None

    def __call__(self, queries: Array | list[Any]) -> Any:
        """Return scores (n,) or (n, k), or lists of labels as they come, for queries (n, *shape) or n texts."""
        if not self.protocol.single or len(queries) == 1:
            return self._answer(queries)
        answers = [self._answer(queries[number : number + 1]) for number in range(len(queries))]
        return (
            np.concatenate(answers) if isinstance(answers[0], np.ndarray) else [row for part in answers for row in part]
        )

    @property
    def identity(self) -> str:
        """A text that changes with the address, the request and the path to the scores, and with no secret."""
        return digest(self.address.public_parts, self.protocol.meaning)

    def _answer(self, queries: Any) -> Any:
        headers = {name: value.reveal() for name, value in self.headers}
        key = _key_of(queries)
        hidden = [secret for name, value in headers.items() for secret in confidential(name, value)]
        remember([*hidden, *self.address.secrets(), *self.protocol.secrets()])
        if self.idempotency_key is not None:
            headers[self.idempotency_key] = key
        reply = self._send(queries, headers, key)
        if not 200 <= reply.status < 300:
            raise self._failure(reply)
        try:
            return checked_scores(self.protocol.response(reply.content, reply.headers, key), len(queries))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            # a body of an unexpected form ends in one of these
            reason = f"{error}" if isinstance(error, Malformed) else f"{type(error).__name__}: {error}"
        # raised here, so that no error in the chain holds the body
        raise Unreadable(
            f"{self.address} answered {reply.status}, but {excerpt(reason, BODY_EXCERPT)}{start_of(reply.content)}",
            code="answer-unreadable",
        )

    def _send(self, queries: Any, headers: dict[str, str], key: str) -> Reply:
        httpx = library()
        body = self.protocol.request(queries, key)
        if len(body.content) > LARGEST_REQUEST and len(queries) > 1:
            raise TooLarge(
                f"A request must have at most {LARGEST_REQUEST / 2**20:.0f} MB; {len(queries)} rows have "
                f"{len(body.content) / 2**20:.0f} MB. Send fewer rows at a time.",
                code="request-too-large",
            )
        try:
            return send(self.address, body, headers, self.timeout, self.verify, self)
        except ReplyTooLarge:
            failure: ModelError = TooLarge(
                f"A reply must have at most {LARGEST_REPLY / 2**20:.0f} MB, decoded; that of {self.address} to "
                f"{len(queries)} rows has more.",
                code="reply-too-large",
            )
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, UnicodeError, OSError) as error:
            failure = self._connection_failure(error, excerpt(str(error), BODY_EXCERPT))
        raise failure  # here, so that no error in the chain holds the request

    def _connection_failure(self, error: Exception, text: str) -> ModelError:
        """Return the error for a request that brought no reply; `text` is the cause without secrets."""
        httpx = library()
        if isinstance(error, httpx.TimeoutException):
            return TransientError(
                f"{self.address} gave no complete answer within {self.timeout:g} s.", code="service-timeout"
            )
        reason = f"{type(error).__name__}: {text}"
        permanent = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, UnicodeError)
        if isinstance(error, permanent) or "CERTIFICATE_VERIFY_FAILED" in reason:
            return Refused(f"The request to {self.address} cannot be made: {reason}", code="request-impossible")
        if isinstance(error, httpx.ConnectError):
            return Unreachable(
                f"{self.address} could not be reached ({text}). Check the address.", code="service-unreachable"
            )
        return TransientError(f"The connection to {self.address} broke off: {reason}", code="connection-lost")

    def _failure(self, reply: Reply) -> ModelError:
        """Return the error for a status that is no success."""
        problem = f"{self.address} answered {reply.status}{start_of(reply.content)}"
        if reply.status in RETRIED_STATUSES or reply.status >= 500:
            return TransientError(
                problem, retry_after_seconds(reply.headers.get("Retry-After")), code="service-unavailable"
            )
        if 300 <= reply.status < 400:
            target = Address(excerpt(reply.headers.get("Location", "elsewhere"), BODY_EXCERPT))
            return Refused(f"{problem} It redirects to {target}.", reply.status, code="service-redirects")
        if reply.status in (401, 403):
            fix = 'Pass a token: headers={"Authorization": geex.models.env("NAME", "Bearer {}")}.'
            return Refused(problem, reply.status, code="service-unauthorised", fix=fix)
        if reply.status == 413:
            return TooLarge(problem, reply.status, code="request-too-large")
        code, fix = self.protocol.hint(reply.status, self.address.url)
        return Refused(problem, reply.status, code=code or "service-refused", fix=fix)


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
    idempotency_key: str | None = None,
) -> Http:
    """Make a model out of a service behind HTTP.

    No request is sent before the first call. Each process keeps its own connections open.

    Parameters
    ----------
    url : str
        The address. For "v2" it ends in /v2/models/NAME.
    protocol : {"v2", "json"}, optional
        "v2" is the Open Inference Protocol of MLServer, KServe and Triton; "json" is any other JSON. By default
        "json" if `request` or `response` is given, else "v2".
    input : str, default "input-0"
        For "v2": the name of the tensor that holds the queries.
    output : str, optional
        For "v2": the name of the tensor that holds the scores. By default the only one.
    datatype : str, optional
        For "v2": the type of the input, such as "FP32". By default that of the queries.
    binary : bool, default False
        For "v2": send tensors as bytes after the JSON.
    request : JSON or callable, optional
        For "json": a template in which "{rows}" stands for all rows of a call, or "{row}" for its only row, and
        `env(name)` for a token. Or a function from queries (n, *shape) to JSON or bytes. By default "{rows}".
    response : str or callable, optional
        For "json": the path to the scores, keys and positions separated by dots, * for each entry of a list, such as
        "predictions.*.score". Or a function from the JSON to a list with an entry for each row. By default the whole
        body.
    headers : mapping of str to str or Env, optional
        Values are never printed. `env(name)` reads one from the environment at each request.
    timeout : float, default 30
        Seconds for a request and its whole answer, from the name lookup to the last byte.
    labels : sequence of str, optional
        Names of the outputs.
    limits : Limits, optional
        By default 8 calls at a time, at most 64 rows each, and 8 attempts.
    verify : bool or str, default True
        False, or a file of certificates, for services with certificates of their own.
    idempotency_key : str, optional
        A header, such as "Idempotency-Key". It gets one key for each request, the same for all attempts at it. A
        service that supports such keys computes a request once, even if its answer is lost on the way.

    Returns
    -------
    Http
        A callable from queries (n, *shape) to scores (n,) or (n, k).

    Raises
    ------
    InputError
        If a setting is wrong.
    Refused, TransientError
        When called; see `geex.errors`. `geex.explain` retries after a TransientError.

    Examples
    --------
    >>> import geex
    >>> geex.models.http("https://me:password@models.example/v2/models/cats")
    Http(address=https://***@models.example/v2/models/cats/infer, protocol=V2(input='input-0', output=None, \
datatype=None, binary=False), headers=(), timeout=30.0, labels=None)
    >>> model = geex.models.http(
    ...     "https://models.example/score",
    ...     request={"instances": "{rows}"},
    ...     response="predictions.*.score",
    ...     headers={"Authorization": geex.models.env("TOKEN", "Bearer {}")},
    ... )
    >>> model.limits.rows
    64
    """
    protocol = protocol or ("v2" if request is None and response is None else "json")
    _check_address(url, protocol)
    spoken: V2 | Json
    if protocol == "v2":
        if request is not None or response is not None:
            raise InputError(
                "`request` and `response` must be left out with the protocol 'v2'; they are for 'json'.",
                code="template-for-v2",
            )
        if datatype is not None and datatype not in DATATYPES:
            raise InputError(
                f"`datatype` must be one of {', '.join(DATATYPES)}; got {datatype!r}.", code="datatype-unknown"
            )
        spoken = V2(input, output, datatype, binary)
    else:
        spoken = Json("{rows}" if request is None else request, "" if response is None else response)
    if limits is None:
        limits = replace(LIMITS, rows=1) if spoken.single else LIMITS
    named = checked_labels(labels)
    return Http(
        address=Address(spoken.address(url)),
        protocol=spoken,
        headers=tuple((name, _secret(name, value)) for name, value in (headers or {}).items()),
        timeout=positive("timeout", timeout, InputError, "a number of seconds"),
        labels=None if named is None else tuple(named),
        limits=limits,
        verify=verify,
        idempotency_key=_header_name(idempotency_key),
    )


def _key_of(queries: Any) -> str:
    """Return the key of a request: the same for all attempts at the same rows of a call, and no other."""
    content = repr(queries).encode() if isinstance(queries, list) else host(queries).tobytes()
    return hashlib.sha256(call_key().encode() + content).hexdigest()[:32]


def _header_name(name: Any) -> str | None:
    if name is None or (isinstance(name, str) and HEADER_NAME.fullmatch(name)):
        return name
    raise InputError(
        f"`idempotency_key` must be the name of a header, such as 'Idempotency-Key', or None; got {shown(name)}.",
        code="idempotency-key-not-a-header",
    )


def _check_address(url: Any, protocol: str) -> None:
    if protocol not in ("v2", "json"):
        raise InputError(f"`protocol` must be 'v2' or 'json'; got {protocol!r}.", code="protocol-unknown")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, TypeError, AttributeError):
        good = False
    if not good:
        got = Address(url) if isinstance(url, str) else type(url).__name__
        raise InputError(f"`url` must be an address, http://… or https://…; got {got}.", code="url-not-an-address")


def _secret(name: str, value: Any) -> Secret | Env:
    if isinstance(value, Env):
        return value
    if not isinstance(value, str):
        raise InputError(
            f"The header {name!r} must be a text or geex.models.env(name); got a {type(value).__name__}.",
            code="header-not-text",
        )
    return Secret(value)
