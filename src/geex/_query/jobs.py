"""Jobs of contiguous rows, and the pool that calls the model in the caller's own thread.

A runner (`geex.run`) opens another pool for one run. Without a runner and with a concurrency of 1, `Inline` is used.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array, namespace
from geex._journal.journal import MINE, STORED
from geex._protocols import Source, Workers
from geex._query.batch_size import BatchSize
from geex._query.calls.outcome import Outcome
from geex._query.limits import Limits
from geex._query.retrying_call import Caller, Model


@dataclass(frozen=True, eq=False)
class Job:
    """Rows `start` … `stop` − 1 of a source.

    Parameters
    ----------
    source
        The plan that the rows belong to, or the queries beside the plans.
    start, stop
        The first row, and the row after the last.
    state
        Whether this process makes the queries, or answers come from the journal.
    queries
        The queries (size, *shape), if they are made already.
    """

    source: Source
    start: int
    stop: int
    state: str = MINE
    queries: Array | None = None

    @property
    def size(self) -> int:
        return self.stop - self.start

    def make_queries(self) -> Array:
        """Return the queries (size, *shape), as held or made from the source."""
        return self.source.rows(self.start, self.stop) if self.queries is None else self.queries

    def part(self, start: int, stop: int, state: str) -> "Job":
        """Return some of the rows, in another state."""
        queries = None
        if self.queries is not None and state == MINE:
            queries = self.queries[start - self.start : stop - self.start, ...]
        return Job(self.source, start, stop, state, queries)


class Inline:
    """Call the model in the caller's own thread."""

    window = 1
    remote = False

    def __init__(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> None:
        self.caller = Caller(model, limits, batch, stop)

    @property
    def batch(self) -> int:
        return self.caller.batch

    def answer(self, job: Job) -> Outcome:
        return self.caller(job.make_queries())

    def close(self) -> None: ...


Pool = Inline | Workers


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows to be queried, of a chunk or of the ends. `chunk` makes the queries; without one, the source does."""

    source: Source
    start: int
    stop: int
    chunk: Any = None

    def queries(self) -> Array:
        return self.source.rows(self.start, self.stop) if self.chunk is None else self.chunk.queries()


# Which of the rows start … stop − 1 are stored, as sorted spans.
Stored = Callable[[int, int], list[tuple[int, int]]]


def jobs_of(pieces: Iterable[Piece], stored: Stored, pool: Pool, size: BatchSize) -> Iterator[Job]:
    """Yield contiguous pieces as jobs: rows that are stored apart, others joined and cut to the batch.

    The batch is read again for every job, since it changes on the way. Jobs of workers elsewhere hold no queries.
    """
    blocks: list[Array] = []
    first = stop = 0  # the rows of the job that is being filled
    source: Any = None

    def job() -> Job:
        return Job(source, first, stop, MINE, _joined(blocks) if blocks else None)

    for piece in pieces:
        source = piece.source
        for start, end, is_stored in split(piece.start, piece.stop, stored(piece.start, piece.stop)):
            if is_stored:
                if stop > first:
                    yield job()
                    blocks, first = [], stop
                yield Job(source, start, end, STORED)
                continue
            first = start if first == stop else first
            queries = None if pool.remote else piece.queries()[start - piece.start : end - piece.start, ...]
            while start < end:
                rows = max(size.at(first, pool.batch), start - first + 1)  # it may have shrunk below what is joined
                stop = min(end, first + rows)
                if queries is not None:
                    blocks.append(queries[: stop - start, ...])
                    queries = queries[stop - start :, ...]
                start = stop
                if stop - first >= rows:
                    yield job()
                    blocks, first = [], stop
    if stop > first:
        yield job()


def split(start: int, stop: int, stored: list[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """Yield the rows start … stop − 1 in order as spans, with whether they are in the sorted spans `stored`."""
    for first, last in stored:
        if last <= start:
            continue
        if first >= stop:
            break
        if first > start:
            yield start, first, False
        yield max(first, start), min(last, stop), True
        start = last
    if start < stop:
        yield start, stop, False


def _joined(blocks: list[Array]) -> Array:
    return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=0)
