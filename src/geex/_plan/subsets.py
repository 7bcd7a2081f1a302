"""Subsets of the features that differ from the baseline, without repetition; every prefix covers all sizes.

A draw is a subset S of the q players (features), and its complement, the mirror. Draws whose smaller side has s players
are a stratum of N_s = C(q, s), and Shapley values weigh it by κ_s:

    κ_s ∝ 1/(s(q − s)),    member j of stratum s has its turn at (j + ½)/√κ_s

So every prefix holds all strata in shares of √κ_s, except those that are complete. Members are drawn without
replacement; of strata with 2⁵³ members or more, with replacement.

Where the model has noise, one answer for each member of a small stratum is not enough: strata go on in the same shares
when they are complete, and their members are repeated in another order. These shares, Π of κ_s and the deviation of a
contrast over players, are those with the least variance for the same noise everywhere (Neyman).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb, prod

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._arrays.random_stream import Stream
from geex._plan.presence_masks import PresenceMasks
from geex._plan.search import Draws
from geex._protocols import Features, Search
from geex._stored_names import stored

# Members of a stratum from which on they are drawn with replacement: a repetition is practically impossible.
COUNTED = 2**53
# The fewest queries: two draws, from whose difference an error is estimated.
FEWEST_QUERIES = 4


@stored("subsets/1")
@dataclass(frozen=True)
class Subsets(Search):
    """Subsets of `players`, the numbers of the features that differ from the baseline."""

    features: Features
    players: tuple[int, ...]
    rows: int = 2
    block: int = 1

    @property
    def least(self) -> int:
        return min(FEWEST_QUERIES, 2 * self.all_draws)

    @property
    def all_draws(self) -> int:
        """The number of draws: pairs of a subset and its complement, except the empty and the full one."""
        return (1 << (len(self.players) - 1)) - 1

    def afford(self, rows: int) -> int:
        return min(rows // 2, self.all_draws)

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        q = len(self.players)
        return _draws(self.features, self.players, in_turn(q, chunk * count, count), seed, explicand)

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        return PresenceMasks(self.features, 0.5).queries(draws, explicand, baseline)

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        return 2 * draws.noise - 1

    def repeating(self, draws: int) -> "RepeatedSubsets":
        return RepeatedSubsets(self.features, self.players, draws)


@stored("repeated subsets/1")
@dataclass(frozen=True)
class RepeatedSubsets(Search):
    """What follows `after` draws of `Subsets`, where members may be repeated."""

    features: Features
    players: tuple[int, ...]
    after: int
    rows: int = 2
    block: int = 1
    least: int = 2

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        q = len(self.players)
        done = np.bincount(in_turn(q, 0, self.after)[0], minlength=len(strata(q)[0]) + 1)[1:]
        return _draws(self.features, self.players, in_turn(q, chunk * count, count, done=done), seed, explicand)

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        return PresenceMasks(self.features, 0.5).queries(draws, explicand, baseline)

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        return 2 * draws.noise - 1


def _draws(
    features: Features, players: tuple[int, ...], turns: tuple[np.ndarray, np.ndarray], seed: int, explicand: Array
) -> Draws:
    """Return the members of strata as draws."""
    q, (sizes, members) = len(players), turns
    shown = np.zeros((len(sizes), q), bool)
    for stratum in np.unique(sizes):
        passes = members // int(strata(q)[0][stratum - 1])
        for number in np.unique(passes[sizes == stratum]):
            place = (sizes == stratum) & (passes == number)
            stream = Stream(seed, (5, int(stratum), *([int(number)] if number else [])), explicand)
            own = members[place] - number * int(strata(q)[0][stratum - 1])
            shown[place] = members_shown(q, int(stratum), own, stream)
    masks = np.zeros((len(shown), prod(features.shape(tuple(explicand.shape)))))
    masks[:, list(players)] = shown
    return Draws(like(shown.mean(axis=1), explicand), like(masks, explicand))


def players_of(explicand: Array, baseline: Array, features: Features) -> tuple[int, ...]:
    """Return the numbers of the features that differ from the baseline."""
    differing = host(PresenceMasks(features, 0.5).differing(explicand, baseline))
    return tuple(int(number) for number in np.flatnonzero(differing))


@lru_cache(maxsize=64)
def strata(q: int) -> tuple[np.ndarray, np.ndarray]:
    """Return N_s, at most 2⁵³, and κ_s, which sum to 1, of the strata s = 1 … q/2."""
    sizes = np.arange(1, max(2, q // 2 + 1))
    halves = np.where(2 * sizes == q, 0.5, 1.0)
    members = np.array([min(comb(q, int(size)), 2**53) for size in sizes], float) * halves
    weights = halves / (sizes * np.maximum(q - sizes, 1))
    return members, weights / weights.sum()


def in_turn(
    q: int, first: int, count: int, copies: int = 1, done: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the strata of `count` draws from number `first` on, and their members; fewer at the end.

    copies: how often every subset is a member of its stratum, as with each row of a background.
    done: how many members of every stratum were drawn before the first of these draws. Then members are repeated, and
    number j ≥ N_s is member j mod N_s again. None: none was drawn, and none is repeated.
    """
    members, weights = strata(q)
    pace = np.sqrt(weights)
    most = members * copies if done is None else np.full(len(members), np.inf)
    before = np.zeros(len(members), np.int64) if done is None else done

    def begun(time: float) -> np.ndarray:
        """Return how many members of every stratum come before a time."""
        turns = np.minimum(most, np.floor(pace * time + 0.5)).astype(np.int64)
        return np.asarray(np.maximum(turns - before, 0))

    total = int(min(most.sum(), first + count))
    early, late = _time(begun, min(first, total), False), _time(begun, total, True)
    start, stop = begun(early), begun(late)
    found = [(s, j + before[s]) for s in np.flatnonzero(stop > start) for j in range(start[s], stop[s])]
    found.sort(key=lambda turn: ((turn[1] + 0.5) / pace[turn[0]], turn[0]))
    kept = np.array(found, np.int64).reshape(-1, 2)[int(first - start.sum()) : int(total - start.sum())]
    return kept[:, 0] + 1, kept[:, 1]


