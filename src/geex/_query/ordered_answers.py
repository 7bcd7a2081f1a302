"""From queries to answers (n, k), in order: the only step that costs anything.

    chunks of a plan  ->  jobs of contiguous rows  ->  answers, checked and journaled  ->  chunks, in order

Neither the size of a job nor the number of jobs in flight changes what is queried, or the order in which answers are
used: answers are put back to their chunks.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from functools import cached_property
from math import prod

from geex._arrays.arrays import Array, accelerated, namespace
from geex._journal.journal import MINE, STORED
from geex._plan.plan import Again, Chunk, Ends, Plan
from geex._protocols import Source
from geex._query.dispatcher import Dispatcher
from geex._query.in_flight import InFlight, RowsOfOthers, WorkerCall, start_job
from geex._query.jobs import Job, Piece, Stored, jobs_of, split
from geex._query.rate_limit import Stopped
from geex.errors import BudgetError

# Bytes of a batch.
BATCH_BYTES = 32 * 2**20
# The same on an accelerator, where large batches are faster.
BATCH_BYTES_ACCELERATED = 128 * 2**20
# The most rows of a batch, whatever their size.
MOST_ROWS = 512
# Jobs that may wait for an earlier one, as a multiple of the jobs in flight.
AHEAD = 4


def default_batch(explicand: Array) -> int:
    """Return as many rows as 32 MB hold (128 MB on an accelerator), 512 at most."""
    size = BATCH_BYTES_ACCELERATED if accelerated(explicand) else BATCH_BYTES
    return max(1, min(MOST_ROWS, int(size // (prod(explicand.shape) * explicand.itemsize))))


def nothing_affordable() -> BudgetError:
    """Return the error for a run that may send too few rows for any result."""
    return BudgetError(
        "The rows that may be sent are too few for a result, those of failed calls included.",
        code="most-sent-too-small",
        fix="Raise most_sent of geex.Limits, or most_cost.",
    )


class Querier:
    """Query inputs like one explicand, at most `budget` rows in all.

    queried: the rows of this run, those that were in the journal included.
    incomplete: whether answers are missing, because the run was stopped or the journal holds no more.
    """

    def __init__(self, dispatcher: Dispatcher, budget: int) -> None:
        self.dispatcher = dispatcher
        self.budget = budget
        self.queried = 0
        self.incomplete = False

    @property
    def own(self) -> int:
        """How many rows this process has queried; the others were in the journal."""
        return self.dispatcher.accepted

    def rows(self, queries: Array) -> Array:
        """Return answers (m, k) to queries (m, *shape) that belong to no plan."""
        answers = self.ends(Ends(queries), 0, int(queries.shape[0]))
        if answers is None:
            raise nothing_affordable() if self.dispatcher.spending.spent else KeyboardInterrupt
        return answers

    def ends(self, ends: Ends | Again, start: int, stop: int) -> Array | None:
        """Return answers to rows start … stop − 1 of the ends; None if the run is stopped before."""
        blocks = list(self._stream(ends, [Piece(ends, start, stop)]))
        if sum(int(block.shape[0]) for block in blocks) < stop - start:
            self.incomplete = True
            return None
        return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=0)

    def chunks(self, plan: Plan, draws: int, first: int = 0) -> Iterator[tuple[Chunk, Array]]:
        """Yield the chunks of draws number `first` … `draws` − 1 with their answers (rows, k), in order.

        They may end early (see `incomplete`), the last one cut to whole draws. Close the iterator to query no more.
        """
        waiting: deque[_LazyChunk] = deque()

        def pieces() -> Iterator[Piece]:
            size, rows = plan.draws_per_chunk, plan.search.rows
            for index in range(first // size, -(-draws // size)):
                start, stop = max(first, index * size), min(draws, (index + 1) * size)
                waiting.append(_LazyChunk(plan, index, start - index * size, stop - start))
                yield Piece(plan, start * rows, stop * rows, waiting[-1])

        stream = self._stream(plan, pieces())
        blocks = _Blocks(stream)
        search, taken, total = plan.search, first * plan.search.rows, draws * plan.search.rows
        try:
            while taken < total and blocks.peek() is not None:
                lazy = waiting.popleft()
                answers = blocks.take(lazy.count * search.rows)
                rows = int(answers.shape[0])
                if rows < lazy.count * search.rows:
                    rows = min(rows, search.afford(taken + rows) * search.rows - taken)
                    if rows <= 0 or taken + rows < search.least:
                        break
                taken += rows
                yield lazy.chunk.part(0, rows // search.rows), answers[:rows, :]
            self.incomplete = self.incomplete or taken < total
        finally:
            stream.close()

    def _stream(self, source: Source, pieces: Iterable[Piece]) -> Generator[Array, None, None]:
        """Yield answers to the pieces, block by block and in order, as far as they come."""
        pending: deque[InFlight] = deque()
        try:
            for job in self._jobs(source, pieces):
                while self._full(pending):
                    if self._first_is_next(pending):
                        yield pending.popleft().get()
                if self.dispatcher.ending:
                    break
                pending.extend(self._started(job))
            while pending:
                yield pending.popleft().get()
            self.dispatcher.answers.check_finite()
        except Stopped:
            pass
        finally:
            for one in pending:
                one.abandon()

    def _full(self, pending: deque[InFlight]) -> bool:
        """Return whether no job is started now: the pool has its fill, or too many jobs wait for an earlier one."""
        window = 1 if self.dispatcher.pool is None else self.dispatcher.pool.window
        of_others = sum(isinstance(one, RowsOfOthers) for one in pending)
        if window == 1:
            return len(pending) > min(AHEAD, of_others)
        busy = sum(not one.ready for one in pending) - of_others
        return busy >= window or len(pending) >= AHEAD * window

    def _first_is_next(self, pending: deque[InFlight]) -> bool:
        """Return whether the first of the jobs is used now.

        A slow job blocks no other: if more fit beside it, wait until any of the others is done, and return False.
        """
        first, pool = pending[0], self.dispatcher.pool
        if pool is None or first.ready or not isinstance(first, WorkerCall) or len(pending) >= AHEAD * pool.window:
            return True
        return self.dispatcher.interrupt.stop.is_set() or not first.any_ready(pending)

    def _started(self, job: Job) -> list[InFlight]:
        """Start a job. All that this process claims is started at once: a process that waits blocks no other."""
        if self.queried + job.size > self.budget:
            raise BudgetError(
                f"The budget is {self.budget} queries; this run would need {self.queried + job.size}.",
                code="budget-exceeded",
            )
        number, self.queried = self.queried, self.queried + job.size
        dispatcher = self.dispatcher
        parts = self._without_gap(dispatcher.claim(job))
        return [start_job(dispatcher, part, number + part.start - job.start) for part in parts]

    def _without_gap(self, claimed: list[Job]) -> list[Job]:
        """Return the parts of a job up to the first row that may not be sent: later answers would take its place."""
        parts: list[Job] = []
        for n, one in enumerate(claimed):
            allowed = self.dispatcher.affordable(one)
            parts += allowed
            if sum(part.size for part in allowed) < one.size:
                for later in claimed[n + 1 :]:
                    if later.state == MINE:
                        self.dispatcher.release(later)
                break
        return parts

    def _jobs(self, source: Source, pieces: Iterable[Piece]) -> Iterator[Job]:
        """Yield jobs of rows that are in the journal, and of rows that are not."""
        journal, pool = self.dispatcher.journal, self.dispatcher.pool

        def stored(start: int, stop: int) -> list[tuple[int, int]]:
            return [] if journal is None else journal.stored(source.fingerprint, start, stop)

        if pool is None:
            yield from self._stored_jobs(pieces, stored)
            return
        yield from jobs_of(pieces, stored, pool, self.dispatcher.spending.batch)

    def _stored_jobs(self, pieces: Iterable[Piece], stored: Stored) -> Iterator[Job]:
        """Yield jobs of rows in the journal, up to the first row that is not."""
        for piece in pieces:
            for start, stop, is_stored in split(piece.start, piece.stop, stored(piece.start, piece.stop)):
                if not is_stored:
                    return
                yield Job(piece.source, start, stop, STORED)


class _LazyChunk:
    """A chunk that is made once, when its queries or its weights are first needed."""

    def __init__(self, plan: Plan, index: int, first: int, count: int) -> None:
        self.plan, self.index, self.first, self.count = plan, index, first, count

    @cached_property
    def chunk(self) -> Chunk:
        return self.plan.chunk(self.index).part(self.first, self.first + self.count)

    def queries(self) -> Array:
        return self.chunk.queries()


class _Blocks:
    """A stream of blocks of rows, from which any number of rows is taken in order."""

    def __init__(self, blocks: Iterator[Array]) -> None:
        self.blocks = blocks
        self.left: deque[Array] = deque()

    def peek(self) -> Array | None:
        """Return the next block; None at the end."""
        if not self.left:
            self.left.extend(block for block in [next(self.blocks, None)] if block is not None)
        return self.left[0] if self.left else None

    def take(self, count: int) -> Array:
        """Return the next `count` rows as one array, fewer at the end."""
        parts: list[Array] = []
        while count > 0 and (block := self.peek()) is not None:
            self.left.popleft()
            part = block[:count, ...]
            if part.shape[0] < block.shape[0]:
                self.left.append(block[count:, ...])
            parts.append(part)
            count -= int(part.shape[0])
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)
