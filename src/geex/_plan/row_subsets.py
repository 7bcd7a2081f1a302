"""Subsets of the features, each with a row of the background: absent features have the values of that row.

A draw is a pair (subset S, row b), and its mirror the complement of S with the same row. A stratum holds the pairs
whose subsets have s members on their smaller side: N_s · R of them for R rows. Pairs are drawn without replacement, in
the order of `subsets.py`. Within a stratum the rows take turns, and so do the subsets, in a random order each:

    turn t of a stratum:   subset σ(t mod N_s),   row π((t + t div L) mod R),   L the least common multiple of N_s and R

So no pair is repeated, and no subset before all others of its size had their turn.
"""

from dataclasses import dataclass
from math import lcm, prod

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._arrays.random_stream import Stream
from geex._plan.presence_masks import PresenceMasks
from geex._plan.search import Draws
from geex._plan.subsets import FEWEST_QUERIES, in_turn, members_shown, strata
from geex._protocols import Features, Search
from geex._stored_names import stored

# The place of the order of rows in the seed's streams.
ORDER = 6


@stored("row subsets/1")
@dataclass(frozen=True)
class RowSubsets(Search):
    """Subsets of `players` with a row of the background.

    players: the features that differ from some row. background: the rows that differ from x; the others are games of
        value 0, and are never queried.
    """

    features: Features
    players: tuple[int, ...]
    background: tuple[int, ...]
    rows: int = 2
    block: int = 1

    @property
    def least(self) -> int:
        return min(FEWEST_QUERIES, 2 * self.all_draws)

    @property
    def all_draws(self) -> int:
        """The number of draws: pairs of a subset and its complement, with every row."""
        return ((1 << (len(self.players) - 1)) - 1) * len(self.background)

    @property
    def _members(self) -> np.ndarray:
        """N_s of every stratum."""
        return strata(len(self.players))[0]

    def afford(self, rows: int) -> int:
        return min(rows // 2, self.all_draws)

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        q, background = len(self.players), np.array(self.background)
        strata, turns = in_turn(q, chunk * count, count, len(background))
        shown, rows = np.zeros((len(strata), q), bool), np.zeros(len(strata), np.int64)
        for stratum in np.unique(strata):
            place = strata == stratum
            members, own = int(self._members[stratum - 1]), turns[place]
            shown[place] = members_shown(q, int(stratum), own % members, Stream(seed, (5, int(stratum)), explicand))
            order = Stream(seed, (ORDER, int(stratum)), explicand).generator().permutation(len(background))
            again = own // min(lcm(members, len(background)), 2**62)  # how often every residue had its turn
            rows[place] = background[order[(own + again) % len(background)]]
        masks = np.zeros((len(shown), prod(self.features.shape(tuple(explicand.shape)))))
        masks[:, list(self.players)] = shown
        return Draws(like(shown.mean(axis=1), explicand), like(masks, explicand), rows)

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        xp = namespace(explicand)
        absent = xp.take(baseline, like(draws.rows, explicand, xp.int64), axis=0)
        shown = PresenceMasks(self.features, 0.5).on_elements(draws.noise, explicand) > 0
        present = xp.broadcast_to(explicand[None, ...], tuple(absent.shape))
        return xp.stack([xp.where(shown, present, absent), xp.where(shown, absent, present)], axis=1)

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        return 2 * draws.noise - 1


def row_subsets(explicand: Array, background: Array, features: Features) -> RowSubsets:
    """Return the search for the rows of a background (rows, *shape)."""
    masks = PresenceMasks(features, 0.5)
    differs = np.stack([host(masks.differing(explicand, row)) for row in background]) > 0
    players = tuple(int(number) for number in np.flatnonzero(differs.any(axis=0)))
    return RowSubsets(features, players, tuple(int(row) for row in np.flatnonzero(differs.any(axis=1))))
