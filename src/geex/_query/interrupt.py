"""Ctrl-C stops the queries; the answers so far are explained.

The signal is raised where the run waits for the model. Elsewhere it is only recorded, so that no estimate is half made
and no answer is half written. The second Ctrl-C is raised wherever it comes.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from geex._query.rate_limit import Stopped

Result = TypeVar("Result")


class Interrupt:
    """While this is entered, Ctrl-C sets `stop`. A handler of the user's own stays in place."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._waiting = False
        self._before: Any = None

    def __enter__(self) -> "Interrupt":
        # Python delivers signals to the main thread only
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._waiting or self.stop.is_set():
            raise KeyboardInterrupt
        self.stop.set()

    def waiting(self, wait: Callable[..., Result], *arguments: Any) -> Result:
        """Return wait(*arguments). Raise Stopped if Ctrl-C ends it."""
        try:
            self._waiting = True
            result = wait(*arguments)
            self._waiting = False  # inside the try: Ctrl-C may come between these two lines
        except KeyboardInterrupt:
            self._waiting = False
            self.stop.set()
            raise Stopped from None
        except BaseException:
            self._waiting = False
            raise
        return result
