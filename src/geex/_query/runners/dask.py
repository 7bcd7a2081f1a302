"""Workers of a Dask cluster, on as many machines as it has."""

import threading
import warnings
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from geex._arrays.validation import shown
from geex._protocols import Runner
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.runners.cluster import ClusterPool
from geex._query.runners.worker import Dumps, PickledModel, answer, pickled_model
from geex.errors import InputError, MissingPackage, RunError

# Seconds to wait for a scheduler to answer, and for the first worker.
DASK_WAIT = 30.0


@dataclass(frozen=True, eq=False)
class Dask(Runner):
    """The address of a scheduler, or a client of it."""

    cluster: Any

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "DaskPool":
        client, own = self._client()
        import cloudpickle  # Dask depends on it

        try:
            client.wait_for_workers(1, timeout=DASK_WAIT)
            threads = max(1, sum(client.nthreads().values()))
            dumps = cloudpickle.dumps
            return DaskPool(client, own, pickled_model(model, limits, batch, threads, dumps), dumps)
        except TimeoutError as error:
            if own:
                client.close()
            raise RunError(
                f"No worker joined the Dask scheduler at {client.scheduler.address} within {DASK_WAIT:.0f} seconds. "
                "Start a worker and make the same call again.",
                code="dask-without-workers",
            ) from error

    def _client(self) -> tuple[Any, bool]:
        try:
            import distributed
        except ImportError as error:
            raise MissingPackage(
                "geex.run.dask needs the package `distributed`. Run `pip install distributed`.",
                code="dask-missing",
            ) from error
        if isinstance(self.cluster, distributed.Client):
            return self.cluster, False
        connect: Any = distributed.Client
        try:
            return connect(self.cluster, timeout=DASK_WAIT, set_as_default=False), True
        except (OSError, ValueError, TypeError) as error:
            raise RunError(
                f"No Dask scheduler can be reached at {self.cluster!r} ({error}).", code="dask-unreachable"
            ) from error


class DaskPool(ClusterPool):
    """Tasks of a Dask client."""

    library = "Dask"

    def __init__(self, client: Any, own: bool, model: PickledModel, dumps: Dumps) -> None:
        self.client, self.own = client, own
        super().__init__(model, dumps)

    def shared(self, name: str, thing: Any) -> Any:
        """Return a task, not scattered data: when its worker is gone, the scheduler makes it again."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(_identity, thing, key=f"geex-{name}")

    def count(self) -> int:
        return sum(self.client.nthreads().values())

    def start(self, source: Any, job: Job) -> Any:
        # pure=False: Dask must not return an earlier result for the same arguments
        return self.client.submit(answer, self.model, source, job.start, job.stop, pure=False)

    def result(self, remote: Any) -> Any:
        try:
            if remote.status == "finished":
                return remote.result()
            if remote.status != "error":
                raise CancelledError(remote.status)
            reason = remote.exception()
        except CancelledError:
            raise
        except BaseException as error:
            raise self.lost(error) from error
        finally:
            remote.release()
        if type(reason).__name__ == "KilledWorker":
            raise self.died(reason)
        raise reason if isinstance(reason, Exception) else RunError(str(reason), code="worker-ended")

    def check(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise self.lost(self.client.status)

    def disconnect(self) -> None:
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
