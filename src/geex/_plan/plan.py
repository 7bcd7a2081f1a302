"""The plan of a run: chunk i of the queries is a pure function of the plan and i.

Queries are never stored: chunk i is made again from the seed wherever it is needed. A chunk holds whole draws (mirrored
pairs, orthogonal blocks), and its size depends on the shape of the explicand alone. Every prefix of chunks covers the
path evenly. So a run can stop early, continue later or get more queries, and every answer counts.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from geex._arrays.arrays import Array, Shape, accelerated, host, library, namespace
from geex._plan.search import Draws
from geex._protocols import Features, Search
from geex._stored_names import fingerprint

# Elements of the queries of a chunk: 16 MB in float32.
CHUNK_ELEMENTS = 2**22
# The same on an accelerator, where large steps are faster.
CHUNK_ELEMENTS_ACCELERATED = 2**25
# The most draws of a chunk.
MOST_DRAWS = 256
# Bytes of draws that a cache keeps by default.
CACHE_BYTES = 256 * 2**20


@dataclass
class DrawCache:
    """Draws of earlier chunks, up to `keep` bytes, for the next explicand of the same shape. Others are made again."""

    keep: int = CACHE_BYTES
    kept: dict[tuple[object, ...], Draws] = field(default_factory=dict, repr=False)
    size: int = 0

    def draws(self, search: Search, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        """Return the draws of a chunk, from the cache if they are in it."""
        if not self.keep:
            return search.draws(seed, chunk, count, explicand)
        key = (search.drawn, seed, chunk, count, tuple(explicand.shape), explicand.dtype, library(explicand))
        try:
            kept = self.kept.get(key)
        except TypeError:  # a user's own family may have no hash
            return search.draws(seed, chunk, count, explicand)
        if kept is not None:
            return kept
        draws = search.draws(seed, chunk, count, explicand)
        size = prod(draws.noise.shape) * draws.noise.itemsize
        if self.size + size <= self.keep:
            self.kept[key] = draws
            self.size += size
        return draws


class LatestDraws(DrawCache):
    """The draws of the latest chunks of one plan, whose jobs are parts of chunks. Several threads may use it."""

    def __init__(self, chunks: int = 2) -> None:
        super().__init__(keep=0)
        self.chunks = chunks
        self._latest: OrderedDict[int, Draws] = OrderedDict()
        self._lock = threading.Lock()

    def draws(self, search: Search, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        with self._lock:
            if chunk not in self._latest:
                self._latest[chunk] = search.draws(seed, chunk, count, explicand)
            self._latest.move_to_end(chunk)
            while len(self._latest) > self.chunks:
                self._latest.popitem(last=False)
            return self._latest[chunk]


@dataclass(frozen=True, eq=False)
class Plan:
    """The fields decide every query. `explicand` and `baseline` are in the working type; the model gets `dtype`.

    baseline: one baseline, or the rows of a background (rows, *shape), for a search that draws among them.
    before: the plan of the round before this one, and how many of its draws were queried. It changes no query of this
        round; `chunks` yields those of earlier rounds first.
    """

    explicand: Array
    baseline: Array
    search: Search
    features: Features
    seed: int = 0
    bounds: tuple[Array, Array] | None = None
    dtype: object = None
    cache: DrawCache = field(default_factory=lambda: DrawCache(keep=0), repr=False)
    before: "tuple[Plan, int] | None" = field(default=None, repr=False)

    @property
    def has_background(self) -> bool:
        """Whether `baseline` is the rows of a background."""
        return bool(self.baseline.ndim > self.explicand.ndim)

    @property
    def earlier(self) -> int:
        """How many draws earlier rounds have queried."""
        return 0 if self.before is None else self.before[0].earlier + self.before[1]

    @property
    def first(self) -> "Plan":
        """The plan of the first round."""
        return self if self.before is None else self.before[0].first

    def without_cache(self) -> "Plan":
        """Return the same plan without cached draws."""
        before = None if self.before is None else (self.before[0].without_cache(), self.before[1])
        return replace(self, cache=DrawCache(keep=0), before=before)

    @cached_property
    def draws_per_chunk(self) -> int:
        """A power of two, or whole pairs of blocks, within CHUNK_ELEMENTS and MOST_DRAWS."""
        elements = CHUNK_ELEMENTS_ACCELERATED if accelerated(self.explicand) else CHUNK_ELEMENTS
        most = elements // (self.search.rows * prod(self.explicand.shape))
        if self.search.block > 1:
            pair = 2 * self.search.block
            return pair * max(1, int(min(most, MOST_DRAWS)) // pair)
        return 1 << max(1, int(min(most, MOST_DRAWS)).bit_length() - 1)

    @property
    def rows_per_chunk(self) -> int:
        return self.draws_per_chunk * self.search.rows

    def chunk(self, index: int) -> "Chunk":
        """Return chunk number `index`, whole."""
        draws = self.cache.draws(self.search, self.seed, index, self.draws_per_chunk, self.explicand)
        return Chunk(self, index, draws)

    def chunks(self, draws: int) -> Iterator["Chunk"]:
        """Yield the chunks of the first `draws` draws, those of earlier rounds included, the last one cut short."""
        if self.before is not None:
            yield from self.before[0].chunks(self.earlier)
        own = draws - self.earlier
        for index in range(-(-own // self.draws_per_chunk)):
            yield self.chunk(index).part(0, own - index * self.draws_per_chunk)

    def rows(self, start: int, stop: int) -> Array:
        """Return queries number `start` … `stop` − 1 of the plan."""
        size = self.rows_per_chunk
        parts = []
        for index in range(start // size, -(-stop // size)):
            parts.append(self._rows_of_chunk(index, max(start - index * size, 0), min(stop - index * size, size)))
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)

    def _rows_of_chunk(self, index: int, start: int, stop: int) -> Array:
        """Return rows of a chunk. Only the queries of their draws are made."""
        rows = self.search.rows
        first = start // rows
        queries = self.chunk(index).part(first, -(-stop // rows)).queries()
        return queries[start - first * rows : stop - first * rows, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A digest that is equal for plans with the same queries; their number and the features do not count."""
        facts = ("plan/1", self.search, self.seed, library(self.explicand), str(self.dtype).removeprefix("torch."))
        return fingerprint(facts, map(host, (self.explicand, self.baseline, *(self.bounds or ()))))


