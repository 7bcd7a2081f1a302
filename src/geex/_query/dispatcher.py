"""What the jobs of a run share: its pool, its journal, the checks of its answers, its progress."""

import threading
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._journal.journal import MINE, STORED, Journal
from geex._journal.owners import LEASE
from geex._protocols import Workers
from geex._query.answers import Answers
from geex._query.calls.answer_width import FirstAnswerWrong
from geex._query.calls.answered_rows import spans, usable_rows
from geex._query.calls.outcome import Outcome, outcome_of
from geex._query.interrupt import Interrupt
from geex._query.jobs import Inline, Job, Pool
from geex._query.progress import Progress
from geex._query.spending import Spending
from geex.errors import GeexError, ModelRaised, TransientError


class Dispatcher:
    """Claim jobs, check and store their answers. Without a pool, the journal alone answers."""

    def __init__(
        self,
        pool: Pool | None,
        explicand: Array,
        spending: Spending,
        progress: Progress,
        interrupt: Interrupt,
        journal: Journal | None,
    ) -> None:
        self.pool = pool
        self.explicand = explicand
        self.spending = spending
        self.progress = progress
        self.interrupt = interrupt
        self.journal = journal
        self.answers = Answers(explicand, lazy=isinstance(pool, Inline) and journal is None)
        self.lock = threading.Lock()  # answers arrive in several threads
        self.failed = False
        self.accepted = 0  # rows that this process has queried, and received usable answers to

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

    @property
    def ending(self) -> bool:
        """Whether no more jobs are started."""
        return self.failed or self.spending.spent or self.interrupt.stop.is_set()

    def affordable(self, job: Job) -> list[Job]:
        """Return the job, or the first rows of it if no more may be sent. The other rows are released."""
        if job.state != MINE or self.pool is None:
            return [job]
        stop = job.start + self.spending.reserve(job.size)
        if stop == job.stop:
            return [job]
        self.release(job.part(stop, job.stop, STORED))
        return [job.part(job.start, stop, MINE)] if stop > job.start else []

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

    def arrived(self, job: Job, number: int, result: Any) -> Array:
        """Store the answers that came of a job, and return all of them (rows, k). Raise the error of the others.

        number: the number of the job's first row in the run. result: what the pool returned.
        """
        outcome = outcome_of(result, job.size)
        self._count(outcome, job)
        accepted = [
            (first, self.accept(job.part(job.start + first, job.start + first + count, STORED), number + first, raw))
            for first, count, raw in outcome.parts
        ]
        if isinstance(outcome.error, FirstAnswerWrong) and self.journal is not None:
            self.journal.discard_other_widths(outcome.error.columns)
        if outcome.error is not None:
            raise outcome.error
        accepted.sort(key=lambda part: part[0])
        blocks = [answers for _, answers in accepted]
        return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=0)

    def _count(self, outcome: Outcome, job: Job) -> None:
        """Count what was sent and what failed."""
        self.spending.count(outcome, job.size)
        with self.lock:
            self.progress.count(outcome)

    def accept(self, job: Job, number: int, raw: Any) -> Array:
        """Return the answers (rows, k), checked and committed to the journal. Rows that are usable are committed even
        if others are not."""
        with self.lock:
            answers = self.answers.converted(raw, number, job)
        usable = job.size
        if self.journal is not None:
            usable = self._store(self.journal, job, host(answers))
        with self.lock:
            self.accepted += usable
            self.answers.check()
        self.advance(job.size)
        return answers

    def _store(self, journal: Journal, job: Job, rows: np.ndarray) -> int:
        """Commit the usable answers to a job, and return how many they are."""
        usable = usable_rows(rows)
        if usable.all():
            journal.store(job.source.fingerprint, job.start, rows)
            return len(rows)
        places = np.flatnonzero(usable)
        for first, stop in spans(places):
            start, end = int(places[first]), int(places[stop - 1]) + 1
            journal.store(job.source.fingerprint, job.start + start, rows[start:end])
        return len(places)

    def advance(self, rows: int, stored: bool = False) -> None:
        """Count rows in the progress bar. stored: their answers were in the journal before this session."""
        with self.lock:
            self.progress.update(rows, stored)

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
