"""Exact Shapley and Banzhaf values of small games, by all subsets."""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np


def subsets(others):
    for size in range(len(others) + 1):
        yield from combinations(others, size)


def exact(worth, players, weight):
    """Σ over subsets S of the others of weight(|S|) (v(S ∪ k) − v(S)), for every player k."""
    values, known = np.zeros(players), cache(lambda present: worth(set(present)))
    for player in range(players):
        others = [other for other in range(players) if other != player]
        for subset in subsets(others):
            values[player] += weight(len(subset)) * (known(frozenset((*subset, player))) - known(frozenset(subset)))
    return values


def shapley(worth, players):
    return exact(worth, players, lambda size: 1 / (players * comb(players - 1, size)))


def banzhaf(worth, players):
    return exact(worth, players, lambda size: 0.5 ** (players - 1))


def model_of(worth, players):
    """A model whose input says by 1 who is present."""
    table = {mask: worth({k for k in range(players) if mask >> k & 1}) for mask in range(2**players)}
    powers = 2 ** np.arange(players)

    def model(z):
        return np.array([table[int(code)] for code in (np.round(z) @ powers)])

    return model


def glove(present):
    """Left gloves 0 and 1, right gloves 2, 3, 4; player 5 does nothing. A pair is worth 1, and 0 with 2 adds 0.5."""
    pairs = min(len(present & {0, 1}), len(present & {2, 3, 4}))
    return pairs + 0.5 * ({0, 2} <= present) + 0.1 * len(present & {0, 3}) ** 2
