"""What the jobs of a run share: its pool, its journal, the checks of its answers, its progress."""

import threading
from typing import Any

from geex._arrays.arrays import Array, host, like, namespace
from geex._journal.journal import STORED, Journal
from geex._journal.owners import LEASE
from geex._protocols import Workers
from geex._query.answers import Answers
from geex._query.interrupt import Interrupt
from geex._query.jobs import Inline, Job, Pool
from geex._query.progress import Progress
from geex.errors import GeexError, ModelRaised, TransientError


class Dispatcher:
    """Claim jobs, check and store their answers. Without a pool, the journal alone answers."""

    def __init__(
        self, pool: Pool | None, explicand: Array, progress: Progress, interrupt: Interrupt, journal: Journal | None
    ) -> None:
        self.pool = pool
        self.explicand = explicand
        self.progress = progress
        self.interrupt = interrupt
        self.journal = journal
        self.answers = Answers(explicand, lazy=isinstance(pool, Inline) and journal is None)
        self.lock = threading.Lock()  # answers arrive in several threads
        self.failed = False
        self.accepted = 0  # rows that this process has queried, and received answers to

    @property
    def workers(self) -> Workers:
        """The pool, for jobs that run in it."""
        assert self.pool is not None
        assert not isinstance(self.pool, Inline)
        return self.pool

    def claim(self, job: Job) -> list[Job]:
        """Return the job, or its parts where another process has stored or claimed some of it."""
        if self.journal is None or job.state == STORED:
            return [job]
        return [job.part(*part) for part in self.journal.claim(job.source.fingerprint, job.start, job.stop)]

    def release(self, job: Job) -> None:
        """Release the rows of a job, so that other processes may query them."""
        if self.journal is not None:
            self.journal.release(job.source.fingerprint, job.start, job.stop)

    def name_others(self, job: Job) -> None:
        """Print which processes have claimed rows of a job, and are waited for."""
        assert self.journal is not None
        others = self.journal.claimants(job.source.fingerprint, job.start, job.stop)
        if others:
            self.progress.notice(
                f"Waiting for {' and '.join(others)}, which queries rows of the same journal ({self.journal.path}). "
                f"This run continues when they are answered, when that process ends, or after {LEASE:.0f} seconds "
                "without a heartbeat of it."
            )

    def accept(self, job: Job, number: int, raw: Any) -> Array:
        """Return the answers (rows, k), checked and committed to the journal."""
        with self.lock:
            answers = self.answers.checked(raw, number, job.part(job.start, job.stop, STORED))
            self.accepted += job.size
        if self.journal is not None:
            self.journal.store(job.source.fingerprint, job.start, host(answers))
        self.advance(job.size, paid=True)
        return answers

    def advance(self, rows: int, paid: bool) -> None:
        """Count rows in the progress bar."""
        with self.lock:
            self.progress.update(rows, paid)

    def read(self, job: Job) -> Array:
        """Return answers from the journal."""
        assert self.journal is not None
        answers = self.journal.read(job.source.fingerprint, job.start, job.stop)
        with self.lock:
            self.answers.expect_width(answers.shape[1])
        return like(answers, self.explicand, namespace(self.explicand).float64)

    def located(self, error: Exception, job: Job, number: int) -> Exception:
        """Return the error with the numbers of its queries. Errors of geex itself stay as they are."""
        if isinstance(error, GeexError) and not isinstance(error, TransientError):
            return error
        shape, fix = tuple(self.explicand.shape), ""
        if len(shape) > 1 and shape[0] == 1 and not isinstance(error, TransientError):
            fix = f"x has shape {shape}, and so has each query: if the first axis of x is a batch, explain x[0]."
        batch = "" if job.queries is None else f" of shape {tuple(job.queries.shape)} and type {job.queries.dtype}"
        return ModelRaised(
            f"The model raised {type(error).__name__}: {error}\n(queries {number} … {number + job.size - 1}, a "
            f"batch{batch}).",
            code="model-raised",
            fix=fix,
        )
