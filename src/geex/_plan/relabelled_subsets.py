"""Subsets for the rows of a table: the same collection for all rows, with other features in it for every row.

    S_i of row r = π_r(S_i),   π_r a random permutation of the players

Every subset of a size is as likely as any other, and none is repeated, as in `subsets.py`. So each row has its own
masks, at the price of a permutation. Errors of two rows are uncorrelated: given the collection, each row is unbiased.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._arrays.random_stream import Stream
from geex._plan.search import Draws
from geex._plan.subsets import Subsets
from geex._problem.features import Elements
from geex._stored_names import stored

# The place of a row's permutation in its streams.
PERMUTATION = 8
# Collections that are kept: one for each number of players and chunk.
KEPT_COLLECTIONS = 64


@stored("relabelled subsets/1")
@dataclass(frozen=True)
class RelabelledSubsets(Subsets):
    """Subsets whose collection comes from the seed `shared`, and whose permutation comes from the plan's."""

    shared: int = 0

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        q = len(self.players)
        order = Stream(seed, (PERMUTATION,), explicand).generator().permutation(q)
        shown = _collection(q, self.shared, chunk, count)[:, order]
        masks = np.zeros((len(shown), prod(self.features.shape(tuple(explicand.shape)))))
        masks[:, list(self.players)] = shown
        return Draws(like(shown.mean(axis=1), explicand), like(masks, explicand))


def relabelled(search: Subsets, shared: int) -> RelabelledSubsets:
    """Return the same search for a row of a table with the seed `shared`."""
    return RelabelledSubsets(search.features, search.players, search.rows, search.block, shared)


@lru_cache(maxsize=KEPT_COLLECTIONS)
def _collection(q: int, seed: int, chunk: int, count: int) -> np.ndarray:
    """Return the masks (count, q) of a chunk for q players."""
    plain = Subsets(Elements(), tuple(range(q)))
    return host(plain.draws(seed, chunk, count, np.zeros(q)).noise)
