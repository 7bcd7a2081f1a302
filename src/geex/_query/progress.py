"""Progress of a run: how many queries, how long, at what cost.

A line is written beside the bar if a person watches it. The log `geex` gets it in any case.
"""

import logging
import sys
from typing import Any

from tqdm import tqdm

from geex._query.calls.outcome import Outcome

# The log that programs can read.
LOG = logging.getLogger("geex")
# Seconds: the expected duration of a run from which on it is written beside the bar.
LONG_RUN = 10.0


def cost(queries: int, stored: int, price: float | None) -> str:
    """Return in words how many queries are made at most, and what they cost."""
    text = f"{queries:,} queries at the most"
    if stored:
        text += f", of which {stored:,} are in the journal"
    if price is not None:
        text += f": {queries - stored:,} at {price:g} each cost {(queries - stored) * price:,.2f}"
    return f"{text}."


def duration(seconds: float, calls: int, at_a_time: int) -> str:
    """Return in words how long a run takes at least, its first call of a few rows having taken `seconds`."""
    whole = seconds * -(-calls // at_a_time)
    return (
        f"The first call took {seconds:.2g} s: {calls:,} of them, {at_a_time} at a time, take {clock(whole)} or more."
    )


def clock(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} seconds"


class Progress:
    """A progress bar over `total` queries, shown after two seconds and only if a person watches.

    price: the price of one row, in any currency; the bar then shows what was paid at most.
    """

    def __init__(self, total: int, shown: bool, price: float | None = None) -> None:
        self.total, self.price = total, price
        self.sent = self.failed = 0
        # disable=None: tqdm shows the bar only on a terminal. smoothing=0: the rate is that of all rows but `initial`
        hidden = None if shown else True
        self.bar = tqdm(total=total, unit=" queries", delay=2.0, disable=hidden, leave=False, smoothing=0)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.close()

    def log(self, text: str, write: bool = True) -> None:
        """Log a line, and write it beside the bar if `write` is set and the bar is shown."""
        LOG.info(text)
        if write and not self.bar.disable:
            self.bar.write(text, file=sys.stderr)

    def notice(self, text: str) -> None:
        """Print a line that a person must see: beside the bar if it is shown, else as a warning of the log."""
        if self.bar.disable:
            LOG.warning(text)
        else:
            self.log(text)

    def update(self, rows: int, stored: bool = False) -> None:
        """Count rows whose answers have arrived. Stored ones are not part of the rate, nor of the time that is left."""
        if stored and not self.bar.disable:
            self.bar.initial += rows
        self.bar.update(rows)

    def count(self, outcome: Outcome) -> None:
        """Count rows that were sent, and calls that failed: failed calls cost money too."""
        self.sent += outcome.sent
        self.failed += outcome.failed
        parts = [] if self.price is None else [f"paid up to {self.sent * self.price:,.2f}"]
        if self.failed:
            parts.append(f"{self.sent:,} rows sent, {self.failed:,} calls failed")
        if parts:
            self.bar.set_postfix_str(", ".join(parts), refresh=False)
