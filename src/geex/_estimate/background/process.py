"""A Gaussian process over pairs of a subset and a row of the background; `subset_process.py` is that of one row.

    f(S, b) = Σ_T c_T(b) Π_{k∈T} e_k,   Cov(c_T(b), c_T(b')) = s² Π_{k∈T} θ_k g_k(b, b')

with g of `similarity.py`. A draw's difference holds the odd T alone:

    Cov(d, d') = 4 s² · ½ [Π_k (1 + θ_k g_k e_k e'_k) − Π_k (1 − θ_k g_k e_k e'_k)],   g_k = g_k(b, b')

The value of a feature is the mean over the rows of its Shapley value in each row's game. What one row shows about a
feature so counts for all rows, as far as they are alike in it. f(x) − f(b) of every row is one more draw, of the full
and the empty subset: so values add up to the mean of f(x) − f(b).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import cho_factor, cho_solve, lapack

from geex._arrays.blas import one_thread
from geex._estimate.background.similarity import Similarities
from geex._estimate.linear.marginal_likelihood import evidence
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.shapley.factor import LEAST_NOISE, NOISE_FACTOR
from geex._estimate.shapley.subset_process import (
    LARGEST_THETA,
    NONE,
    SHAPES,
    TOTALS,
    Hyperparameters,
    prior_covariance,
)

# Draws, and rows' wholes, on which hyperparameters are selected.
SELECTED_DRAWS, SELECTED_WHOLES = 200, 50
# Shares of the line in g that are tried.
LINES = (0.2, 0.6, 1.0)
# Rounds in which θ follows the values, and factors of its total that each of them tries.
SELECTION_ROUNDS, FACTORS = 2, (0.3, 0.6, 1.0, 1.7, 3.0)
# Rows over which the rough values are averaged that θ follows.
ROUGH_ROWS = 12
# Pairs of rows over which the prior covariance of two rows' values is averaged.
PAIRS = 48
# Nodes of the integral over t: more change no digit that matters.
PATH_NODES, PATH_SHARES = (0.5 * part for part in (leggauss(6)[0] + 1, leggauss(6)[1]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Contrasts e (n, q) of n subsets, and the row of the background (n,) of each."""

    contrasts: np.ndarray
    rows: np.ndarray

    def some(self, which: np.ndarray) -> "Pairs":
        """Return the pairs of these numbers."""
        return Pairs(self.contrasts[which], self.rows[which])

    def with_wholes(self, rows: np.ndarray) -> "Pairs":
        """Return the pairs, and the full subset with each of `rows`."""
        full = np.ones((len(rows), self.contrasts.shape[1]))
        return Pairs(np.vstack([self.contrasts, full]), np.concatenate([self.rows, rows]))


@dataclass(frozen=True, eq=False)
class RowProcess:
    """The posterior given pairs and their differences (n,), and f(x) − f(b) of the rows of the background (wholes).

    likeness: g (q, rows, rows), mixed as the hyperparameters say. active: the rows that differ from x.
    """

    pairs: Pairs
    differences: np.ndarray
    wholes: np.ndarray
    likeness: np.ndarray
    active: np.ndarray
    hyperparameters: Hyperparameters

    @cached_property
    def values(self) -> np.ndarray:
        """ξ̂ (q,), the mean over the active rows; rounding of the sum is shared out."""
        values = self._covariance_with_values @ self._solution
        return np.asarray(values + (self.wholes[self.active].mean() - values.sum()) / len(values))

    @property
    def slopes(self) -> np.ndarray:
        """∂ξ̂/∂d (n, q)."""
        return self._slopes[:, : len(self.differences)].T

    @cached_property
    def residuals(self) -> np.ndarray:
        """Leave-one-out residuals (n,): d minus its prediction from all other draws."""
        inverse, _ = lapack.dpotri(self._factor[0], lower=1)
        return np.asarray(self._solution / np.diagonal(inverse))[: len(self.differences)]

    @property
    def covariance(self) -> np.ndarray:
        """The posterior covariance of ξ (q, q)."""
        scale = float(self._answers @ self._solution) / len(self._answers)
        prior = mean_prior_covariance(self.hyperparameters.theta, self.likeness, self.active)
        found = prior - self._slopes @ self._covariance_with_values.T
        with_sum = found.sum(axis=1)  # the sum of values is given; of a prior from some pairs of rows only nearly so
        if with_sum.sum() > 0:
            found = found - np.outer(with_sum, with_sum) / with_sum.sum()
        return np.asarray(scale * found)

    def predicted(self, pairs: Pairs) -> np.ndarray:
        """Predict the differences (m,) of other pairs."""
        return np.asarray(kernel(pairs, self._all, self.hyperparameters.theta, self.likeness) @ self._solution)

    @cached_property
    def _all(self) -> Pairs:
        return self.pairs.with_wholes(self.active)

    @property
    def _answers(self) -> np.ndarray:
        return np.concatenate([self.differences, self.wholes[self.active]])

    @cached_property
    def _covariance_with_values(self) -> np.ndarray:
        return value_covariance(self._all, self.hyperparameters.theta, self.likeness, self.active)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        """L Lᵀ = K + λ, with (almost) no noise for the wholes; more where rounding makes that not positive."""
        system = kernel(self._all, self._all, self.hyperparameters.theta, self.likeness)
        least = LEAST_NOISE * float(np.mean(np.diagonal(system)))
        noise = np.full(len(system), max(self.hyperparameters.noise, least))
        noise[len(self.differences) :] = least
        while True:
            try:
                lower, _ = cho_factor(system + np.diag(noise), lower=True)
                return lower, True
            except np.linalg.LinAlgError:
                noise = noise * NOISE_FACTOR

    @cached_property
    def _solution(self) -> np.ndarray:
        return np.asarray(cho_solve(self._factor, self._answers))

    @cached_property
    def _slopes(self) -> np.ndarray:
        return np.asarray(cho_solve(self._factor, self._covariance_with_values.T)).T


