"""Processes of this machine: for models that compute and hold Python's lock.

A process that is killed takes the pool down with it: a new one is made, and asks again what was under way.
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
from geex._query.runners.worker import Coming, Packed, Parcel, answer, parcel
from geex.errors import InputError, RunError

DEATHS = 3  # of workers at one job, before it is the job's fault
LOOK = 1.0  # seconds between looks at whether the parent is there


@dataclass(frozen=True)
class Processes(Runner):
    """A pool of `workers` processes."""

    workers: int

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "ProcessesPool":
        return ProcessesPool(self.workers, parcel(model, limits, batch, self.workers))


class ProcessesPool:
    """A job is chunks of a plan, whose queries the process makes itself."""

    remote = True

    def __init__(self, workers: int, parcel: Parcel) -> None:
        self.workers, self.parcel, self.batch = workers, parcel, parcel.batch
        self.window = 2 * workers
        self.packed = Packed()
        self.halted = False
        self._lock = threading.RLock()
        self.executor = self._executor()

    def _executor(self) -> ProcessPoolExecutor:
        # a fresh interpreter: forks of a process with threads (PyTorch's, ours) can hang
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(self.parcel,))

    def submit(self, job: Job) -> "Future[Any]":
        coming = Coming(job)
        self._send(coming, self.executor)
        return coming

    def _send(self, coming: Coming, executor: ProcessPoolExecutor) -> None:
        job = coming.job
        try:
            coming.now = executor.submit(_answer, self.packed(job.source), job.start, job.stop)
        except RuntimeError as error:  # BrokenExecutor is one, and so is a pool that was halted
            self._again(coming, executor, error)
            return
        coming.now.add_done_callback(lambda now: self._back(coming, now, executor))

    def _back(self, coming: Coming, now: "Future[Any]", executor: ProcessPoolExecutor) -> None:
        if coming.cancelled():
            return
        try:
            coming.settle(now.result())
        except CancelledError:
            coming.cancel()
        except BrokenExecutor as error:
            coming.deaths += 1
            self._again(coming, executor, error)
        except Exception as error:
            coming.set_exception(error)

    def _again(self, coming: Coming, broken: ProcessPoolExecutor, error: Exception) -> None:
        if self.halted or coming.deaths >= DEATHS:
            rows = f"rows {coming.job.start} … {coming.job.stop - 1}"
            coming.set_exception(
                RunError(
                    f"worker processes died {coming.deaths} times while they answered {rows} ({error}). Is memory "
                    "enough for that many of them? Does the script guard its start by `if __name__ == '__main__':`?"
                )
            )
            return
        with self._lock:
            if self.executor is broken:
                self.executor = self._executor()
            executor = self.executor
        self._send(coming, executor)

    def look(self) -> None: ...

    def halt(self) -> None:
        self.halted = True
        self.executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        self.halted = True
        self.executor.shutdown(wait=True, cancel_futures=True)


_parcel: Parcel | None = None


def _begin(parcel: Parcel) -> None:
    """Keeps the model; Ctrl-C is for the process that was started by a person."""
    global _parcel
    _parcel = parcel
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()


def _follow(parent: int) -> None:
    """Ends the worker when the process that started it is gone, which may have been killed without a word."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _answer(source: bytes, start: int, stop: int) -> Any:
    assert _parcel is not None
    return answer(_parcel, source, start, stop)


def processes(workers: int) -> Processes:
    """`workers` processes, each with a model of its own.

    A script has to guard its start by `if __name__ == "__main__":`.
    """
    return Processes(whole("workers", workers, 1, InputError))
