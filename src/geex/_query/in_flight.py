"""Jobs under way: where each one's answers come from, and what becomes of it when the run is stopped.

An answer is checked and committed to the journal as soon as it is there, in the thread that brought it, and used
afterwards. `get` gives it, or raises Stopped where it will not come any more.
"""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures import TimeoutError as NotYet
from typing import Any, Protocol

from geex._arrays.arrays import Array, host, like, namespace
from geex._journal.journal import MINE, STORED, THEIRS, Journal
from geex._protocols import Workers
from geex._query.answers import Answers
from geex._query.interrupt import Interrupt
from geex._query.jobs import Inline, Job, Pool
from geex._query.rate_limit import Stopped
from geex.errors import GeexError, ModelRaised, TransientError

LOOK = 0.5  # seconds between looks at whether the workers are still there
POLL = 0.05  # seconds between looks at what another process has brought


class Desk:
    """What all jobs of a run share. With no pool the journal alone answers."""

    def __init__(
        self, pool: Pool | None, explicand: Array, bar: Any, interrupt: Interrupt, journal: Journal | None
    ) -> None:
        self.pool = pool
        self.explicand = explicand
        self.bar = bar
        self.interrupt = interrupt
        self.journal = journal
        self.answers = Answers(explicand, lazy=isinstance(pool, Inline) and journal is None)
        self.lock = threading.Lock()
        self.failed = False

    @property
    def workers(self) -> Workers:
        """The pool, for jobs that run in it."""
        assert self.pool is not None
        assert not isinstance(self.pool, Inline)
        return self.pool

    def claimed(self, job: Job) -> list[Job]:
        """The job, or its parts where another process has brought, or is bringing, some of it."""
        if self.journal is None or job.state == STORED:
            return [job]
        return [job.part(*part) for part in self.journal.claim(job.source.fingerprint, job.start, job.stop)]

    def begin(self, job: Job, number: int) -> "Underway":
        """Starts a job; its first row is query `number` of the run."""
        if job.state == STORED:
            return Stored(self, job)
        if job.state == THEIRS:
            return Theirs(self, job, number)
        return Called(self, job, number) if isinstance(self.pool, Inline) else Running(self, job, number)

    def settled(self, job: Job, number: int, raw: Any) -> Array:
        """The answers (rows, k), checked and in the journal."""
        with self.lock:
            answers = self.answers.checked(raw, number, job.part(job.start, job.stop, STORED))
        if self.journal is not None:
            self.journal.store(job.source.fingerprint, job.start, host(answers))
        self.advance(job.size, paid=True)
        return answers

    def advance(self, rows: int, paid: bool) -> None:
        with self.lock:
            self.bar.update(rows, paid)

    def read(self, job: Job) -> Array:
        """Answers out of the journal."""
        assert self.journal is not None
        answers = self.journal.read(job.source.fingerprint, job.start, job.stop)
        with self.lock:
            self.answers.recalled(answers.shape[1])
        return like(answers, self.explicand, namespace(self.explicand).float64)

    def give_up(self, job: Job) -> None:
        """Others may ask what this run will not."""
        if self.journal is not None:
            self.journal.release(job.source.fingerprint, job.start, job.stop)

    def told(self, error: Exception, job: Job, number: int) -> Exception:
        """The error that says which queries it was about; those of geex say so themselves."""
        if isinstance(error, GeexError) and not isinstance(error, TransientError):
            return error
        shape, hint = tuple(self.explicand.shape), ""
        if len(shape) > 1 and shape[0] == 1 and not isinstance(error, TransientError):
            hint = (
                f" x has shape {shape}, and the model is asked rows of that shape: if its first axis is a batch, "
                "explain x[0]."
            )
        batch = "" if job.queries is None else f" of shape {tuple(job.queries.shape)} and type {job.queries.dtype}"
        return ModelRaised(
            f"the model raised {type(error).__name__}: {error}\n(asked queries {number} … {number + job.size - 1}, "
            f"a batch{batch}).{hint}"
        )


class Underway(Protocol):
    """A job that was begun."""

    @property
    def ready(self) -> bool:
        """Whether `get` need not wait."""
        ...

    def get(self) -> Array:
        """The answers (rows, k); raises Stopped where they will not come."""
        ...

    def drop(self) -> None:
        """Nobody waits for it any more."""
        ...