def kernel(pairs: Pairs, others: Pairs, theta: np.ndarray, likeness: np.ndarray) -> np.ndarray:
    """K (n, m) of two sets of pairs, without 4 s²."""
    plus, minus = np.ones((2, len(pairs.rows), len(others.rows)))
    for player, own in enumerate(theta):
        factor = likeness[player][pairs.rows].take(others.rows, axis=1)
        factor *= (own * pairs.contrasts[:, player])[:, None]
        factor *= others.contrasts[:, player]
        plus += plus * factor
        minus -= minus * factor
    return np.asarray(0.5 * (plus - minus))


def value_covariance(pairs: Pairs, theta: np.ndarray, likeness: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Cov(ξ_k, d) / 4s² (q, n) of the values averaged over `rows`."""
    total = np.zeros(pairs.contrasts.shape)
    for row in rows:
        own = theta * likeness[:, row, :].T[pairs.rows] * pairs.contrasts
        for node, share in zip(PATH_NODES, PATH_SHARES, strict=True):
            for sign in (node, -node):
                factors = 1 + sign * own
                total += 0.5 * share * own * np.prod(factors, axis=1, keepdims=True) / factors
    return np.asarray(total.T / len(rows))


def mean_prior_covariance(theta: np.ndarray, likeness: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The prior Cov(ξ_j, ξ_k) / 4s² (q, q) of values averaged over `rows`, by some pairs of rows."""
    both = np.stack(np.meshgrid(rows, rows), axis=-1).reshape(-1, 2)
    if len(both) > PAIRS:
        both = both[np.random.default_rng(0).choice(len(both), PAIRS, replace=False)]
    return np.asarray(np.mean([prior_covariance(theta * likeness[:, one, other]) for one, other in both], axis=0))


@dataclass(frozen=True, eq=False)
class Selected(Hyperparameters):
    """Hyperparameters, with the share of the line in g."""

    line: float = 0.5


@one_thread()
def select_hyperparameters(
    pairs: Pairs, differences: np.ndarray, wholes: np.ndarray, similar: Similarities, active: np.ndarray
) -> Selected:
    """Select g, θ and the noise by the evidence of some draws and of the wholes (rows,): θ alike, then like values."""
    which, ends = evenly(differences[:, None], SELECTED_DRAWS), active[evenly(active[:, None], SELECTED_WHOLES)]
    some, answers = pairs.some(which).with_wholes(ends), np.concatenate([differences[which], wholes[ends]])
    alike = np.ones(some.contrasts.shape[1])
    candidates = [_most_likely(some, answers, similar.mixed(line), alike, TOTALS[1::2], line) for line in LINES]
    best = max(candidates, key=lambda one: one.evidence)
    likeness, rough = similar.mixed(best.line), active[evenly(active[:, None], ROUGH_ROWS)]
    for _ in range(SELECTION_ROUNDS):
        values = _values(some, answers, likeness, rough, best)
        size = float(np.sqrt(np.mean(values**2)))
        if not 0 < size < np.inf:
            break
        totals = [factor * best.theta.sum() for factor in FACTORS]
        shapes = [(values / size) ** power + floor for power, floor in SHAPES]
        candidates = [_most_likely(some, answers, likeness, shape, totals, best.line) for shape in shapes]
        found = max(candidates, key=lambda one: one.evidence)
        if found.evidence <= best.evidence:
            break
        best = found
    return best


def _most_likely(
    pairs: Pairs,
    answers: np.ndarray,
    likeness: np.ndarray,
    shape: np.ndarray,
    totals: Iterable[float],
    line: float,
) -> Selected:
    """Return the total of θ, divided like `shape`, and the noise with most evidence."""
    largest = LARGEST_THETA / np.max(np.abs(likeness), axis=(1, 2))
    found = []
    for total in totals:
        theta = np.minimum(total * shape / shape.sum(), largest)
        likelihood, noises = evidence(kernel(pairs, pairs, theta, likeness), answers[:, None])
        place = int(likelihood[:, 0].argmax())
        noise = float(noises[place]) * (NONE if place == len(noises) - 1 else 1)  # the least there is, or less
        found.append(Selected(theta, noise, float(likelihood[place, 0]), line=line))
    return max(found, key=lambda one: one.evidence)


def _values(
    pairs: Pairs, answers: np.ndarray, likeness: np.ndarray, rows: np.ndarray, hyperparameters: Hyperparameters
) -> np.ndarray:
    """Return rough |ξ̂| (q,)."""
    theta = hyperparameters.theta
    system = kernel(pairs, pairs, theta, likeness)
    system[np.diag_indices_from(system)] += hyperparameters.noise
    values = value_covariance(pairs, theta, likeness, rows) @ np.linalg.solve(system, answers)
    return np.asarray(np.abs(values))
