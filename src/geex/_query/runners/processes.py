"""Processes of this machine: for models that compute and hold Python's lock.

A process that is killed takes its pool down. A new pool is made, which queries again what was in flight.
"""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from geex._arrays.validation import whole
from geex._protocols import Runner
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.runners.worker import PendingAnswer, PickledModel, PickledPlans, answer, pickled_model
from geex.errors import InputError, RunError

# Deaths of workers at one job after which the job is given up: another job of the pool may cause fewer.
DEATHS = 3
# Seconds between a worker's checks that its parent is alive.
CHECK_PARENT = 1.0


@dataclass(frozen=True)
class Processes(Runner):
    """A pool of `workers` processes."""

    workers: int

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "ProcessesPool":
        return ProcessesPool(self.workers, pickled_model(model, limits, batch, self.workers))


class ProcessesPool:
    """A job is chunks of a plan, whose queries the process makes itself."""

    remote = True

    def __init__(self, workers: int, model: PickledModel) -> None:
        self.workers, self.model, self.batch = workers, model, model.batch
        self.window = 2 * workers
        self.pickled_plans = PickledPlans()
        self.halted = False
        self._lock = threading.RLock()
        self.executor = self._executor()

    def _executor(self) -> ProcessPoolExecutor:
        # a fresh interpreter: forks of a process with threads (PyTorch's, ours) can hang
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(self.model, os.getpid()))

    def submit(self, job: Job) -> "Future[Any]":
        pending = PendingAnswer(job)
        self._send(pending, self.executor)
        return pending

    def _send(self, pending: PendingAnswer, executor: ProcessPoolExecutor) -> None:
        job = pending.job
        try:
            pending.remote = executor.submit(_answer, self.pickled_plans(job.source), job.start, job.stop)
        except RuntimeError as error:  # BrokenExecutor is one, and so is the error of a pool that was halted
            self._send_again(pending, executor, error)
            return
        pending.remote.add_done_callback(lambda remote: self._finished(pending, remote, executor))

    def _finished(self, pending: PendingAnswer, remote: "Future[Any]", executor: ProcessPoolExecutor) -> None:
        if pending.cancelled():
            return
        try:
            pending.finish(remote.result())
        except CancelledError:
            pending.cancel()
        except BrokenExecutor as error:
            pending.deaths += 1
            self._send_again(pending, executor, error)
        except Exception as error:
            pending.set_exception(error)

    def _send_again(self, pending: PendingAnswer, broken: ProcessPoolExecutor, error: Exception) -> None:
        if self.halted or pending.deaths >= DEATHS:
            rows = f"rows {pending.job.start} … {pending.job.stop - 1}"
            pending.set_exception(
                RunError(
                    f"Worker processes died {pending.deaths} times while they answered {rows} ({error}).",
                    code="workers-died",
                    fix="Check that memory is enough for that many processes, and that the script guards its start by "
                    "`if __name__ == '__main__':`.",
                )
            )
            return
        with self._lock:  # several jobs find the pool broken at once; only the first one replaces it
            if self.executor is broken:
                self.executor = self._executor()
            executor = self.executor
        self._send(pending, executor)

    def check(self) -> None: ...

    def halt(self) -> None:
        self.halted = True
        self.executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        self.halted = True
        self.executor.shutdown(wait=True, cancel_futures=True)


_model: PickledModel | None = None


def _begin(model: PickledModel, parent: int) -> None:
    """Keep the model, and ignore Ctrl-C, which the parent process handles.

    parent: the id of the process that made the pool. It may have ended before this worker could look it up.
    """
    global _model
    _model = model
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    """End the worker when its parent process is gone, which may have been killed."""
    while os.getppid() == parent:
        time.sleep(CHECK_PARENT)
    os._exit(1)


def _answer(source: bytes, start: int, stop: int) -> Any:
    assert _model is not None
    return answer(_model, source, start, stop)


def processes(workers: int) -> Processes:
    """Call the model in processes of this machine, each with a copy of the model.

    Use it for models that compute and hold Python's lock. The explanation has the same bytes as without it.

    Parameters
    ----------
    workers
        How many processes, at least 1.

    Returns
    -------
    Processes
        A runner for `geex.explain(run=…)`.

    Raises
    ------
    InputError
        `workers` is not a whole number of at least 1.

    Notes
    -----
    A script must guard its start by `if __name__ == "__main__":`. The model must be a function of a module, an adapter
    of `geex.models`, or another object that can be pickled; with `cloudpickle` installed, most objects can.

    Examples
    --------
    >>> import geex
    >>> geex.run.processes(4)
    Processes(workers=4)
    """
    return Processes(whole("workers", workers, 1, InputError))