@dataclass(frozen=True, eq=False)
class Ends:
    """Queries beside the plans: x, the baselines, and x once more. `points` (n, *shape) have the type that is sent."""

    points: Array

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(("ends/1",), [host(self.points)])

    def rows(self, start: int, stop: int) -> Array:
        return self.points[start:stop, ...]


@dataclass(frozen=True, eq=False)
class Again:
    """One query, over and over. `point` (*shape) has the type that is sent."""

    point: Array

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(("again/1",), [host(self.point)])

    def rows(self, start: int, stop: int) -> Array:
        xp = namespace(self.point)
        return xp.concat([self.point[None, ...]] * (stop - start), axis=0)


def seed_of(seed: int, *place: int) -> int:
    """Return a seed for a place, such as a baseline or a round. Other places have independent seeds."""
    return int(np.random.SeedSequence(seed, spawn_key=place).generate_state(1, np.uint64)[0])


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some draws of a plan: their queries, and the weights of the answers."""

    plan: Plan
    index: int
    draws: Draws

    @property
    def count(self) -> int:
        return int(self.draws.alpha.shape[0])

    @property
    def rows(self) -> int:
        return self.count * self.plan.search.rows

    def part(self, first: int, stop: int) -> "Chunk":
        """Return draws number `first` … `stop` − 1 of this chunk, as far as it has them."""
        if first <= 0 and stop >= self.count:
            return self
        return Chunk(self.plan, self.index, self.draws.part(first, stop))

    def queries(self) -> Array:
        """Return the queries (rows, *shape), clipped to the bounds; the rows of a draw follow each other."""
        plan = self.plan
        queries = plan.search.queries(self.draws, plan.explicand, plan.baseline)
        xp = namespace(queries)
        shape: Shape = tuple(plan.explicand.shape)
        queries = xp.reshape(queries, (self.rows, *shape))
        if plan.bounds is not None:
            queries = xp.minimum(xp.maximum(queries, plan.bounds[0]), plan.bounds[1])
        return queries if plan.dtype is None else xp.astype(queries, plan.dtype, copy=False)

    def weights(self) -> Array:
        """Return the weight (draws, features) of the answer to the first query of each draw."""
        plan = self.plan
        return plan.search.weights(self.draws, plan.explicand, plan.baseline, plan.features)
