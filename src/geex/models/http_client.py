"""One HTTP client per process, which keeps its connections and tells no secret to a log."""

import atexit
import logging
import os
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any

from geex.errors import InputError, MissingPackage
from geex.models.request_formats import Body
from geex.models.secrets import Address

KEPT = 64


def library() -> Any:
    """httpx, imported when it is needed."""
    try:
        import httpx
    except ImportError:
        raise MissingPackage("a model behind HTTP needs httpx: pip install 'geex[http]'") from None
    return httpx


@dataclass(frozen=True)
class Reply:
    """What came back, whole."""

    status: int
    headers: Any
    content: bytes


def send(address: Address, body: Body, headers: dict[str, str], timeout: float, verify: bool | str) -> Reply:
    """Posts a body and reads all of the reply within `timeout` seconds. Raises httpx's errors."""
    httpx = library()
    end = time.monotonic() + timeout
    _quiet(address)
    client = _client(verify)
    said = {**body.headers, **headers}
    with client.stream("POST", address.url, content=body.content, headers=said, timeout=timeout) as response:
        parts = []
        # httpx times every read by itself, and a reply that trickles in would never end
        for part in response.iter_bytes():
            parts.append(part)
            if time.monotonic() > end:
                raise httpx.ReadTimeout(f"the reply was not complete after {timeout:g} s")
        return Reply(response.status_code, response.headers, b"".join(parts))


_LOCK = threading.Lock()
_CLIENTS: dict[tuple[int, bool | str], Any] = {}


def _client(verify: bool | str) -> Any:
    """The client of this process; a forked child is another process and has another."""
    key = (os.getpid(), verify)
    with _LOCK:
        if key not in _CLIENTS:
            _CLIENTS[key] = _opened(verify)
        return _CLIENTS[key]


def _opened(verify: bool | str) -> Any:
    httpx = library()
    try:
        context = ssl.create_default_context(cafile=verify) if isinstance(verify, str) else verify
    except OSError as error:
        raise InputError(f"verify is {verify!r}: {error}; wanted True, False or a file of certificates.") from None
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT)
    return httpx.Client(verify=context, limits=limits)


@atexit.register
def _close() -> None:
    """Closes what this process opened, and not what it was forked with."""
    for (process, _), client in _CLIENTS.items():
        if process == os.getpid():
            client.close()


class _Quiet(logging.Filter):
    """httpx logs the address of every request, its query included: of ours it logs what may be told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(self.told.get(str(arg), arg) if _is_url(arg) else arg for arg in record.args)
        return True


def _is_url(value: Any) -> bool:
    return isinstance(value, library().URL)


_QUIET = _Quiet()


def _quiet(address: Address) -> None:
    url = str(library().URL(address.url))
    if url not in _QUIET.told:
        _QUIET.told[url] = repr(address)
        logging.getLogger("httpx").addFilter(_QUIET)
