"""How many rows may still be sent, those of failed attempts included."""

import threading

from geex._query.rate_limit import Stopped


class Spent(Stopped):
    """No more rows may be sent: the run ends, and the answers so far are explained."""


class Allowance:
    """`most` rows for all threads of a process; None: no limit."""

    def __init__(self, most: int | None) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, rows: int) -> int:
        """Return how many of the rows may be sent, at least one. Raise Spent if none may."""
        if self._left is None:
            return rows
        with self._lock:
            taken = min(rows, self._left)
            self._left -= taken
        if not taken:
            raise Spent
        return taken
