"""Who answers: jobs of contiguous rows, and pools that take them.

A runner (`geex.run`) describes a pool and opens it for one run. The pool here, `Inline`, is what a run has without one:
the model is called in the caller's own thread.
"""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array, namespace
from geex._journal.journal import MINE, STORED
from geex._protocols import Source, Workers
from geex._query.limits import Limits
from geex._query.retrying_call import Caller, Model


@dataclass(frozen=True, eq=False)
class Job:
    """Rows start … stop − 1 of a source. `queries` are there where they are made on this side."""

    source: Source
    start: int
    stop: int
    state: str = MINE
    queries: Array | None = None

    @property
    def size(self) -> int:
        return self.stop - self.start

    def made(self) -> Array:
        """The queries (size, *shape), those at hand or made from the source."""
        return self.source.rows(self.start, self.stop) if self.queries is None else self.queries

    def part(self, start: int, stop: int, state: str) -> "Job":
        """Some of the rows, in another state."""
        queries = None
        if self.queries is not None and state == MINE:
            queries = self.queries[start - self.start : stop - self.start, ...]
        return Job(self.source, start, stop, state, queries)


class Inline:
    """The caller's own thread."""

    window = 1
    remote = False

    def __init__(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> None:
        self.caller = Caller(model, limits, batch, stop)

    @property
    def batch(self) -> int:
        return self.caller.batch

    def answer(self, job: Job) -> Any:
        return self.caller(job.made())

    def close(self) -> None: ...


Pool = Inline | Workers


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows that are wanted, a chunk or the ends, and how to make their queries."""

    source: Source
    start: int
    stop: int
    chunk: Any = None

    def queries(self) -> Array:
        return self.source.rows(self.start, self.stop) if self.chunk is None else self.chunk.queries()


def cut(pieces: Iterable[Piece], known: list[tuple[int, int]], pool: Pool) -> Iterator[Job]:
    """Pieces that follow each other as jobs: rows that are `known` apart, others joined and cut to the pool's batch.

    The batch is looked up for every job: it may shrink on the way.
    """
    held: list[Array] = []
    first = stop = 0  # the rows that are held
    source: Any = None

    def job() -> Job:
        return Job(source, first, stop, MINE, _joined(held) if held else None)

    for piece in pieces:
        source = piece.source
        for start, end, stored in split(piece.start, piece.stop, known):
            if stop > first and (stored or (pool.remote and end - first > pool.batch)):
                yield job()
                held, first = [], stop
            if stored:
                yield Job(source, start, end, STORED)
                continue
            first = start if first == stop else first
            if pool.remote:
                stop = end
                continue
            queries = piece.queries()[start - piece.start : end - piece.start, ...]
            while start < end:
                stop = min(end, first + pool.batch)
                held.append(queries[: stop - start, ...])
                queries, start = queries[stop - start :, ...], stop
                if stop - first >= pool.batch:
                    yield job()
                    held, first = [], stop
    if stop > first:
        yield job()


def split(start: int, stop: int, known: list[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """The rows start … stop − 1 in order, told apart by whether they are in the sorted spans `known`."""
    for first, last in known:
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
