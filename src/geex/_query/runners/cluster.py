"""Pools of clusters: a worker receives the model and the plan once, and a task is rows of the plan.

The cluster moves tasks, and starts them again where a worker died. Journal, budget, order, progress and Ctrl-C stay in
this process, as on one machine.
"""

import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import CancelledError, Future
from typing import Any

from geex._query.calls.outcome import Outcome
from geex._query.jobs import Job
from geex._query.runners.worker import Dumps, PendingAnswer, PickledModel, PickledPlans
from geex.errors import RunError

# Seconds between counts of the workers: each count is a request to the cluster.
COUNT = 5.0


class ClusterPool(ABC):
    """A job is chunks of a plan, whose queries the worker makes itself."""

    remote = True
    library = ""

    def __init__(self, model: PickledModel, dumps: Dumps) -> None:
        self.batch = model.batch
        self.pickled_plans = PickledPlans(dumps)
        self.sources: dict[str, Any] = {}
        self._counted, self._threads = -COUNT, 1
        self.halted = False
        self.pending: set[PendingAnswer] = set()
        self._lock = threading.Lock()
        self.model = self.shared(f"model-{model.key}", model)

    @abstractmethod
    def shared(self, name: str, thing: Any) -> Any:
        """Return a reference to something that many tasks need. It is sent to a worker once."""

    @abstractmethod
    def count(self) -> int:
        """Return how many tasks the cluster runs at a time."""

    @abstractmethod
    def start(self, source: Any, job: Job) -> Any:
        """Start a task. Return the library's future of it, which has `add_done_callback` and `cancel`."""

    @abstractmethod
    def result(self, remote: Any) -> Outcome:
        """Return the result of a task that has ended. Raise CancelledError if it never began, else a GeexError."""

    @abstractmethod
    def check(self) -> None:
        """Raise RunError if the cluster has gone."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close the connection, if it was opened here."""

    @property
    def window(self) -> int:
        """Two jobs for every thread, so that none waits for its next one. Workers may come and go."""
        if time.monotonic() > self._counted + COUNT and not self.halted:
            self._counted = time.monotonic()
            self._threads = max(1, self.count())
        return 2 * self._threads

    def submit(self, job: Job) -> "Future[Any]":
        pending = PendingAnswer(job)
        with self._lock:
            self.pending.add(pending)
        try:
            pending.remote = self.start(self._source(job), job)
        except Exception as error:
            raise self.lost(error) from error
        pending.remote.add_done_callback(lambda remote: self._finished(pending, remote))
        return pending

    def _source(self, job: Job) -> Any:
        fingerprint = job.source.fingerprint
        if fingerprint not in self.sources:
            self.sources[fingerprint] = self.shared(f"plan-{fingerprint}", self.pickled_plans(job.source))
        return self.sources[fingerprint]

    def _finished(self, pending: PendingAnswer, remote: Any) -> None:
        with self._lock:
            self.pending.discard(pending)
        if pending.cancelled():
            return
        try:
            pending.finish(self.result(remote))
        except CancelledError as error:
            if self.halted:
                pending.give_up()
            else:
                pending.set_exception(self.lost(error))
        except Exception as error:
            pending.set_exception(error)

    def lost(self, reason: Any) -> RunError:
        """Return the error for a cluster that has gone."""
        return RunError(
            f"The connection to the {self.library} cluster was lost ({reason}).",
            code=f"{self.library.lower()}-lost",
            fix="Start a cluster and make the same call again; with journal=…, it continues from the answers so far.",
        )

    def died(self, reason: Any) -> RunError:
        """Return the error for a task whose workers died."""
        return RunError(
            f"Workers died several times at the same rows ({reason}). Check that their memory is enough.",
            code="workers-died",
        )

    def halt(self) -> None:
        self.halted = True
        with self._lock:
            pending = list(self.pending)
        for one in pending:
            one.cancel()

    def close(self) -> None:
        self.halt()
        self.disconnect()
