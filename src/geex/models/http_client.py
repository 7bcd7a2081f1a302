"""One HTTP client per process. It keeps connections open, and writes no secret to a log."""

import atexit
import os
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any

from geex.errors import InputError, MissingPackage
from geex.models.redaction import hide_in_logs
from geex.models.request_formats import Body
from geex.models.secrets import Address

# Idle connections that a process keeps open.
IDLE_CONNECTIONS = 64


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


def send(address: Address, body: Body, headers: dict[str, str], timeout: float, verify: bool | str) -> Reply:
    """Post a body and read the whole reply within `timeout` seconds. Errors are those of httpx."""
    httpx = library()
    end = time.monotonic() + timeout
    hide_in_logs()
    client = _client(verify)
    merged = {**body.headers, **headers}
    with client.stream("POST", address.url, content=body.content, headers=merged, timeout=timeout) as response:
        parts = []
        # httpx limits each read, not their sum: a reply that arrives byte by byte would never end
        for part in response.iter_bytes():
            parts.append(part)
            if time.monotonic() > end:
                raise httpx.ReadTimeout(f"the reply was not complete after {timeout:g} s")
        return Reply(response.status_code, response.headers, b"".join(parts))


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
    return httpx.Client(verify=context, limits=limits)


@atexit.register
def _close() -> None:
    """Close the clients of this process, and leave those of its parent alone."""
    for (process, _), client in _CLIENTS.items():
        if process == os.getpid():
            client.close()
