"""How a model may be asked: how many calls at a time, how fast, and how often again when one fails."""

from dataclasses import dataclass
from typing import Any

from geex._arrays.validation import positive, truth, whole
from geex._problem.foreign_model import Carried
from geex.errors import InputError


@dataclass(frozen=True)
class Limits:
    """What a model's owner, or its server, allows.

    concurrency: calls at a time. 1 calls the model in the caller's own thread; more take a thread each, and the model
        has to bear that.
    rows: the most rows of one call. None: what fits into memory.
    attempts: how often a call is made before its failure is an error. Calls that fail with `TransientError`,
        TimeoutError or ConnectionError, or that answer something unusable, are made again; others never are.
    requests_per_second, rows_per_second: the fastest pace, over all threads and workers of a run. None: no limit.
    backoff, longest: seconds before the second attempt, doubled for each one after it up to `longest`, with jitter.
        A server that says how long to wait is obeyed.
    twice: ask for x a second time, to see whether the model answers the same. The budget counts it.
    """

    concurrency: int = 1
    rows: int | None = None
    attempts: int = 1
    requests_per_second: float | None = None
    rows_per_second: float | None = None
    backoff: float = 0.5
    longest: float = 60.0
    twice: bool = True

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", *(["rows"] if self.rows is not None else [])):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1, InputError))
        for name in ("requests_per_second", "rows_per_second"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive(name, getattr(self, name), InputError))
        for name in ("backoff", "longest"):
            object.__setattr__(self, name, positive(name, getattr(self, name), InputError, "seconds above 0"))
        truth("twice", self.twice, InputError)


def limits_of(model: Any, limits: Limits | None) -> Limits:
    """The limits that were given, else those that the model carries, else none."""
    if limits is None:
        limits = Carried(model).limits
        return limits if isinstance(limits, Limits) else Limits()
    if not isinstance(limits, Limits):
        raise InputError(f"limits is {limits!r}; wanted geex.Limits(concurrency=…, attempts=…, …) or None.")
    return limits
