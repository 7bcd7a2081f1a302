"""Exact Shapley values of few features: every subset of those that differ from the baseline was asked.

    ξ_k = Σ_S c_k(S) f(S),   c_k(S) = (s − 1)! (q − s)! / q!  if k ∈ S,   − s! (q − s − 1)! / q!  if not

f(S) is the answer with the features of S showing, s of the q. The empty and the full subset are f(x̊) and f(x). Where
the model has noise of deviation σ, errors are those of the sum:

    Var[ξ_k] = σ² Σ_S c_k(S)² + Var[f(x) − f(x̊)] / q²,    S neither empty nor full

From FEWEST_FITTED draws on, the process over subsets estimates σ² for every subset by what it leaves of its answer.
"""

from dataclasses import dataclass, replace
from math import comb, inf, prod

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._estimate.answers import Answers
from geex._estimate.shapley.subset_process_errors import estimate_shapley
from geex._plan.subsets import Subsets
from geex._problem.estimand import Note
from geex._protocols import Estimate, ModelNoise

# The fewest draws to which the process over subsets is fitted, for the noise of single subsets.
FEWEST_FITTED = 16


@dataclass(frozen=True, eq=False)
class ExactEstimate(Estimate):
    """Values (k, p) that are no estimate, but for the model's own noise.

    coefficients (n, p): c_k of every subset that is neither empty nor full, where there are few. share (p,): what a
    value has of f(x) − f(x̊). answers: what the values were made of. noise: that of the model; None: not known.
    """

    values: Array
    coefficients: Array
    share: Array
    answers: Answers
    noise: ModelNoise | None = None

    @property
    def freedom(self) -> float:
        return self.noise.freedom if self.noise is not None and self._noisy else inf

    @property
    def notes(self) -> tuple[Note, ...]:
        if self._noisy:
            return (Note.MODEL_NOISE_ONLY,)
        return (Note.EXACT_IF_STEADY if self.noise is None else Note.EXACT,)

    @property
    def stderr(self) -> Array:
        if self.noise is None:
            return 0 * self.values
        xp = namespace(self.values)
        draws, ends = (xp.astype(one, self.values.dtype) for one in (self.noise.draws, self.noise.ends))
        squares = xp.sum(self.coefficients**2, axis=0)
        return xp.sqrt(draws[:, None] ** 2 * squares + (ends[:, None] * self.share) ** 2)

    @property
    def noise_stderr(self) -> Array:
        """All of the standard errors is the model's noise."""
        return self.stderr

    @property
    def sum_stderr(self) -> Array:
        return 0 * self.values[:, 0] if self.noise is None else self.noise.ends + 0 * self.values[:, 0]

    def with_model_noise(self, noise: ModelNoise) -> Estimate:
        """The same for a model with noise (k,)."""
        found = replace(self, noise=noise)
        if not found._noisy or (self.answers.plan.search.all_draws or 0) < FEWEST_FITTED:
            return found
        fitted = estimate_shapley(self.answers).with_model_noise(noise)
        return replace(fitted, notes=(Note.MODEL_NOISE_ONLY,))

    def over(self, rows: Array) -> "ExactEstimate":
        """Of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        rows = namespace(rows).astype(rows, self.values.dtype)
        parts = (self.values @ rows.T, self.coefficients @ rows.T, self.share @ rows.T)
        return ExactEstimate(*parts, self.answers, self.noise)

    def sum_over(self, rows: Array) -> Array:
        """The standard error of every output's sum over its own region (k,), rows (k, p) of 0 and 1."""
        return namespace(rows).linalg.diagonal(self.over(rows).stderr)

    @property
    def _noisy(self) -> bool:
        noise = self.noise
        return noise is not None and any(bool(np.any(host(one) > 0)) for one in (noise.draws, noise.ends))


def estimate_exactly(answers: Answers) -> ExactEstimate:
    """Return the sum over all subsets."""
    plan, ends = answers.plan, answers.ends
    search: Subsets = plan.search  # type: ignore[assignment]
    players, q = list(search.players), len(search.players)
    outputs = host(answers.ends_scored)
    total, coefficients = np.repeat((outputs[0] - outputs[1])[:, None] / q, q, axis=1), [np.zeros((0, q))]
    for chunk, raw in answers.chunks:
        shown = host(chunk.draws.noise)[:, players]
        f = (host(answers.outputs(raw)) - outputs[1]).reshape(chunk.count, 2, -1)
        for side, mask in enumerate((shown, 1 - shown)):
            shares = _shares(mask)
            total += f[:, side, :].T @ shares
            coefficients += [shares] if search.all_draws < FEWEST_FITTED else []
    count = prod(plan.features.shape(tuple(plan.explicand.shape)))
    rows = np.concatenate([total, *coefficients, np.full((1, q), 1 / q)])
    found = np.zeros((len(rows), count))
    found[:, players] = rows
    parts = found[: len(total)], found[len(total) : -1], found[-1]
    values, shares, share = (like(part, ends) for part in parts)
    return ExactEstimate(values, shares, share, answers)


def _shares(masks: np.ndarray) -> np.ndarray:
    """c_k(S) for each of masks (n, q)."""
    q = masks.shape[1]
    sizes = masks.sum(axis=1).astype(int)
    inside = np.array([1 / (s * comb(q, s)) for s in sizes])
    outside = np.array([1 / ((q - s) * comb(q, s)) for s in sizes])
    return np.where(masks > 0, inside[:, None], -outside[:, None])
