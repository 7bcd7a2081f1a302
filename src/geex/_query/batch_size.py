"""The rows of the next call: few at first, more where calls are short, or where more rows take no longer.

After a call of r rows in s seconds the next one has as many rows as SHORT seconds are enough for, if that is more than
before; else twice as many as before, as long as that makes calls faster per row. Sizes are FIRST times a power of two.
The size changes no answer of a model that answers each row by itself, only how soon answers are stored.
"""

import threading

# Rows of a call before the first one was measured.
FIRST = 8
# Seconds that a call may take without a thought: progress is shown and answers are stored about as often.
SHORT = 1.0
# How much faster rows must become for the size to be doubled again.
FASTER = 1.3


class BatchSize:
    """The rows of the next call, at most `most`. fixed: always `most`, because the user has set it."""

    def __init__(self, most: int, fixed: bool = False) -> None:
        self.most = most
        self.fixed = fixed
        self.rows = most if fixed else min(FIRST, most)
        self._rate = 0.0  # rows per second, when the size was doubled last
        self._lock = threading.Lock()

    def took(self, rows: int, seconds: float) -> None:
        """Take into account that a call of `rows` rows took `seconds`."""
        if self.fixed or not rows:
            return
        rate = rows / max(seconds, 1e-9)
        with self._lock:
            if rate * SHORT >= 2 * self.rows:
                while self.rows < self.most and 2 * self.rows <= rate * SHORT:
                    self.rows = min(self.most, 2 * self.rows)
            elif rows >= self.rows and rate > FASTER * self._rate:
                self._rate, self.rows = rate, min(self.most, 2 * self.rows)
