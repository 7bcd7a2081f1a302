"""How many queries, how long, and at what cost: before a run and as it goes.

Where a person is watching it is written beside the bar; the log `geex` has it in any case.
"""

import logging
import sys
from typing import Any

from tqdm import tqdm

LOG = logging.getLogger("geex")
WORTH_SAYING = 10.0  # seconds


def cost(queries: int, stored: int, price: float | None) -> str:
    """What will be asked at the most, and what that costs."""
    text = f"{queries:,} queries at the most"
    if stored:
        text += f", of which {stored:,} are in the journal"
    if price is not None:
        text += f": {queries - stored:,} at {price:g} each cost {(queries - stored) * price:,.2f}"
    return f"{text}."


def duration(seconds: float, calls: int, at_a_time: int) -> str:
    """How long it takes at the least, when the first call of a few rows took `seconds`."""
    whole = seconds * -(-calls // at_a_time)
    return (
        f"The first call took {seconds:.2g} s: {calls:,} of them, {at_a_time} at a time, take {clock(whole)} or more."
    )


def clock(seconds: float) -> str:
    """A duration as people say it."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} seconds"


class Progress:
    """A bar over `total` queries with an ETA, for what takes over two seconds and only where a person is watching.

    price: what one query costs, in whatever currency; the bar then counts what was paid.
    """

    def __init__(self, total: int, shown: bool, price: float | None = None) -> None:
        self.total, self.price = total, price
        self.paid = 0
        self.bar = tqdm(total=total, unit=" queries", delay=2.0, disable=None if shown else True, leave=False)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.close()

    def say(self, text: str, worth: bool = True) -> None:
        """Logs a line, and writes it where it is worth that and somebody reads it."""
        LOG.info(text)
        if worth and not self.bar.disable:
            self.bar.write(text, file=sys.stderr)

    def update(self, rows: int, paid: bool) -> None:
        """Some rows are in."""
        self.paid += rows if paid else 0
        if self.price is not None:
            self.bar.set_postfix_str(f"paid {self.paid * self.price:,.2f}", refresh=False)
        self.bar.update(rows)
