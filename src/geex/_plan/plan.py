"""What will be asked: chunk i of the queries is a pure function of the plan and i.

Queries are never stored: whoever needs chunk i makes it again from the seed. A chunk holds whole draws (mirrored
pairs, orthogonal blocks), its size depends on the shape of the explicand alone, and every prefix of chunks is
itself an even plan: a run can stop early, go on later or be given more queries, and every answer still counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from geex._arrays.arrays import Array, Shape, accelerated, host, library, namespace
from geex._plan.search import Draws
from geex._protocols import Features, Search
from geex._stored_names import fingerprint

CHUNK_ELEMENTS = 2**22
CHUNK_ELEMENTS_ACCELERATED = 2**25
MOST_DRAWS = 256


@dataclass
class Masks:
    """Draws that were made, kept up to `keep` bytes for the next explicand of the same shape; else made again."""

    keep: int = 256 * 2**20
    kept: dict[tuple[object, ...], Draws] = field(default_factory=dict, repr=False)
    size: int = 0

    def draws(self, search: Search, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        if not self.keep:
            return search.draws(seed, chunk, count, explicand)
        key = (search.drawn, seed, chunk, count, tuple(explicand.shape), explicand.dtype, library(explicand))
        try:
            kept = self.kept.get(key)
        except TypeError:  # a family of the user's that cannot be hashed cannot be looked up
            return search.draws(seed, chunk, count, explicand)
        if kept is not None:
            return kept
        draws = search.draws(seed, chunk, count, explicand)
        size = prod(draws.noise.shape) * draws.noise.itemsize
        if self.size + size <= self.keep:
            self.kept[key] = draws
            self.size += size
        return draws


@dataclass(frozen=True, eq=False)
class Plan:
    """Fields decide every query. `explicand` and `baseline` are in the working type; the model is sent `dtype`.

    before: the plan of the leg before this one, and how many of its draws were asked. It changes nothing that is asked
        here, but whoever makes chunks again makes those of earlier legs first.
    """

    explicand: Array
    baseline: Array
    search: Search
    features: Features
    seed: int = 0
    bounds: tuple[Array, Array] | None = None
    dtype: object = None
    masks: Masks = field(default_factory=lambda: Masks(keep=0), repr=False)
    before: "tuple[Plan, int] | None" = field(default=None, repr=False)

    @property
    def earlier(self) -> int:
        """How many draws earlier legs have asked."""
        return 0 if self.before is None else self.before[0].earlier + self.before[1]

    @property
    def first(self) -> "Plan":
        """That of the first leg."""
        return self if self.before is None else self.before[0].first

    def bare(self) -> "Plan":
        """The same without the masks that were kept."""
        before = None if self.before is None else (self.before[0].bare(), self.before[1])
        return replace(self, masks=Masks(keep=0), before=before)

    @cached_property
    def draws_per_chunk(self) -> int:
        """A power of two, or whole couples of blocks: as many draws as make up CHUNK_ELEMENTS, 256 at most."""
        elements = CHUNK_ELEMENTS_ACCELERATED if accelerated(self.explicand) else CHUNK_ELEMENTS
        most = elements // (self.search.rows * prod(self.explicand.shape))
        if self.search.block > 1:
            couple = 2 * self.search.block
            return couple * max(1, int(min(most, MOST_DRAWS)) // couple)
        return 1 << max(1, int(min(most, MOST_DRAWS)).bit_length() - 1)

    @property
    def rows_per_chunk(self) -> int:
        return self.draws_per_chunk * self.search.rows

    def chunk(self, index: int) -> "Chunk":
        """Chunk `index`, whole."""
        draws = self.masks.draws(self.search, self.seed, index, self.draws_per_chunk, self.explicand)
        return Chunk(self, index, draws)

    def chunks(self, draws: int) -> Iterator["Chunk"]:
        """The chunks that hold the first `draws` draws, those of earlier legs included, the last one cut short."""
        if self.before is not None:
            yield from self.before[0].chunks(self.earlier)
        own = draws - self.earlier
        for index in range(-(-own // self.draws_per_chunk)):
            yield self.chunk(index).part(0, own - index * self.draws_per_chunk)

    def rows(self, start: int, stop: int) -> Array:
        """Queries number `start` … `stop` − 1 of the plan, made from nothing but the plan."""
        size = self.rows_per_chunk
        parts = []
        for index in range(start // size, -(-stop // size)):
            first = index * size
            parts.append(self.chunk(index).queries()[max(start - first, 0) : stop - first, ...])
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for plans that ask the same: neither the number of queries nor the features count."""
        facts = ("plan/1", self.search, self.seed, library(self.explicand), str(self.dtype).removeprefix("torch."))
        return fingerprint(facts, map(host, (self.explicand, self.baseline, *(self.bounds or ()))))


@dataclass(frozen=True, eq=False)
class Ends:
    """What is asked beside the plans: x, the baselines, and x once more. `points` (n, *shape) are as they are sent."""

    points: Array

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(("ends/1",), [host(self.points)])

    def rows(self, start: int, stop: int) -> Array:
        return self.points[start:stop, ...]


def seed_of(seed: int, *place: int) -> int:
    """A seed of its own for every place that has one."""
    return int(np.random.SeedSequence(seed, spawn_key=place).generate_state(1, np.uint64)[0])


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some draws of a plan: what is asked for them, and what their answers weigh."""

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
        """Draws number `first` … `stop` − 1 of this chunk, as far as it has them."""
        if first <= 0 and stop >= self.count:
            return self
        draws = Draws(self.draws.alpha[first:stop], self.draws.noise[first:stop, ...])
        return Chunk(self.plan, self.index, draws)

    def queries(self) -> Array:
        """(rows, *shape), the rows of a draw beside each other, clipped to the bounds."""
        plan = self.plan
        queries = plan.search.queries(self.draws, plan.explicand, plan.baseline)
        xp = namespace(queries)
        shape: Shape = tuple(plan.explicand.shape)
        queries = xp.reshape(queries, (self.rows, *shape))
        if plan.bounds is not None:
            queries = xp.minimum(xp.maximum(queries, plan.bounds[0]), plan.bounds[1])
        return queries if plan.dtype is None else xp.astype(queries, plan.dtype, copy=False)

    def weights(self) -> Array:
        """(draws, features): what the answer to the first query of each draw weighs."""
        plan = self.plan
        return plan.search.weights(self.draws, plan.explicand, plan.baseline, plan.features)
