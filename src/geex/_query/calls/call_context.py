"""What a model may ask about the call that it answers: whether the run is being stopped, and a key of the call.

Models that wait, as for a server, end their wait when the run is stopped. The key is the same for all attempts at a
call.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4


class _Call:
    """The event that stops the run, and the key of the call, which few models need."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.key = ""


# The call that this thread makes.
_CALL: ContextVar[_Call | None] = ContextVar("geex_call", default=None)


@contextmanager
def one_call(stop: threading.Event) -> Iterator[None]:
    """While this is entered, all calls in this thread are attempts at one, which `stop` ends."""
    token = _CALL.set(_Call(stop))
    try:
        yield
    finally:
        _CALL.reset(token)


def cancelled() -> bool:
    """Return whether the run is being stopped."""
    call = _CALL.get()
    return call is not None and call.stop.is_set()


def call_key() -> str:
    """Return a key that no other call has; outside of a run a new one each time."""
    call = _CALL.get()
    if call is None:
        return uuid4().hex
    call.key = call.key or uuid4().hex
    return call.key
