"""What a session sends to the model, and how much it may send."""

import threading

from geex._query.batch_size import BatchSize
from geex._query.calls.allowance import Allowance, Spent
from geex._query.calls.outcome import Outcome


class Spending:
    """Rows sent and calls failed, over all threads and workers of a session; and the size of the next batch.

    most: the most rows that are sent; None: no limit. spent: whether no more may be sent.
    """

    def __init__(self, batch: BatchSize, most: int | None = None) -> None:
        self.batch = batch
        self.sent = 0
        self.failed = 0
        self.spent = False
        self._allowance = Allowance(most)
        self._lock = threading.Lock()

    def reserve(self, rows: int) -> int:
        """Return how many of the rows of a job may be sent."""
        try:
            allowed = self._allowance.take(rows)
        except Spent:
            allowed = 0
        self.spent = self.spent or allowed < rows
        return allowed

    def count(self, outcome: Outcome, reserved: int) -> None:
        """Count an outcome, for which `reserved` rows were reserved."""
        with self._lock:
            self.sent += outcome.sent
            self.failed += outcome.failed
        if outcome.seconds is not None and outcome.error is None and not outcome.failed:
            self.batch.took(outcome.sent, outcome.seconds)
        if outcome.sent > reserved:
            self.reserve(outcome.sent - reserved)
        self.spent = self.spent or isinstance(outcome.error, Spent)
