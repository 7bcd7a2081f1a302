"""Workers of a Dask cluster, on as many machines as it has.

Dask moves tasks, and starts them again where a worker died. Journal, budget, order, progress and Ctrl-C stay in this
process, as on one machine.
"""

import threading
import time
import warnings
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from geex._arrays.validation import shown
from geex._protocols import Runner
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.runners.worker import PendingAnswer, PickledModel, PickledPlans, answer, pickled_model
from geex.errors import InputError, MissingPackage, RunError

# Seconds between counts of the workers: each count is a request to the scheduler.
COUNT = 5.0
# Seconds to wait for a scheduler to answer, and for the first worker.
PATIENCE = 30.0


@dataclass(frozen=True, eq=False)
class Dask(Runner):
    """The address of a scheduler, or a client of it."""

    cluster: Any

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "DaskPool":
        client, own = self._client()
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
            threads = max(1, sum(client.nthreads().values()))
            return DaskPool(client, own, pickled_model(model, limits, batch, threads))
        except TimeoutError as error:
            if own:
                client.close()
            raise RunError(
                f"No worker joined the Dask scheduler at {client.scheduler.address} within {PATIENCE:.0f} seconds. "
                "Start a worker and make the same call again.",
                code="dask-without-workers",
            ) from error

    def _client(self) -> tuple[Any, bool]:
        try:
            import distributed
        except ImportError as error:
            raise MissingPackage(
                "geex.run.dask needs the package `distributed`. Install it with: pip install 'geex[dask]'",
                code="dask-missing",
            ) from error
        if isinstance(self.cluster, distributed.Client):
            return self.cluster, False
        connect: Any = distributed.Client
        try:
            return connect(self.cluster, timeout=PATIENCE, set_as_default=False), True
        except (OSError, ValueError, TypeError) as error:
            raise RunError(
                f"No Dask scheduler can be reached at {self.cluster!r} ({error}).", code="dask-unreachable"
            ) from error


class DaskPool:
    """A job is chunks of a plan, whose queries the worker makes itself."""

    remote = True

    def __init__(self, client: Any, own: bool, model: PickledModel) -> None:
        self.client, self.own, self.batch = client, own, model.batch
        self.pickled_plans = PickledPlans()
        self.sources: dict[str, Any] = {}
        self._counted, self._threads = -COUNT, 1
        self.halted = False
        self.pending: set[PendingAnswer] = set()
        self._lock = threading.Lock()
        self.model = self._shared(f"model-{model.key}", model)

    def _shared(self, name: str, thing: Any) -> Any:
        """Send something that many tasks need to a worker once.

        It is a task, not scattered data: when its worker is gone, the scheduler makes it again.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(_identity, thing, key=f"geex-{name}")

    @property
    def window(self) -> int:
        """Two jobs for every thread, so that none waits for its next one. Workers may come and go."""
        if time.monotonic() > self._counted + COUNT and not self.halted:
            self._counted = time.monotonic()
            self._threads = max(1, sum(self.client.nthreads().values()))
        return 2 * self._threads

    def submit(self, job: Job) -> "Future[Any]":
        pending = PendingAnswer(job)
        with self._lock:
            self.pending.add(pending)
        try:
            source = self._source(job)
            # pure=False: Dask must not return an earlier result for the same arguments
            pending.remote = self.client.submit(answer, self.model, source, job.start, job.stop, pure=False)
        except Exception as error:
            raise self._gone(error) from error
        pending.remote.add_done_callback(lambda remote: self._finished(pending, remote))
        return pending

    def _source(self, job: Job) -> Any:
        fingerprint = job.source.fingerprint
        if fingerprint not in self.sources:
            self.sources[fingerprint] = self._shared(f"plan-{fingerprint}", self.pickled_plans(job.source))
        return self.sources[fingerprint]

    def _finished(self, pending: PendingAnswer, remote: Any) -> None:
        with self._lock:
            self.pending.discard(pending)
        if pending.cancelled():
            return
        try:
            if remote.status == "finished":
                pending.finish(remote.result())
            elif remote.status == "error":
                pending.set_exception(self._error(remote.exception()))
            elif self.halted:
                pending.cancel()
            else:
                pending.set_exception(self._gone(remote.status))
        except BaseException as error:
            pending.set_exception(self._gone(error))
        finally:
            remote.release()

    def check(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise self._gone(self.client.status)

    def _error(self, error: BaseException) -> Exception:
        if type(error).__name__ == "KilledWorker":
            return RunError(
                f"Workers died several times at the same rows ({error}). Check that their memory is enough.",
                code="workers-died",
            )
        return error if isinstance(error, Exception) else RunError(str(error), code="worker-ended")

    def _gone(self, reason: Any) -> RunError:
        return RunError(
            f"The connection to the Dask cluster was lost ({reason}).",
            code="dask-lost",
            fix="Start a cluster and make the same call again; with journal=…, it continues from the answers so far.",
        )

    def halt(self) -> None:
        self.halted = True
        with self._lock:
            pending = list(self.pending)
        for one in pending:
            one.cancel()

    def close(self) -> None:
        self.halt()
        if self.own:
            self.client.close()


def _identity(thing: Any) -> Any:
    return thing


def dask(cluster: Any) -> Dask:
    """Call the model on the workers of a Dask cluster.

    The explanation has the same bytes as without it.

    Parameters
    ----------
    cluster
        The address of a scheduler, such as "tcp://10.0.0.1:8786", or a `distributed.Client`.

    Returns
    -------
    Dask
        A runner for `geex.explain(run=…)`.

    Raises
    ------
    InputError
        `cluster` is empty.
    RunError
        When the run starts: the scheduler cannot be reached, or has no workers.
    MissingPackage
        When the run starts: Dask is not installed.

    Examples
    --------
    >>> import geex
    >>> geex.run.dask("tcp://10.0.0.1:8786")
    Dask(cluster='tcp://10.0.0.1:8786')
    """
    if cluster is None or cluster == "":
        raise InputError(
            f"`cluster` must be the address of a Dask scheduler or a distributed.Client; got {shown(cluster)}.",
            code="cluster-missing",
        )
    return Dask(cluster)
