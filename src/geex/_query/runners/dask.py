"""Workers of a Dask cluster, on as many machines as it has.

Dask moves tasks and starts them again where a worker died; journal, budget, order, progress and Ctrl-C stay on this
side, as on one machine.
"""

import threading
import time
import warnings
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from geex._protocols import Runner
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.runners.worker import Coming, Packed, Parcel, answer, parcel
from geex.errors import InputError, MissingPackage, RunError

COUNT = 5.0  # seconds between counts of the workers, each of which asks the scheduler
PATIENCE = 30.0  # seconds for a scheduler to answer, and for a first worker to come


@dataclass(frozen=True, eq=False)
class Dask(Runner):
    """A scheduler's address, or a client of it."""

    cluster: Any

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "DaskPool":
        client, own = self._client()
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
            threads = max(1, sum(client.nthreads().values()))
            return DaskPool(client, own, parcel(model, limits, batch, threads))
        except TimeoutError as error:
            if own:
                client.close()
            raise RunError(f"no worker came to {client.scheduler.address} within {PATIENCE:.0f} seconds.") from error

    def _client(self) -> tuple[Any, bool]:
        try:
            import distributed
        except ImportError as error:
            raise MissingPackage("run=geex.run.dask(…) needs Dask: pip install 'geex[dask]'") from error
        if isinstance(self.cluster, distributed.Client):
            return self.cluster, False
        connect: Any = distributed.Client
        try:
            return connect(self.cluster, timeout=PATIENCE, set_as_default=False), True
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"there is no Dask scheduler at {self.cluster!r} ({error}).") from error


class DaskPool:
    """A job is chunks of a plan, whose queries the worker makes itself."""

    remote = True

    def __init__(self, client: Any, own: bool, parcel: Parcel) -> None:
        self.client, self.own, self.batch = client, own, parcel.batch
        self.packed = Packed()
        self.sources: dict[str, Any] = {}
        self._counted, self._threads = -COUNT, 1
        self.halted = False
        self.coming: set[Coming] = set()
        self._lock = threading.Lock()
        self.parcel = self._carried(f"model-{parcel.key}", parcel)

    def _carried(self, name: str, thing: Any) -> Any:
        """What many tasks need goes to a worker once. It is a task, not scattered data: when its worker is gone, the
        scheduler has it made again."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(_the_same, thing, key=f"geex-{name}")

    @property
    def window(self) -> int:
        """Two jobs for every thread, so that none waits for its next one. Workers may come and go."""
        if time.monotonic() > self._counted + COUNT and not self.halted:
            self._counted = time.monotonic()
            self._threads = max(1, sum(self.client.nthreads().values()))
        return 2 * self._threads

    def submit(self, job: Job) -> "Future[Any]":
        coming = Coming(job)
        with self._lock:
            self.coming.add(coming)
        try:
            source = self._source(job)
            coming.now = self.client.submit(answer, self.parcel, source, job.start, job.stop, pure=False)
        except Exception as error:
            raise RunError(self._gone(error)) from error
        coming.now.add_done_callback(lambda now: self._back(coming, now))
        return coming

    def _source(self, job: Job) -> Any:
        fingerprint = job.source.fingerprint
        if fingerprint not in self.sources:
            self.sources[fingerprint] = self._carried(f"plan-{fingerprint}", self.packed(job.source))
        return self.sources[fingerprint]

    def _back(self, coming: Coming, now: Any) -> None:
        with self._lock:
            self.coming.discard(coming)
        if coming.cancelled():
            return
        try:
            if now.status == "finished":
                coming.settle(now.result())
            elif now.status == "error":
                coming.set_exception(self._error(now.exception()))
            elif self.halted:
                coming.cancel()
            else:
                coming.set_exception(RunError(self._gone(now.status)))
        except BaseException as error:
            coming.set_exception(RunError(self._gone(error)))
        finally:
            now.release()

    def look(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise RunError(self._gone(self.client.status))

    def _error(self, error: BaseException) -> Exception:
        if type(error).__name__ == "KilledWorker":
            return RunError(f"workers died again and again at the same rows ({error}). Is their memory enough?")
        return error if isinstance(error, Exception) else RunError(str(error))

    def _gone(self, reason: Any) -> str:
        return (
            f"the Dask cluster went away ({reason}). With journal=… the answers so far are kept: start a cluster and "
            "make the same call again."
        )

    def halt(self) -> None:
        self.halted = True
        with self._lock:
            coming = list(self.coming)
        for one in coming:
            one.cancel()

    def close(self) -> None:
        self.halt()
        if self.own:
            self.client.close()


def _the_same(thing: Any) -> Any:
    return thing


def dask(cluster: Any) -> Dask:
    """The workers of a Dask cluster, given by its scheduler's address or a `distributed.Client`."""
    if cluster is None or cluster == "":
        raise InputError(f"cluster is {cluster!r}; wanted the address of a scheduler, or a distributed.Client.")
    return Dask(cluster)
