"""Measure one piece after the other, within a time limit."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import torch
from tqdm import tqdm

from benchmarks.paper.cases import Case, CaseSet
from benchmarks.paper.contenders import Contender
from benchmarks.paper.measure import pieces
from benchmarks.paper.results import Results

RESERVE = 1.25  # the next piece may take this many times what the slowest of the last ones leads one to expect
LARGE = 1000
LAST = 8


class Work(Protocol):
    """A piece of work. `cost`: about how many rows go through the network."""

    home: CaseSet
    case: Case
    contender: Contender

    @property
    def cost(self) -> int: ...

    def done(self, results: Results) -> bool: ...

    def measure(self, results: Results) -> None: ...


@dataclass
class Clock:
    """Predict whether a piece fits the time limit, from the time for each row in the last pieces of the same data.

    Pieces of few rows are mostly overhead, so they count only until a large one is done.
    """

    minutes: float | None = None
    start: float = field(default_factory=time.perf_counter)
    rates: dict[tuple[str, bool], list[float]] = field(default_factory=dict)

    def fits(self, piece: Work) -> bool:
        data = piece.home.data
        known = self.rates.get((data, True)) or self.rates.get((data, False)) or [0.0]
        expected = RESERVE * max(known[-LAST:]) * piece.cost
        return self.minutes is None or time.perf_counter() - self.start + expected < 60 * self.minutes

    def learn(self, piece: Work, seconds: float) -> None:
        self.rates.setdefault((piece.home.data, piece.cost >= LARGE), []).append(seconds / piece.cost)


def run(sets: list[CaseSet], results: Results, clock: Clock, share: tuple[int, int] = (1, 1)) -> int:
    """Measure missing results, set after set, and return the number of pieces left."""
    part, count = share
    left = 0
    for home in sets:
        number = {case.name: place for place, case in enumerate(home.cases)}
        work = [piece for piece in pieces(home) if number[piece.case.name] % count == part - 1]
        left += work_through(work, results, clock)
    return left


def work_through(work: Sequence[Work], results: Results, clock: Clock) -> int:
    """Measure one set with a progress bar in rows of the network, and return the number of pieces left."""
    todo = [piece for piece in work if not piece.done(results)]
    if not todo:
        return 0
    rows, missing = (sum(piece.cost for piece in some) for some in (work, todo))
    with tqdm(total=rows, initial=rows - missing, unit=" rows", unit_scale=True, mininterval=1) as bar:
        for done, piece in enumerate(todo):
            if not clock.fits(piece):
                return len(todo) - done
            bar.set_description(f"{piece.home.data} {piece.case.name} {piece.contender.key}")
            start = time.perf_counter()
            with threads(piece.home.threads):
                piece.measure(results)
            clock.learn(piece, time.perf_counter() - start)
            bar.update(piece.cost)
    return 0


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Run PyTorch with `count` threads; None: no change."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
