"""One HTTP client per process. It keeps connections open, and writes no secret to a log."""

import atexit
import os
import ssl
import threading
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from geex.errors import InputError, MissingPackage
from geex.models.http_cookies import add_cookies, cookies_of, keep_cookies, refuse_cookies
from geex.models.http_network import LARGEST_REPLY, Network, ReplyTooLarge, exchange
from geex.models.redaction import hide_in_logs
from geex.models.request_formats import Body
from geex.models.secrets import Address

# Idle connections that a process keeps open.
IDLE_CONNECTIONS = 64
# The window of zlib that reads both gzip and zlib.
GZIP_OR_ZLIB = 47


def library() -> Any:
    """Import httpx at the moment of use."""
    try:
        import httpx
    except ImportError:
        raise MissingPackage(
            "A model behind HTTP needs httpx. Run `pip install httpx` (the extra `http`).", code="httpx-missing"
        ) from None
    return httpx


@dataclass(frozen=True)
class Reply:
    """A complete reply."""

    status: int
    headers: Any
    content: bytes


def send(
    address: Address, body: Body, headers: dict[str, str], timeout: float, verify: bool | str, model: Any
) -> Reply:
    """Post a body and read the whole reply within `timeout` seconds. Errors are those of httpx, or ReplyTooLarge.

    model: whose cookies are sent and kept.
    """
    hide_in_logs()
    client = _client(verify)
    merged = {"Accept-Encoding": "gzip", **body.headers, **headers}
    cookies = cookies_of(model, library())
    add_cookies(cookies, address.url, merged, library())
    with (
        exchange(timeout),
        client.stream("POST", address.url, content=body.content, headers=merged, timeout=timeout) as response,
    ):
        keep_cookies(cookies, response)
        content = b"".join(_decoded(response.iter_raw(), response.headers.get("Content-Encoding", "identity")))
        return Reply(response.status_code, response.headers, content)


def _decoded(parts: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the content of a body. Raise ReplyTooLarge as soon as there is too much of it.

    httpx decodes without a limit: a few megabytes of gzip may be gigabytes.
    """
    if encoding.strip().lower() == "identity":
        yield from parts
        return
    httpx = library()
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError(f"the reply has the encoding {encoding!r}; the request allows gzip")
    decoder, room, whole = zlib.decompressobj(GZIP_OR_ZLIB), LARGEST_REPLY, True
    try:
        for part in parts:
            while part:
                content = decoder.decompress(part, room + 1)
                room -= len(content)
                if room < 0:
                    raise ReplyTooLarge
                yield content
                part, whole = decoder.unused_data, decoder.eof  # another gzip member may follow
                decoder = zlib.decompressobj(GZIP_OR_ZLIB) if decoder.eof else decoder
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from None
    if not whole:  # without its checksum
        raise httpx.DecodingError("the compressed reply is cut off")


# guards _CLIENTS
_CLIENTS_LOCK = threading.Lock()
# one client for each process and `verify`
_CLIENTS: dict[tuple[int, bool | str], Any] = {}


def _client(verify: bool | str) -> Any:
    """Return the client of this process. A forked child has its own process id, and so its own client."""
    key = (os.getpid(), verify)
    with _CLIENTS_LOCK:
        if key not in _CLIENTS:
            _CLIENTS[key] = _open_client(verify)
        return _CLIENTS[key]


def _open_client(verify: bool | str) -> Any:
    httpx = library()
    try:
        context = ssl.create_default_context(cafile=verify) if isinstance(verify, str) else verify
    except OSError as error:
        raise InputError(
            f"`verify` must be True, False or a file of certificates; got {verify!r}: {error}.",
            code="verify-not-certificates",
        ) from None
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS)
    client = httpx.Client(verify=context, limits=limits)
    refuse_cookies(client)
    # httpx has no public way to set the network of its connections, those through proxies included
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:
            transport._pool._network_backend = Network(transport._pool._network_backend)
    return client


@atexit.register
def _close() -> None:
    """Close the clients of this process, and leave those of its parent alone."""
    for (process, _), client in _CLIENTS.items():
        if process == os.getpid():
            client.close()
