"""Where the model is called: runners and their pools."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from geex._arrays.arrays import Array
    from geex._query.jobs import Job
    from geex._query.limits import Limits
    from geex._query.retrying_call import Model


class Source(Protocol):
    """What is asked, row by row: a plan, or its ends."""

    @property
    def fingerprint(self) -> str: ...

    def rows(self, start: int, stop: int) -> Array:
        """Return queries number `start` … `stop` − 1."""
        ...


class Workers(Protocol):
    """A pool that answers jobs elsewhere than in the caller's thread.

    batch: the rows of a job. remote: whether workers make the queries; then a job is whole chunks, one at the least.
    window: how many jobs may be in flight.
    """

    @property
    def batch(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    @property
    def window(self) -> int: ...

    def submit(self, job: Job) -> Future[Any]:
        """Return what the model answers to the job's queries, or its error."""
        ...

    def check(self) -> None:
        """Raise RunError where the workers have gone."""
        ...

    def halt(self) -> None:
        """Give up what has not begun; what is being answered is finished."""
        ...

    def close(self) -> None: ...


class Runner(ABC):
    """Opens a pool for one model."""

    @abstractmethod
    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> Workers:
        """Return a pool that answers jobs of `batch` rows. `stop` is set when the run is to end."""
