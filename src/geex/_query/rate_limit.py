"""Rate limits and waits between attempts.

    wait before attempt a + 1:   u · min(longest, backoff · 2^(a − 1)),   u ~ U[½, 1]

A time that the server names replaces this wait, and holds back every thread. `stop` ends a wait.
"""

import random
import threading
import time

from geex._query.limits import Limits

# A wait that the server names is made up to this much longer, so that threads do not all return at once.
SPREAD = 0.1


class Stopped(Exception):
    """The run is being stopped, and this call is not needed any more."""


class RateLimiter:
    """The rate limits of one process, shared by its threads."""

    def __init__(self, limits: Limits, stop: threading.Event | None = None) -> None:
        self.limits = limits
        self.stop = threading.Event() if stop is None else stop
        self._lock = threading.Lock()
        self._free = 0.0  # when the rates allow the next call
        self._held = 0.0  # until when a server asks to wait
        self._random = random.Random()

    def wait_for_turn(self, rows: int) -> None:
        """Wait until a call of `rows` rows may be made. Raise Stopped if the run ends first."""
        limits = self.limits
        steps = [1 / limits.requests_per_second] if limits.requests_per_second else []
        steps += [rows / limits.rows_per_second] if limits.rows_per_second else []
        with self._lock:  # the turn is reserved under the lock, and waited for outside it
            begin = max(time.monotonic(), self._free)
            self._free = max(self._free, begin + max(steps, default=0.0))
        self._sleep_until(begin)
        while (held := self._held) > time.monotonic():  # another thread may have set a later time meanwhile
            self._sleep_until(held)

    def back_off(self, attempt: int, retry_after: float | None) -> None:
        """Wait after attempt number `attempt` (from 1) has failed. Raise Stopped if the run ends first."""
        if retry_after is not None:
            with self._lock:
                self._held = max(self._held, time.monotonic() + max(0.0, retry_after))
            wait = max(0.0, retry_after) * (1 + SPREAD * self._random.random())
        else:
            longest = min(self.limits.longest, self.limits.backoff * 2.0 ** (attempt - 1))
            wait = longest * (0.5 + 0.5 * self._random.random())
        self._sleep_until(time.monotonic() + wait)

    def _sleep_until(self, moment: float) -> None:
        wait = moment - time.monotonic()
        if wait > 0 and self.stop.wait(wait):
            raise Stopped
