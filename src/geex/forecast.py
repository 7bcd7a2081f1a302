"""How many queries, how long, and at what cost: before a run and as it goes."""

import sys
from typing import Any

from tqdm import tqdm


class Progress:
    """A bar over `total` queries with an ETA, for what takes over two seconds and only where a person is watching.

    price: what one query costs, in whatever currency; the bar then counts it too. Answers that were in a journal before
    cost nothing again.
    """

    def __init__(self, total: int, shown: bool, price: float | None = None) -> None:
        self.price = price
        self.total = total
        self.paid = 0
        self.bar = tqdm(
            total=total, unit=" queries", delay=2.0, disable=None if shown else True, leave=False, desc=self.cost()
        )
        if price is not None and shown and sys.stderr.isatty():
            self.bar.write(forecast(total, price), file=sys.stderr)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.close()

    def update(self, rows: int, paid: bool = True) -> None:
        """Some rows are in."""
        self.paid += rows if paid else 0
        if self.price is not None and not self.bar.disable:
            self.bar.set_description(self.cost(), refresh=False)
        self.bar.update(rows)

    def cost(self) -> str | None:
        """What was paid so far."""
        if self.price is None:
            return None
        return f"cost {self.paid * self.price:,.2f} of at most {self.total * self.price:,.2f}"


def forecast(queries: int, price: float) -> str:
    """What a run will cost at the most."""
    return f"{queries:,} queries at {price:g} each: {queries * price:,.2f} at the most."
