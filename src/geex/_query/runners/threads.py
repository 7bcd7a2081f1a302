"""Threads of this process: for models that wait (servers), or that compute without holding Python's lock."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from geex._arrays.validation import whole
from geex._protocols import Runner
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Caller, Model
from geex.errors import InputError


@dataclass(frozen=True)
class Threads(Runner):
    """A pool of `workers` threads."""

    workers: int

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> "ThreadsPool":
        return ThreadsPool(self.workers, Caller(model, limits, batch, stop))


class ThreadsPool:
    """The caller's thread makes the queries, two jobs for every thread, so that none waits for its next one."""

    remote = False

    def __init__(self, workers: int, caller: Caller) -> None:
        self.caller = caller
        self.window = 2 * workers
        self.executor = ThreadPoolExecutor(workers, thread_name_prefix="geex")

    @property
    def batch(self) -> int:
        return self.caller.batch

    def submit(self, job: Job) -> "Future[Any]":
        return self.executor.submit(self._answer, job)

    def _answer(self, job: Job) -> Any:
        return self.caller(job.make_queries())

    def check(self) -> None: ...

    def halt(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)


def threads(workers: int) -> Threads:
    """Return a runner with `workers` threads. The model must be safe to call from several threads."""
    return Threads(whole("workers", workers, 1, InputError))
