"""The rows of the next call: few at first, more where calls are short, or where more rows take no longer.

After a call of r rows in s seconds the next one has r · SHORT / s rows, if that is more than before, else twice as many
as before, as long as that makes calls faster per row. The size changes no answer, only how soon answers are stored.
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
        self._rows = float(most if fixed else min(FIRST, most))
        self._measured = fixed
        self._rate = 0.0  # rows per second of the last size
        self._lock = threading.Lock()

    @property
    def rows(self) -> int:
        """The rows of the next call."""
        return max(1, min(self.most, int(self._rows)))

    def limit(self, most: int) -> None:
        """Allow at most so many rows."""
        self.most = min(self.most, most)

    def took(self, rows: int, seconds: float) -> None:
        """Take into account that a call of `rows` rows took `seconds`."""
        with self._lock:
            room = rows * SHORT / max(seconds, 1e-9)
            if not self._measured:
                self._measured, self._rows = True, max(1.0, room if room >= FIRST else min(room, FIRST))
            elif room >= self._rows:
                self._rows = room
            elif rows >= self.rows and rows / seconds > FASTER * self._rate:
                self._rate, self._rows = rows / seconds, 2.0 * rows
