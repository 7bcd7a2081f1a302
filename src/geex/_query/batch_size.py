"""The rows of the next call: few at first, more where calls are short, or where more rows are faster per row.

After a call of r rows in s seconds, the next one has as many rows as SHORT seconds are enough for, if these are more
than now. Else, if the call was larger than any before: twice as many rows if it was faster per row, as with servers
that take long for any call; if not, as many as SHORT seconds are enough for. Sizes are powers of two, so that they
seldom differ from run to run. They change no answer of a model that answers each row by itself, only how soon it is stored.
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
        self._largest = 0  # the rows of the largest call so far
        self._rate = 0.0  # its rows per second
        self._lock = threading.Lock()

    def took(self, rows: int, seconds: float) -> None:
        """Take into account that a call of `rows` rows took `seconds`."""
        if self.fixed or not rows:
            return
        rate = rows / max(seconds, 1e-9)
        short = 1 << max(0, int(min(rate * SHORT, self.most)).bit_length() - 1)
        with self._lock:
            larger, faster = rows > self._largest, rate > FASTER * self._rate
            if larger:
                self._largest, self._rate = rows, rate
            if rate * SHORT >= self.most:
                self.rows = self.most
            elif short > self.rows or (larger and not faster):
                self.rows = short
            elif larger and rows >= self.rows:
                self.rows = min(self.most, 2 * self.rows)
