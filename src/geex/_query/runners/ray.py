"""Workers of a Ray cluster, on as many machines as it has."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any

from geex._protocols import Runner
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.runners.cluster import ClusterPool
from geex._query.runners.worker import PickledModel, answer, pickled_model
from geex.errors import InputError, MissingPackage, RunError

# How often Ray starts a task again whose worker died.
RETRIES = 3


@dataclass(frozen=True)
class Ray(Runner):
    """An address for `ray.init`."""

    address: str | None = None

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "RayPool":
        try:
            import ray
        except ImportError as error:
            raise MissingPackage(
                "geex.run.ray needs the package `ray`. Run `pip install ray`.", code="ray-missing"
            ) from error
        own = not ray.is_initialized()
        if own:
            self._connect(ray)
        try:
            return RayPool(ray, own, pickled_model(model, limits, batch, cpus(ray), ray.cloudpickle.dumps))
        except BaseException:
            if own:
                ray.shutdown()
            raise

    def _connect(self, ray: Any) -> None:
        try:
            ray.init(self.address, log_to_driver=False, logging_level="WARNING")
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            where = "" if self.address is None else f" at {self.address!r}"
            raise RunError(f"No Ray cluster can be reached{where} ({error}).", code="ray-unreachable") from error


class RayPool(ClusterPool):
    """Tasks of this process's connection to Ray, one CPU each."""

    library = "Ray"

    def __init__(self, ray: Any, own: bool, model: PickledModel) -> None:
        self.ray, self.own = ray, own
        self.task = ray.remote(max_retries=RETRIES)(_answer)
        super().__init__(model, ray.cloudpickle.dumps)

    def shared(self, name: str, thing: Any) -> Any:
        return self.ray.put(thing)

    def count(self) -> int:
        return cpus(self.ray)

    def start(self, source: Any, job: Job) -> "RayTask":
        return RayTask(self.ray, self.task.remote(self.model, source, job.start, job.stop))

    def result(self, remote: "Future[Any]") -> Any:
        kinds = self.ray.exceptions
        try:
            return remote.result()
        except kinds.TaskCancelledError as error:
            raise CancelledError(str(error)) from error
        except (kinds.WorkerCrashedError, kinds.OutOfMemoryError) as error:
            raise self.died(error) from error
        except Exception as error:
            raise self.lost(error) from error

    def check(self) -> None:
        if not self.ray.is_initialized():
            raise self.lost("it was closed")

    def disconnect(self) -> None:
        if self.own:
            self.ray.shutdown()


class RayTask:
    """A task, and the future of its result."""

    def __init__(self, ray: Any, reference: Any) -> None:
        self.ray, self.reference = ray, reference
        self.future: Future[Any] = reference.future()

    def add_done_callback(self, call: Callable[["Future[Any]"], None]) -> None:
        self.future.add_done_callback(call)

    def cancel(self) -> bool:
        """Cancel the task unless it has begun. Return False: which of the two it was, its end shows."""
        self.ray.cancel(self.reference)
        return False


def cpus(ray: Any) -> int:
    """Return how many tasks of one CPU the cluster runs at a time."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _answer(model: PickledModel, source: bytes, start: int, stop: int) -> Any:
    """Return the model's answers. Ray cancels a task by SIGINT; one that has begun is finished."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return answer(model, source, start, stop)
    finally:
        signal.signal(signal.SIGINT, before)


def ray(address: str | None = None) -> Ray:
    """Call the model on the workers of a Ray cluster.

    The explanation has the same bytes as without it.

    Parameters
    ----------
    address
        An address for `ray.init`: "auto" for the cluster of this machine, "host:6379" or "ray://host:10001" for another
        one, "local" for a new one on this machine. Default: the one in `RAY_ADDRESS`, else a new one on this machine.
        If your program has called `ray.init` already, that connection is used, and stays open.

    Returns
    -------
    Ray
        A runner for `geex.explain(run=…)`. It closes the connection, or the cluster, that it opened.

    Raises
    ------
    InputError
        `address` is not an address.
    RunError
        When the run starts: the cluster cannot be reached.
    MissingPackage
        When the run starts: Ray is not installed.

    Examples
    --------
    >>> import geex
    >>> runner = geex.run.ray("ray://10.0.0.1:10001")
    """
    if address is not None and (not isinstance(address, str) or not address):
        raise InputError(
            f"`address` must be an address such as 'auto' or 'ray://host:10001', or None; got {address!r}.",
            code="ray-address",
        )
    return Ray(address)
