"""Exact Shapley values of few features: every subset of those that differ from the baseline was asked.

    ξ_k = Σ_S c_k(S) f(S),   c_k(S) = (s − 1)! (q − s)! / q!  if k ∈ S,   − s! (q − s − 1)! / q!  if not

f(S) is the answer with the features of S showing, s of the q. The empty and the full subset are f(x̊) and f(x).
"""

from dataclasses import dataclass
from math import comb, inf, prod

import numpy as np

from geex.arrays import Array, host, like, namespace
from geex.outputs import Score, scored
from geex.plan import Plan
from geex.score import Answered
from geex.subsets import Subsets


@dataclass(frozen=True, eq=False)
class Exact:
    """Values (k, p) that are no estimate."""

    values: Array
    freedom: float = inf
    note: str = "They are exact: every subset was asked."

    @property
    def stderr(self) -> Array:
        return 0 * self.values

    @property
    def sum_stderr(self) -> Array:
        return 0 * self.values[:, 0]

    def sum_over(self, rows: Array, output: int) -> Array:
        """The standard error of an output's sums over regions (r, p): (r,)."""
        return 0 * self.values[output, :1] * namespace(rows).astype(rows[:, 0], self.values.dtype)


def exactly(plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Exact:
    """The sum over all subsets; `ends` (2, k) are the raw answers for x and the baseline."""
    search: Subsets = plan.search  # type: ignore[assignment]
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
