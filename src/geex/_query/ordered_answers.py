"""The only step that costs anything: turns queries into answers (n, k).

    chunks of a plan  ->  jobs of contiguous rows  ->  answers, checked and journaled  ->  chunks, in order

Neither the size of a job nor how many are under way changes what is asked, or the order in which it is used: answers
are put back to their chunks.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from functools import cached_property
from math import prod

from geex._arrays.arrays import Array, accelerated, namespace
from geex._journal.journal import STORED
from geex._plan.plan import Chunk, Ends, Plan
from geex._protocols import Source
from geex._query.in_flight import Desk, Running, Theirs, Underway
from geex._query.jobs import Job, Piece, cut, split
from geex._query.rate_limit import Stopped
from geex.errors import BudgetError

BATCH_BYTES = 32 * 2**20
BATCH_BYTES_ACCELERATED = 128 * 2**20
MOST_ROWS = 512
AHEAD = 4  # times as many jobs may wait for an earlier one as are under way


def default_batch(explicand: Array) -> int:
    """As many rows as 32 MB hold (128 MB on an accelerator), 512 at most."""
    size = BATCH_BYTES_ACCELERATED if accelerated(explicand) else BATCH_BYTES
    return max(1, min(MOST_ROWS, int(size // (prod(explicand.shape) * explicand.itemsize))))


class Asker:
    """Asks about inputs like one explicand, at most `budget` rows in all.

    asked: the rows of this run, those that were in the journal included.
    short: whether some of what was wanted did not come, because the run was stopped or the journal has no more.
    """

    def __init__(self, desk: Desk, budget: int) -> None:
        self.desk = desk
        self.budget = budget
        self.asked = 0
        self.short = False

    def rows(self, queries: Array) -> Array:
        """Answers (m, k) to queries (m, *shape) that belong to no plan."""
        answers = self.ends(Ends(queries), 0, int(queries.shape[0]))
        if answers is None:
            raise KeyboardInterrupt
        return answers

    def ends(self, ends: Ends, start: int, stop: int) -> Array | None:
        """Answers to rows start … stop − 1 of the ends; None where the run was stopped before they were in."""
        blocks = list(self._stream(ends, [Piece(ends, start, stop)]))
        if sum(int(block.shape[0]) for block in blocks) < stop - start:
            self.short = True
            return None
        return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=0)

    def chunks(self, plan: Plan, draws: int, first: int = 0) -> Iterator[tuple[Chunk, Array]]:
        """The chunks of draws number `first` … `draws` − 1 with their answers (rows, k), in order.

        They may end early (see `short`), the last one cut to whole draws. Whoever has heard enough takes no more.
        """
        waiting: deque[_Once] = deque()

        def pieces() -> Iterator[Piece]:
            size, rows = plan.draws_per_chunk, plan.search.rows
            for index in range(first // size, -(-draws // size)):
                start, stop = max(first, index * size), min(draws, (index + 1) * size)
                waiting.append(_Once(plan, index, start - index * size, stop - start))
                yield Piece(plan, start * rows, stop * rows, waiting[-1])

        stream = self._stream(plan, pieces())
        blocks = _Blocks(stream)
        search, taken, wanted = plan.search, first * plan.search.rows, draws * plan.search.rows
        try:
            while taken < wanted and blocks.peek() is not None:
                once = waiting.popleft()
                answers = blocks.take(once.count * search.rows)
                rows = int(answers.shape[0])
                if rows < once.count * search.rows:
                    rows = min(rows, search.afford(taken + rows) * search.rows - taken)
                    if rows <= 0 or taken + rows < search.least:
                        break
                taken += rows
                yield once.chunk.part(0, rows // search.rows), answers[:rows, :]
            self.short = self.short or taken < wanted
        finally:
            stream.close()

    def _stream(self, source: Source, pieces: Iterable[Piece]) -> Generator[Array, None, None]:
        """Answers to the pieces, block by block and in order, as far as they come."""
        pending: deque[Underway] = deque()
        try:
            for job in self._jobs(source, pieces):
                while self._full(pending):
                    if self._first_is_next(pending):
                        yield pending.popleft().get()
                if self.desk.interrupt.stop.is_set() or self.desk.failed:
                    break
                pending.extend(self._begun(job))
            while pending:
                yield pending.popleft().get()
            self.desk.answers.settle()
        except Stopped:
            pass
        finally:
            for one in pending:
                one.drop()

    def _full(self, pending: deque[Underway]) -> bool:
        """Whether no more jobs are begun now: the pool has as many as it wants, or too many wait for an earlier one."""
        window = 1 if self.desk.pool is None else self.desk.pool.window
        theirs = sum(isinstance(one, Theirs) for one in pending)
        if window == 1:
            return len(pending) > min(AHEAD, theirs)
        busy = sum(not one.ready for one in pending) - theirs
        return busy >= window or len(pending) >= AHEAD * window

    def _first_is_next(self, pending: deque[Underway]) -> bool:
        """Whether the first of the jobs is to be used now. One that is slow holds up nobody: if there is room for more
        beside it, this waits until any of the others is through."""
        first, pool = pending[0], self.desk.pool
        if pool is None or first.ready or not isinstance(first, Running) or len(pending) >= AHEAD * pool.window:
            return True
        return self.desk.interrupt.stop.is_set() or not first.any_ready(pending)

    def _begun(self, job: Job) -> list[Underway]:
        """The job under way. What is claimed here is begun at once: whoever waits for others holds up nobody."""
        if self.asked + job.size > self.budget:
            raise BudgetError(f"{self.asked + job.size} queries would be asked and the budget is {self.budget}.")
        number, self.asked = self.asked, self.asked + job.size
        return [self.desk.begin(part, number + part.start - job.start) for part in self.desk.claimed(job)]

    def _jobs(self, source: Source, pieces: Iterable[Piece]) -> Iterator[Job]:
        """What is in the journal, and what is not."""
        journal, pool = self.desk.journal, self.desk.pool
        known = [] if journal is None else journal.stored(source.fingerprint)
        if pool is None:
            yield from self._only_known(pieces, known)
            return
        yield from cut(pieces, known, pool)

    def _only_known(self, pieces: Iterable[Piece], known: list[tuple[int, int]]) -> Iterator[Job]:
        for piece in pieces:
            for start, stop, stored in split(piece.start, piece.stop, known):
                if not stored:
                    return
                yield Job(piece.source, start, stop, STORED)


class _Once:
    """A chunk that is made when it is first needed, for its queries or for its estimate."""

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
        """The next block, or None at the end."""
        if not self.left:
            self.left.extend(block for block in [next(self.blocks, None)] if block is not None)
        return self.left[0] if self.left else None

    def take(self, count: int) -> Array:
        """The next `count` rows as one array, fewer at the end."""
        parts: list[Array] = []
        while count > 0 and (block := self.peek()) is not None:
            self.left.popleft()
            part = block[:count, ...]
            if part.shape[0] < block.shape[0]:
                self.left.append(block[count:, ...])
            parts.append(part)
            count -= int(part.shape[0])
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)
