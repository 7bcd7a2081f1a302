"""When the next call may be made: rates that all threads share, and waits between attempts.

    wait before attempt a + 1:   u · min(longest, backoff · 2^(a − 1)),   u ~ U[½, 1]

or what the server asked for, which holds back every thread. Waits are ended by `stop`.
"""

import random
import threading
import time

from geex._query.limits import Limits

MORE = 0.1  # a server that names its time is left alone for up to this much longer, so that threads spread


class Stopped(Exception):
    """The run is being stopped: nobody waits for this call any more."""


class Pace:
    """The pace of one process."""

    def __init__(self, limits: Limits, stop: threading.Event | None = None) -> None:
        self.limits = limits
        self.stop = threading.Event() if stop is None else stop
        self._lock = threading.Lock()
        self._free = 0.0  # when the rates allow the next call
        self._held = 0.0  # until when a server asked to be left alone
        self._random = random.Random()

    def start(self, rows: int) -> None:
        """Returns when a call of `rows` rows may be made."""
        limits = self.limits
        steps = [1 / limits.requests_per_second] if limits.requests_per_second else []
        steps += [rows / limits.rows_per_second] if limits.rows_per_second else []
        with self._lock:
            begin = max(time.monotonic(), self._free)
            self._free = max(self._free, begin + max(steps, default=0.0))
        self._sleep_until(begin)
        while (held := self._held) > time.monotonic():
            self._sleep_until(held)

    def failed(self, attempt: int, retry_after: float | None) -> None:
        """Waits after attempt number `attempt` (from 1) failed."""
        if retry_after is not None:
            with self._lock:
                self._held = max(self._held, time.monotonic() + max(0.0, retry_after))
            wait = max(0.0, retry_after) * (1 + MORE * self._random.random())
        else:
            longest = min(self.limits.longest, self.limits.backoff * 2.0 ** (attempt - 1))
            wait = longest * (0.5 + 0.5 * self._random.random())
        self._sleep_until(time.monotonic() + wait)

    def _sleep_until(self, moment: float) -> None:
        wait = moment - time.monotonic()
        if wait > 0 and self.stop.wait(wait):
            raise Stopped