class Stored:
    """Rows that are in the journal."""

    ready = True

    def __init__(self, desk: Desk, job: Job) -> None:
        self.desk, self.job = desk, job

    def get(self) -> Array:
        self.desk.advance(self.job.size, paid=False)
        return self.desk.read(self.job)

    def drop(self) -> None: ...


class Called:
    """Rows that the caller's own thread has asked. Without a journal they are checked when they are used: an
    accelerator answers meanwhile."""

    ready = True

    def __init__(self, desk: Desk, job: Job, number: int) -> None:
        self.desk, self.job, self.number = desk, job, number
        self.raw: Any = None
        self.answers: Array | None = None
        self.stopped = False
        assert isinstance(desk.pool, Inline)
        try:
            self.raw = desk.interrupt.waiting(desk.pool.answer, job)
        except Stopped:
            self.stopped = True
            self.drop()
        except Exception as error:
            self.drop()
            told = desk.told(error, job, number)
            raise told from (None if told is error else error)
        if desk.journal is not None and not self.stopped:
            self.answers = desk.settled(job, number, self.raw)

    def get(self) -> Array:
        if self.stopped:
            raise Stopped
        return self.desk.settled(self.job, self.number, self.raw) if self.answers is None else self.answers

    def drop(self) -> None:
        if self.answers is None:
            self.desk.give_up(self.job)


class Running:
    """Rows that a worker is asking."""

    def __init__(self, desk: Desk, job: Job, number: int) -> None:
        self.desk, self.job, self.number = desk, job, number
        self.settled: Future[Array] = Future()
        self.future = desk.workers.submit(job)
        self.future.add_done_callback(self._arrived)

    def _arrived(self, future: "Future[Any]") -> None:
        job = self.job
        self.job = job.part(job.start, job.stop, STORED)  # its queries have done their duty
        try:
            self.settled.set_result(self.desk.settled(job, self.number, future.result()))
        except BaseException as error:
            self.desk.failed = True  # nothing more is begun: what this was about will end the run
            self.settled.set_exception(error)

    @property
    def ready(self) -> bool:
        return self.settled.done()

    def any_ready(self, others: Iterable["Underway"]) -> bool:
        """Waits until one of the jobs that run is through; False where the run is stopped before that."""
        running = [one.settled for one in others if isinstance(one, Running) and not one.ready]
        try:
            while not self.desk.interrupt.waiting(wait, running, LOOK, FIRST_COMPLETED).done:
                self.desk.workers.look()
        except Stopped:
            return False
        return True

    def get(self) -> Array:
        desk = self.desk
        try:
            if not desk.interrupt.stop.is_set():
                return desk.interrupt.waiting(self._result)
        except (Stopped, CancelledError):
            pass
        except Exception as error:
            told = desk.told(error, self.job, self.number)
            raise told from (None if told is error else error)
        desk.workers.halt()  # what is being answered is paid for, and waited for; what has not begun is not
        try:
            return self.settled.result()
        except (Exception, CancelledError):
            raise Stopped from None

    def _result(self) -> Array:
        while True:
            try:
                return self.settled.result(LOOK)
            except NotYet:
                if self.settled.done():
                    raise
                self.desk.workers.look()

    def drop(self) -> None:
        if self.future.cancel():
            self.desk.give_up(self.job)


class Theirs:
    """Rows that another process is asking, and that it may leave unasked."""

    ready = False

    def __init__(self, desk: Desk, job: Job, number: int) -> None:
        self.desk, self.job, self.number = desk, job, number

    def get(self) -> Array:
        desk, job = self.desk, self.job
        assert desk.journal is not None
        own = 0
        while True:
            parts = desk.claimed(job)
            if all(part.state == STORED for part in parts):
                desk.advance(job.size - own, paid=False)
                return desk.read(job)
            for part in parts:
                if part.state == MINE:
                    desk.begin(part, self.number + part.start - job.start).get()
                    own += part.size
            if desk.interrupt.stop.is_set():  # Ctrl-C came while the journal was looked at
                raise Stopped
            desk.interrupt.waiting(time.sleep, POLL)

    def drop(self) -> None: ...
