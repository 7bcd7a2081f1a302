"""Exact Shapley values of few features: every subset of those that differ from the baseline is asked once.

    ξ_k = Σ_S c_k(S) f(S),   c_k(S) = (s − 1)! (q − s)! / q!  if k ∈ S,   − s! (q − s − 1)! / q!  if not

f(S) is the answer with the features of S showing, s of the q. The empty and the full subset are f(x̊) and f(x).
"""

from dataclasses import dataclass
from math import comb, inf, prod

import numpy as np

from geex.arrays import Array, host, like, namespace
from geex.features import Features
from geex.outputs import Score, scored
from geex.plan import Plan
from geex.presence import PresenceMasks
from geex.score import Answered
from geex.search import Draws, Search

MOST = 16


@dataclass(frozen=True)
class AllMasks(Search):
    """Every subset of `players`, the numbers of the features that differ: draw i is a subset and the rest of them."""

    features: Features
    players: tuple[int, ...]
    rows: int = 2
    block: int = 1

    @property
    def least(self) -> int:
        return 2 * self.count

    @property
    def count(self) -> int:
        """Draws: pairs of subsets that make up all players, but for the empty and the full one."""
        return (1 << (len(self.players) - 1)) - 1

    def afford(self, rows: int) -> int:
        return self.count

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        numbers = 1 + chunk * count + np.arange(count)
        bits = numbers[:, None] >> np.arange(len(self.players)) & 1
        masks = np.zeros((count, prod(self.features.shape(tuple(explicand.shape)))))
        masks[:, list(self.players)] = bits
        return Draws(like(bits.mean(axis=1), explicand), like(masks, explicand))

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        return PresenceMasks(self.features, 0.5).queries(draws, explicand, baseline)

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        return 2 * draws.noise - 1


@dataclass(frozen=True, eq=False)
class Exact:
    """Values (k, p) that are no estimate."""

    values: Array
    freedom: float = inf

    @property
    def stderr(self) -> Array:
        return 0 * self.values

    @property
    def sum_stderr(self) -> Array:
        return 0 * self.values[:, 0]

    def sum_over(self, rows: Array, output: int) -> Array:
        """The standard error of an output's sums over regions (r, p): (r,)."""
        return 0 * self.values[output, :1] * namespace(rows).astype(rows[:, 0], self.values.dtype)


def all_masks(explicand: Array, baseline: Array, features: Features, rows: int) -> AllMasks | None:
    """The search that asks everything, where `rows` queries pay for it."""
    differing = host(PresenceMasks(features, 0.5).differing(explicand, baseline))
    players = tuple(int(number) for number in np.flatnonzero(differing))
    search = AllMasks(features, players)
    return search if 1 <= len(players) <= MOST and search.least <= rows else None


def exactly(plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Exact:
    """The sum over all subsets; `ends` (2, k) are the raw answers for x and the baseline."""
    search: AllMasks = plan.search  # type: ignore[assignment]
    players, q = list(search.players), len(search.players)
    outputs = host(scored(ends, score))[:, targets]
    total = np.repeat((outputs[0] - outputs[1])[:, None] / q, q, axis=1)
    for chunk, answers in answered:
        shown = host(chunk.draws.noise)[:, players]
        f = host(scored(answers, score))[:, targets].reshape(chunk.count, 2, len(targets))
        for side, mask in enumerate((shown, 1 - shown)):
            total += f[:, side, :].T @ _shares(mask)
    values = np.zeros((len(targets), prod(plan.features.shape(tuple(plan.explicand.shape)))))
    values[:, players] = total
    return Exact(like(values, ends))


def _shares(masks: np.ndarray) -> np.ndarray:
    """c_k(S) for each of masks (n, q)."""
    q = masks.shape[1]
    sizes = masks.sum(axis=1).astype(int)
    inside = np.array([1 / (s * comb(q, s)) for s in sizes])
    outside = np.array([1 / ((q - s) * comb(q, s)) for s in sizes])
    return np.where(masks > 0, inside[:, None], -outside[:, None])