def _time(begun: Callable[[float], np.ndarray], draws: int, reached: bool) -> float:
    """Return, by bisection, the first time at which `draws` draws have had their turn, or the last time before it."""
    low, high = 0.0, 1.0
    while begun(high).sum() < draws:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if begun(middle).sum() >= draws else (middle, high)
    return high if reached else low


def members_shown(q: int, size: int, numbers: np.ndarray, stream: Stream) -> np.ndarray:
    """Return members of a stratum by their numbers, each with `size` of the q players (n, q)."""
    count = int(strata(q)[0][size - 1])
    if count >= COUNTED:
        drawn = [Stream(stream.seed, (*stream.place, int(number)), stream.model).generator() for number in numbers]
        chosen = np.argsort(np.stack([generator.random(q) for generator in drawn]), axis=1)[:, :size]
    elif 2 * size == q:  # of two halves the one with the first player
        chosen = np.zeros((len(numbers), size), np.int64)
        chosen[:, 1:] = 1 + unranked(q - 1, size - 1, shuffled(numbers, count, stream))
    else:
        chosen = unranked(q, size, shuffled(numbers, count, stream))
    shown = np.zeros((len(numbers), q), bool)
    np.put_along_axis(shown, chosen, True, axis=1)
    return shown


def shuffled(numbers: np.ndarray, count: int, stream: Stream) -> np.ndarray:
    """Return the places of numbers in a random permutation of 0 … count − 1, without making all of it.

    A Feistel network of four rounds permutes 0 … 4^b − 1; it is applied again while its result is not below `count`.
    """
    half = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
    keys = stream.generator().integers(1, 2**63, size=(4, 2), dtype=np.uint64) | np.uint64(1)
    places = np.asarray(numbers, np.uint64)
    beyond = np.ones(places.shape, bool)
    while beyond.any():
        places = np.where(beyond, _mixed(places, half, keys), places)
        beyond = places >= np.uint64(count)
    return places.astype(np.int64)


def _mixed(numbers: np.ndarray, half: int, keys: np.ndarray) -> np.ndarray:
    """Return the numbers of 2·half bits, permuted by a Feistel network."""
    mask, width = np.uint64(2**half - 1), np.uint64(half)
    left, right = numbers >> width, numbers & mask
    with np.errstate(over="ignore"):
        for first, second in keys:
            mixed = (right + first) * second
            # the multiplier of SplitMix64 spreads every bit over the upper half
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            left, right = right, left ^ ((mixed >> np.uint64(32)) & mask)
    return np.asarray((left << width) | right)


def unranked(q: int, size: int, ranks: np.ndarray) -> np.ndarray:
    """Return subsets (n, size) of q players by their ranks, in the combinatorial number system."""
    chosen = np.zeros((len(ranks), size), np.int64)
    rest = np.array(ranks, np.int64)
    for place in range(size, 0, -1):
        table = np.array([min(comb(player, place), 2**62) for player in range(q)], np.int64)
        chosen[:, place - 1] = np.searchsorted(table, rest, side="right") - 1
        rest -= table[chosen[:, place - 1]]
    return chosen
