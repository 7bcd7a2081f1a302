"""Whether the run that this thread works for is being stopped: for models that wait, as for a server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_STOP: ContextVar[threading.Event | None] = ContextVar("geex_stop", default=None)


@contextmanager
def cancelled_by(stop: threading.Event) -> Iterator[None]:
    """While this is entered, `cancelled` returns whether `stop` is set, in this thread."""
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)


def cancelled() -> bool:
    """Return whether the run is being stopped."""
    stop = _STOP.get()
    return stop is not None and stop.is_set()
