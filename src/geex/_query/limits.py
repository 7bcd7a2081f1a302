"""Limits on how a model is called: calls at a time, rates, attempts."""

from dataclasses import dataclass, replace
from typing import Any

from geex._arrays.validation import is_number, positive, shown, truth, whole
from geex._problem.foreign_model import Carried
from geex.errors import InputError

# A relative error of rounding that must not cost a row: 0.3 / 0.1 is below 3.
PRECISION = 1e-12


@dataclass(frozen=True)
class Limits:
    """How a model may be called.

    Limits change when and how often the model is called. They change no value of the explanation.

    Parameters
    ----------
    concurrency
        Calls at a time. 1 calls the model in the caller's own thread. With more, each call has a thread of its own, and
        the model must be safe to call from several threads.
    rows
        The most rows of one call. None: as many as fit into memory.
    attempts
        How often a call is made before its failure ends the run. A call is made again if it raises `TransientError`,
        TimeoutError or ConnectionError, or if its answer cannot be used. Other errors end the run at once.
    requests_per_second, rows_per_second
        The rate limits, over all threads and workers of a run. None: no limit.
    backoff, longest
        Seconds before the second attempt, and the longest wait. The wait doubles after each attempt, with jitter. A
        server's `Retry-After` is obeyed.
    longest_retry_after
        The longest wait that a server may ask for, in seconds. If it asks for more, the run ends with an error.
    most_sent
        The most rows that are sent in a run, those of failed attempts included. The run then ends, and the answers so
        far are explained. None: no limit. Processes and clusters may exceed it by failed attempts of jobs in flight.
    twice
        Query x a second time, to find out whether the model answers the same. The budget counts this query.
    compare
        When a journal is opened again, query x and the baseline again, and end the run if the model answers differently
        than before: the journal would mix two models. The two queries replace two that are stored in the budget.

    Raises
    ------
    InputError
        A number is not positive, or not whole where it must be.

    Examples
    --------
    >>> import geex
    >>> geex.Limits(concurrency=4, attempts=5, requests_per_second=10).attempts
    5
    """

    concurrency: int = 1
    rows: int | None = None
    attempts: int = 1
    requests_per_second: float | None = None
    rows_per_second: float | None = None
    backoff: float = 0.5
    longest: float = 60.0
    longest_retry_after: float = 300.0
    most_sent: int | None = None
    twice: bool = True
    compare: bool = True

    def __post_init__(self) -> None:
        optional = [name for name in ("rows", "most_sent") if getattr(self, name) is not None]
        for name in ("concurrency", "attempts", *optional):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1, InputError))
        for name in ("requests_per_second", "rows_per_second"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive(name, getattr(self, name), InputError))
        for name in ("backoff", "longest", "longest_retry_after"):
            object.__setattr__(
                self, name, positive(name, getattr(self, name), InputError, "a positive number of seconds")
            )
        truth("twice", self.twice, InputError)
        truth("compare", self.compare, InputError)


def rows_of_a_call(model: Any, limits: Limits, batch: int) -> int:
    """Return the most rows of one call: `batch`, unless the limits or the model allow fewer."""
    allowed = [most for most in (limits.rows, Carried(model).most_rows) if most is not None]
    return min([batch, *allowed])


def affordable(limits: Limits, price: float | None, most_cost: float | None) -> Limits:
    """Return the limits for a run that may cost at most `most_cost`, at `price` for each row that is sent."""
    if most_cost is None:
        return limits
    if not is_number(most_cost) or most_cost <= 0:
        raise InputError(
            f"`most_cost` must be positive, or None; got {shown(most_cost)}.", code="most-cost-not-positive"
        )
    if not price:
        raise InputError("`most_cost` needs the price of a query.", code="most-cost-without-price", fix="Pass price=….")
    rows = int(most_cost / price * (1 + PRECISION))
    if rows < 1:
        raise InputError(
            f"`most_cost` must be at least the price of a query, {price:g}; got {most_cost:g}.",
            code="most-cost-below-price",
        )
    return replace(limits, most_sent=rows if limits.most_sent is None else min(rows, limits.most_sent))


def limits_of(model: Any, limits: Limits | None) -> Limits:
    """Return the limits that were passed, else those of the model, else the defaults."""
    if limits is None:
        limits = Carried(model).limits
        return limits if isinstance(limits, Limits) else Limits()
    if not isinstance(limits, Limits):
        raise InputError(
            f"`limits` must be geex.Limits(concurrency=…, attempts=…, …) or None; got {shown(limits)}.",
            code="limits-not-limits",
        )
    return limits
