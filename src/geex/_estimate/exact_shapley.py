"""Exact Shapley values of few features: every subset of those that differ from the baseline was asked.

    ξ_k = Σ_S c_k(S) f(S),   c_k(S) = (s − 1)! (q − s)! / q!  if k ∈ S,   − s! (q − s − 1)! / q!  if not

f(S) is the answer with the features of S showing, s of the q. The empty and the full subset are f(x̊) and f(x).
"""

from dataclasses import dataclass, replace
from math import comb, inf, prod

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._estimate.answers import Answers
from geex._plan.subsets import Subsets
from geex._problem.estimand import Note
from geex._protocols import Estimate

ROUGH = 1.0  # degrees of freedom of a noise that is known from two answers


@dataclass(frozen=True, eq=False)
class ExactEstimate(Estimate):
    """Values (k, p) that are no estimate, but for the model's own noise.

    gain (p,): the deviation of a value where that of an answer is 1. noise (k,): that of the answers, 0 where the model
    answers the same. steady: whether it was seen to.
    """

    values: Array
    gain: Array
    noise: Array
    steady: bool = False

    @property
    def freedom(self) -> float:
        return ROUGH if self._noisy else inf

    @property
    def notes(self) -> tuple[Note, ...]:
        if self._noisy:
            return (Note.MODEL_NOISE_ONLY,)
        return (Note.EXACT if self.steady else Note.EXACT_IF_STEADY,)

    @property
    def stderr(self) -> Array:
        return self.noise[:, None] * self.gain

    @property
    def sum_stderr(self) -> Array:
        return 0 * self.values[:, 0]

    def with_model_noise(self, noise: Array) -> "ExactEstimate":
        """The same for a model with noise (k,)."""
        return replace(self, noise=namespace(self.noise).astype(noise, self.noise.dtype), steady=True)

    def over(self, rows: Array) -> "ExactEstimate":
        """Of sums over regions, rows (r, p) of 0 and 1, instead of features; with the most that their error can be."""
        rows = namespace(rows).astype(rows, self.values.dtype)
        return replace(self, values=self.values @ rows.T, gain=self.gain @ rows.T)

    def sum_over(self, rows: Array) -> Array:
        """The standard error of every output's sum over its own region (k,), rows (k, p) of 0 and 1."""
        return namespace(rows).linalg.diagonal(self.over(rows).stderr)

    @property
    def _noisy(self) -> bool:
        return bool(namespace(self.noise).any(self.noise > 0))


def estimate_exactly(answers: Answers) -> ExactEstimate:
    """Return the sum over all subsets."""
    plan, ends = answers.plan, answers.ends
    search: Subsets = plan.search  # type: ignore[assignment]
    players, q = list(search.players), len(search.players)
    outputs = host(answers.ends_scored)
    total, squares = np.repeat((outputs[0] - outputs[1])[:, None] / q, q, axis=1), np.full(q, 2 / q**2)
    for chunk, raw in answers.chunks:
        shown = host(chunk.draws.noise)[:, players]
        f = (host(answers.outputs(raw)) - outputs[1]).reshape(chunk.count, 2, -1)
        for side, mask in enumerate((shown, 1 - shown)):
            shares = _shares(mask)
            total += f[:, side, :].T @ shares
            squares += np.sum(shares**2, axis=0)
    count = prod(plan.features.shape(tuple(plan.explicand.shape)))
    values, gain = np.zeros((len(total), count)), np.zeros(count)
    values[:, players], gain[players] = total, np.sqrt(squares)
    return ExactEstimate(like(values, ends), like(gain, ends), like(np.zeros(len(total)), ends))


def _shares(masks: np.ndarray) -> np.ndarray:
    """c_k(S) for each of masks (n, q)."""
    q = masks.shape[1]
    sizes = masks.sum(axis=1).astype(int)
    inside = np.array([1 / (s * comb(q, s)) for s in sizes])
    outside = np.array([1 / ((q - s) * comb(q, s)) for s in sizes])
    return np.where(masks > 0, inside[:, None], -outside[:, None])
