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
    """A plan, or the queries beside the plans: rows of queries by their numbers."""

    @property
    def fingerprint(self) -> str: ...

    def rows(self, start: int, stop: int) -> Array:
        """Return queries number `start` … `stop` − 1."""
        ...


class Workers(Protocol):
    """A pool that answers jobs outside of the caller's thread.

    Attributes
    ----------
    batch
        The rows of a job.
    remote
        Whether workers make the queries. Jobs then hold none.
    window
        How many jobs may be in flight.
    """

    @property
    def batch(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    @property
    def window(self) -> int: ...

    def submit(self, job: Job) -> Future[Any]:
        """Return a future of the model's answers to the queries of the job, or of its error."""
        ...

    def check(self) -> None:
        """Raise RunError if the workers are gone."""
        ...

    def halt(self) -> None:
        """Cancel all jobs that have not begun."""
        ...

    def close(self) -> None: ...


class Runner(ABC):
    """Where the model is called. Base class; `geex.run` has runners for processes, Dask and Ray."""

    @abstractmethod
    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> Workers:
        """Return a pool for one run.

        Parameters
        ----------
        model
            The model, a callable.
        limits
            How the model may be called.
        batch
            The rows of a job.
        stop
            Is set when the run ends early.
        """
