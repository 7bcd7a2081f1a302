"""The rows of the next call: few at first, more as long as calls are short, or more rows are faster per row.

After a call of r rows in s seconds, the next one has

    GROWTH · r rows     if GROWTH · s ≤ SHORT: the sizes for a fast model are the same in every run
    2 · r               if the call was the largest so far, and faster per row: any call takes long
    r · SHORT / s       else, as a power of two: each row takes long

The size changes no answer of a model that answers each row by itself, only how soon answers are stored.
"""

import threading

# Rows of a call before the first one was measured.
FIRST = 8
# How many times more rows the next call has after a very short one.
GROWTH = 4
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

    def at(self, first: int, most: int) -> int:
        """Return the rows of a call whose first row is number `first`, at most `most`.

        A call ends at a multiple of its size: chunks have such sizes, and need not be cut and joined then.
        """
        rows = min(self.rows, most)
        return rows if self.fixed else rows - first % rows

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
            if 2 * rows < self.rows:
                return
            if GROWTH * seconds <= SHORT:
                self.rows = min(self.most, GROWTH * self.rows)
            elif larger and faster:
                self.rows = min(self.most, 2 * self.rows)
            elif larger or short > self.rows:
                self.rows = short
