"""Jobs in flight: where the answers of each one come from.

An answer is checked and committed to the journal as soon as it arrives, in the thread that received it, and used
afterwards. `get` returns it, or raises Stopped if it will not come.
"""

import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures import TimeoutError as NotYet
from typing import Any, Protocol

from geex._arrays.arrays import Array
from geex._journal.journal import MINE, STORED, THEIRS
from geex._query.calls.outcome import Outcome
from geex._query.dispatcher import Dispatcher
from geex._query.jobs import Inline, Job
from geex._query.rate_limit import Stopped

# Seconds between checks that the workers are alive.
CHECK = 0.5
# Seconds between reads of the journal for the answers of another process.
POLL = 0.05
# Seconds of waiting for another process after which it is named.
NOTICE = 5.0


class InFlight(Protocol):
    """A job that was started."""

    @property
    def ready(self) -> bool:
        """Whether `get` returns without waiting."""
        ...

    def get(self) -> Array:
        """Return the answers (rows, k). Raise Stopped if they will not come."""
        ...

    def abandon(self) -> None:
        """Release the job, whose answers are not needed any more."""
        ...


def start_job(dispatcher: Dispatcher, job: Job, number: int) -> InFlight:
    """Start a job whose first row is query `number` of the run."""
    if job.state == STORED:
        return StoredRows(dispatcher, job)
    if job.state == THEIRS:
        return RowsOfOthers(dispatcher, job, number)
    if isinstance(dispatcher.pool, Inline):
        inline = InlineCall(dispatcher, job, number)
        inline.call(dispatcher.pool)
        return inline
    worker_call = WorkerCall(dispatcher, job, number)
    worker_call.submit()
    return worker_call


class StoredRows:
    """Rows whose answers are in the journal."""

    ready = True

    def __init__(self, dispatcher: Dispatcher, job: Job) -> None:
        self.dispatcher, self.job = dispatcher, job

    def get(self) -> Array:
        self.dispatcher.advance(self.job.size, stored=True)
        return self.dispatcher.read(self.job)

    def abandon(self) -> None: ...


class InlineCall:
    """Rows that the caller's own thread queries.

    Without a journal the answers are checked when they are used, so that an accelerator computes meanwhile.
    """

    ready = True

    def __init__(self, dispatcher: Dispatcher, job: Job, number: int) -> None:
        self.dispatcher, self.job, self.number = dispatcher, job, number
        self.outcome: Outcome | None = None
        self.answers: Array | None = None
        self.stopped = False

    def call(self, pool: Inline) -> None:
        """Call the model."""
        dispatcher = self.dispatcher
        try:
            self.outcome = dispatcher.interrupt.waiting(pool.answer, self.job)
            if dispatcher.journal is not None or self.outcome.error is not None:
                self.answers = dispatcher.arrived(self.job, self.number, self.outcome)
        except Stopped:
            self.stopped = True
            self.abandon()
        except Exception as error:
            self.abandon()
            located = dispatcher.located(error, self.job, self.number)
            raise located from (None if located is error else error)

    def get(self) -> Array:
        if self.stopped:
            raise Stopped
        if self.answers is None:
            self.answers = self.dispatcher.arrived(self.job, self.number, self.outcome)
        return self.answers

    def abandon(self) -> None:
        if self.answers is None:
            self.dispatcher.release(self.job)


class WorkerCall:
    """Rows that a worker queries."""

    def __init__(self, dispatcher: Dispatcher, job: Job, number: int) -> None:
        self.dispatcher, self.job, self.number = dispatcher, job, number
        self.answers: Future[Array] = Future()
        self.future: Future[Any] | None = None

    def submit(self) -> None:
        """Send the job to the pool."""
        self.future = self.dispatcher.workers.submit(self.job)
        self.future.add_done_callback(self._arrived)

    def _arrived(self, future: "Future[Any]") -> None:
        job = self.job
        self.job = job.part(job.start, job.stop, STORED)  # without its queries: they are not needed any more
        try:
            self.answers.set_result(self.dispatcher.arrived(job, self.number, future.result()))
        except BaseException as error:
            self.dispatcher.failed = True  # no more jobs are started: this error ends the run
            self.answers.set_exception(error)

    @property
    def ready(self) -> bool:
        return self.answers.done()

    def any_ready(self, others: Iterable[InFlight]) -> bool:
        """Wait until one of the workers' jobs is done. Return False if the run is stopped before."""
        running = [one.answers for one in others if isinstance(one, WorkerCall) and not one.ready]
        try:
            while not self.dispatcher.interrupt.waiting(wait, running, CHECK, FIRST_COMPLETED).done:
                self.dispatcher.workers.check()
        except Stopped:
            return False
        return True

    def get(self) -> Array:
        dispatcher = self.dispatcher
        try:
            if not dispatcher.interrupt.stop.is_set():
                return dispatcher.interrupt.waiting(self._result)
        except (Stopped, CancelledError):
            pass
        except Exception as error:
            located = dispatcher.located(error, self.job, self.number)
            raise located from (None if located is error else error)
        # stopped: queries that were sent are paid for, so their answers are waited for; the others are not sent
        dispatcher.workers.halt()
        try:
            return self.answers.result()
        except (Exception, CancelledError):
            raise Stopped from None

    def _result(self) -> Array:
        while True:
            try:
                return self.answers.result(CHECK)
            except NotYet:
                if self.answers.done():  # the TimeoutError is the model's own
                    raise
                self.dispatcher.workers.check()

    def abandon(self) -> None:
        if self.future is not None and self.future.cancel():
            self.dispatcher.release(self.job)


class RowsOfOthers:
    """Rows that another process has claimed. If it ends without their answers, this one queries them."""

    ready = False

    def __init__(self, dispatcher: Dispatcher, job: Job, number: int) -> None:
        self.dispatcher, self.job, self.number = dispatcher, job, number

    def get(self) -> Array:
        dispatcher, job = self.dispatcher, self.job
        own, begun, named = 0, time.monotonic(), False
        while True:
            parts = dispatcher.claim(job)
            if all(part.state == STORED for part in parts):
                dispatcher.advance(job.size - own, stored=True)
                return dispatcher.read(job)
            for part in parts:
                if part.state == MINE:
                    start_job(dispatcher, part, self.number + part.start - job.start).get()
                    own += part.size
            if dispatcher.interrupt.stop.is_set():  # Ctrl-C came while the journal was read
                raise Stopped
            if not named and time.monotonic() > begun + NOTICE:
                named = True
                dispatcher.name_others(job)
            dispatcher.interrupt.waiting(time.sleep, POLL)

    def abandon(self) -> None: ...
