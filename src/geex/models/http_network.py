"""The network below httpx: one deadline for a whole exchange, a limit on its bytes, and no reply left on a connection.

httpx limits each step of an exchange in time, and not their sum: a server that drips keeps it for ever. Here the name
lookup, the connection, the TLS handshake, the request and the reply share one deadline. A stopped run ends them.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from geex._query.calls.call_context import cancelled

# Seconds between looks at whether the run is being stopped.
STOP_LOOK = 0.1
# Seconds that an exchange has left when the run is stopped: its answer is paid for, and may be on its way.
LAST_WAIT = 1.0
# Bytes that are sent between looks at the deadline.
SENT_AT_ONCE = 2**16
# The most bytes of a reply, as they are received; the same is the limit of what they decode to.
LARGEST_REPLY = 2**28


class ReplyTooLarge(Exception):
    """A reply of more than LARGEST_REPLY bytes."""


@dataclass(eq=False)
class Exchange:
    """One request and its reply. end: its deadline, on the monotonic clock."""

    end: float
    received: int = 0

    def left(self) -> float:
        """Return the seconds that are left. Raise TimeoutError if none are."""
        now = time.monotonic()
        if cancelled():
            self.end = min(self.end, now + LAST_WAIT)
        if now >= self.end:
            raise TimeoutError
        return self.end - now

    def count(self, size: int) -> None:
        """Count bytes that were received. Raise ReplyTooLarge beyond the limit."""
        self.received += size
        if self.received > LARGEST_REPLY:
            raise ReplyTooLarge


# The exchange that this thread is making.
_EXCHANGE: ContextVar[Exchange | None] = ContextVar("geex_exchange", default=None)


@contextmanager
def exchange(seconds: float) -> Iterator[None]:
    """While this is entered, what this thread sends and receives is one exchange of at most `seconds`."""
    token = _EXCHANGE.set(Exchange(time.monotonic() + seconds))
    try:
        yield
    finally:
        _EXCHANGE.reset(token)


def _current() -> Exchange:
    return _EXCHANGE.get() or Exchange(float("inf"))


class ReplyEnd:
    """Where a reply ends: whether bytes followed it, which nobody asked for."""

    def __init__(self) -> None:
        import h11  # httpx depends on it

        self.h11 = h11
        self.parser = h11.Connection(h11.CLIENT)
        # any request whose reply may have a body
        self.parser.send(h11.Request(method="GET", target="/", headers=[("Host", "-")]))
        self.parser.send(h11.EndOfMessage())

    def passed(self, data: bytes) -> bool:
        """Return whether more was received than a reply."""
        h11 = self.h11
        try:
            self.parser.receive_data(data)
            while self.parser.their_state not in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR):
                if self.parser.next_event() in (h11.NEED_DATA, h11.PAUSED):
                    return False
            return bool(self.parser.trailing_data[0])
        except h11.RemoteProtocolError:
            return True


class Stream:
    """A connection of httpcore that keeps to the deadline of the exchange that it is used for."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.exchange: Exchange | None = None
        self.reply_end = ReplyEnd()
        self.unread = False  # whether bytes were received that belong to no reply

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        import httpcore

        now = _current()
        while True:
            try:
                wait = min(STOP_LOOK, now.left())
            except TimeoutError:
                raise httpcore.ReadTimeout from None
            try:
                data: bytes = self.inner.read(max_bytes, wait)
                break
            except httpcore.ReadTimeout:
                continue
        now.count(len(data))
        self.unread = self.unread or self.reply_end.passed(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        import httpcore

        now = _current()
        if now is not self.exchange:
            self.exchange, self.reply_end = now, ReplyEnd()
        for start in range(0, len(buffer), SENT_AT_ONCE):
            try:
                wait = now.left()
            except TimeoutError:
                raise httpcore.WriteTimeout from None
            self.inner.write(buffer[start : start + SENT_AT_ONCE], wait)

    def close(self) -> None:
        self.inner.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> "Stream":
        return Stream(_in_time(lambda left: self.inner.start_tls(ssl_context, server_hostname, left)))

    def get_extra_info(self, info: str) -> Any:
        """Return what the connection knows. One with unread bytes counts as readable: httpcore then closes it."""
        return True if info == "is_readable" and self.unread else self.inner.get_extra_info(info)


class Network:
    """A network backend for httpcore: connections are made in time, and are Streams."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Stream:
        return Stream(_in_time(lambda left: self.inner.connect_tcp(host, port, timeout=left, **options)))

    def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> Stream:
        return Stream(_in_time(lambda left: self.inner.connect_unix_socket(path, timeout=left, **options)))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _in_time(connect: Callable[[float], Any]) -> Any:
    """Return connect(seconds left). It runs in a thread of its own: the name lookup, several addresses, or a handshake
    that drips, may take longer than any timeout that they are given."""
    import httpcore

    now, made, done = _current(), _Made(), threading.Event()

    def run(left: float) -> None:
        try:
            made.connection = connect(left)
        except BaseException as error:
            made.error = error
        done.set()
        if made.abandoned and made.connection is not None:
            made.connection.close()

    try:
        threading.Thread(target=run, args=(now.left(),), name="geex-connect", daemon=True).start()
        while not done.wait(min(STOP_LOOK, now.left())):
            pass
    except BaseException as error:
        made.abandoned = True
        if done.is_set() and made.connection is not None:
            made.connection.close()
        if isinstance(error, TimeoutError):
            raise httpcore.ConnectTimeout from None
        raise
    if made.error is not None:
        raise made.error
    return made.connection


class _Made:
    """What a thread that connects has made."""

    connection: Any = None
    error: BaseException | None = None
    abandoned = False
