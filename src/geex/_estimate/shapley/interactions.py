"""Shapley interaction values of pairs, from the same answers: k-SII of order 2.

    I_jk = Σ_S |S|! (q − |S| − 2)! / (q − 1)!  [f(S ∪ jk) − f(S ∪ j) − f(S ∪ k) + f(S)]    over S without j, k

They are the posterior mean of the process over the sums a = f(S) + f(Sᶜ) of mirrored answers (`even_process.py`). θ is
chosen by the evidence for the sums: first alike for all players, then larger for those that interact more.
f(x) + f(x̊) is one more row without noise. Errors are those of values: with b_i(j, k) = N_s/n_s times the weight of a
draw's sum in I_jk, and r_i what the draw is off by when it is left out,

    Î_jk + Σ_i (b_i − ∂Î_jk/∂a_i) r_i

is unbiased, and the spread of its terms is its error.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from geex._arrays.arrays import host
from geex._arrays.blas import one_thread
from geex._estimate.answers import Answers
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.shapley.even_process import PairProcess, even_kernel
from geex._estimate.shapley.mirrored_answers import mirrored_answers
from geex._estimate.shapley.pairs import Interactions
from geex._estimate.shapley.subset_process import (
    FINE_NODES,
    FINE_SHARES,
    LARGEST_THETA,
    NATS_OF_A_ROUND,
    SHAPES,
    TOTALS,
    most_likely_noise,
    nearby,
)
from geex._plan.subsets import RepeatedSubsets, Subsets, strata

# Draws that are fitted; the others correct the fit.
FITTED_SUMS = 512
# Rounds in which θ follows the interactions of each player.
ROUNDS_OF_SUMS = 3


def prior_variance(theta: np.ndarray) -> np.ndarray:
    """Return the prior Var(I_jk) / 4s² (q, q): 4 Σ_{T∋j,k even} Π θ / (|T| − 1)², by ∫ tⁿ⁻¹ (−log t) dt = 1/n²."""
    found = np.zeros((len(theta),) * 2)
    for node, share in zip(FINE_NODES, FINE_SHARES, strict=True):
        for sign in (1, -1):
            own = 1 + sign * node * theta
            found += 2 * share * np.prod(own) / np.outer(own, own)
    found *= np.outer(theta, theta)
    np.fill_diagonal(found, 0)
    return found


@one_thread()
def estimate_pairs(contrasts: np.ndarray, sums: np.ndarray, ends: float, steady: bool = True) -> Interactions:
    """Return the interactions given contrasts (n, q), sums f(S) + f(Sᶜ) (n,), and f(x) + f(x̊).

    steady: whether the model answers the same twice. If not, what the fit leaves of queried subsets may be its noise.
    """
    middle = float(np.mean(sums))
    size = max(float(np.abs(sums - middle).max()), abs(ends - middle))
    if size == 0 or contrasts.shape[1] < 2:
        nothing = np.zeros((contrasts.shape[1],) * 2)
        return Interactions(nothing, nothing, nothing, 1.0)
    found = _estimate(contrasts, (sums - middle) / size, (ends - middle) / size, steady)
    return Interactions(size * found.values, size * found.centre, size * found.stderr, found.freedom)


def _estimate(contrasts: np.ndarray, sums: np.ndarray, ends: float, steady: bool) -> Interactions:
    q = contrasts.shape[1]
    fitted = evenly(sums, FITTED_SUMS)
    rows = np.vstack([contrasts[fitted], np.ones(q)])
    answers = np.append(sums[fitted], ends)
    process = PairProcess(rows, answers, *select_even(rows, answers))
    left = sums - process.predicted(contrasts)
    residuals = left.copy()
    residuals[fitted] = process.residuals[:-1]
    steps, unasked = _steps(contrasts), _unasked(contrasts)
    prior, scale = prior_variance(process.theta), process.scale
    values, shift, variance = process.values.copy(), np.zeros((q, q)), np.zeros((q, q))
    for player in range(q):
        covariance = process.covariance(player)
        slopes, sloped = np.zeros(contrasts.shape), process.slopes(covariance)
        slopes[fitted] = sloped[:-1]
        weights = steps.of(player)
        known = ((1 - unasked) * left)[:, None] * weights
        values[player] += known.sum(axis=0)
        terms = residuals[:, None] * (weights - slopes)
        shift[player] = unasked @ terms
        variance[player] = unasked @ terms**2 * len(terms) / max(1, len(terms) - 1)
        if len(fitted) == len(sums) and unasked.any():
            own = scale * (prior[player] - np.sum(sloped * covariance, axis=0))
            variance[player] = np.maximum(variance[player], own)
        if not steady:
            variance[player] = np.maximum(variance[player], np.sum(known**2, axis=0))
    if len(fitted) < len(sums):
        values, shift = values + shift, 0 * shift
    off = unasked * residuals**2
    freedom = max(1.0, off.sum() ** 2 / np.sum(off**2) - 1) if off.any() else np.inf
    values, shift, stderr = (_symmetric(part) for part in (values, shift, np.sqrt(np.maximum(variance, 0))))
    return Interactions(values, values + shift, stderr, float(freedom))


def _symmetric(found: np.ndarray) -> np.ndarray:
    """Return the mean of a matrix and its transpose, with 0 on the diagonal."""
    found = (found + found.T) / 2
    np.fill_diagonal(found, 0)
    return found


@dataclass(frozen=True, eq=False)
class _Steps:
    """b_i(j, k) by how many of the pair are on the smaller side: two, one or none (n,) each."""

    inside: np.ndarray
    both: np.ndarray
    one: np.ndarray
    none: np.ndarray

    def of(self, player: int) -> np.ndarray:
        """Return b_i (n, q) of a player with every other."""
        mixed = np.where(self.inside, self.one[:, None], self.none[:, None])
        alike = np.where(self.inside, self.both[:, None], self.one[:, None])
        return np.where(self.inside[:, [player]], alike, mixed)


def _sizes(contrasts: np.ndarray) -> np.ndarray:
    """Return the sizes (n,) of the smaller sides of draws."""
    shown = np.sum(contrasts > 0, axis=1)
    return np.asarray(np.minimum(shown, contrasts.shape[1] - shown))


def _steps(contrasts: np.ndarray) -> _Steps:
    """Return N_s/n_s times the weights of draws in interactions; a stratum of halves has half as many members."""
    q, sizes = contrasts.shape[1], _sizes(contrasts)
    shown = np.sum(contrasts > 0, axis=1)
    inside = (contrasts > 0) == (2 * shown <= q)[:, None]
    share = np.where(2 * sizes == q, 0.5, 1.0) * q / np.bincount(sizes)[sizes]
    others = q - sizes
    both = share / np.maximum(sizes * (sizes - 1), 1)
    none = share / np.maximum(others * (others - 1), 1)
    return _Steps(inside, both, -share / (sizes * others), none)


def _unasked(contrasts: np.ndarray) -> np.ndarray:
    """Return 1 − n_s/N_s of every draw (n,)."""
    sizes = _sizes(contrasts)
    return np.asarray(np.maximum(0.0, 1 - np.bincount(sizes)[sizes] / strata(contrasts.shape[1])[0][sizes - 1]))


def estimate_interactions(answers: Answers, noise: np.ndarray | None) -> list[Interactions]:
    """Return the interactions of pairs of features for every output; 0 for features like the baseline's.

    noise (k,): the deviation of the model's answers; None if x was queried once. With all subsets there is nothing else
    to be off by, and without noise the interactions are exact.
    """
    search: Subsets | RepeatedSubsets = answers.plan.search  # type: ignore[assignment]
    contrasts, both = mirrored_answers(answers)
    ends, sums = host(answers.ends_scored).astype(np.float64).sum(axis=0), both.sum(axis=1)
    features = prod(answers.plan.features.shape(tuple(answers.plan.explicand.shape)))
    every = isinstance(search, Subsets) and len(contrasts) == search.all_draws
    steady = np.full(len(ends), every) if noise is None else noise == 0
    found = [
        estimate_pairs(contrasts, own, float(end), bool(same))
        for own, end, same in zip(sums.T, ends, steady, strict=True)
    ]
    return [_over_features(pairs, search.players, features) for pairs in found]


def _over_features(pairs: Interactions, players: tuple[int, ...], features: int) -> Interactions:
    """Return the interactions of players as those of all features."""

    def spread(found: np.ndarray) -> np.ndarray:
        everywhere = np.zeros((features, features))
        everywhere[np.ix_(players, players)] = found
        return everywhere

    return Interactions(spread(pairs.values), spread(pairs.centre), spread(pairs.stderr), pairs.freedom)


def mean_pairs(parts: list[Interactions]) -> Interactions:
    """Return the mean over baselines, whose errors are independent."""
    count = len(parts)
    values = sum((part.values for part in parts), np.zeros(())) / count
    centre = sum((part.centre for part in parts), np.zeros(())) / count
    stderr = np.sqrt(sum((part.stderr**2 for part in parts), np.zeros(()))) / count
    known = [part.freedom for part in parts if np.isfinite(part.freedom)]
    return Interactions(values, centre, stderr, float(sum(known)) if known else np.inf)


def select_even(rows: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, float]:
    """Select θ and the noise for sums (n,), by evidence: alike for all players, then by their interactions."""
    best = _most_likely(rows, sums, np.ones(rows.shape[1]), TOTALS)
    for _ in range(ROUNDS_OF_SUMS):
        strength = PairProcess(rows, sums, *best[1:]).strength
        size = float(np.sqrt(np.mean(strength**2)))
        if not 0 < size < np.inf:
            break
        totals = TOTALS[nearby(best[1].sum())]
        tried = [_most_likely(rows, sums, (strength / size) ** power + floor, totals) for power, floor in SHAPES]
        found = max(tried, key=lambda one: one[0])
        if found[0] <= best[0] + NATS_OF_A_ROUND:
            break
        best = found
    return best[1:]


def _most_likely(
    rows: np.ndarray, sums: np.ndarray, shape: np.ndarray, totals: np.ndarray
) -> tuple[float, np.ndarray, float]:
    """Return the evidence, θ and the noise of the total of θ, divided like `shape`, with most evidence."""
    found = []
    for total in totals:
        theta = np.minimum(total * shape / shape.sum(), LARGEST_THETA)
        likelihood, noise = most_likely_noise(even_kernel(rows, rows, theta), sums[:, None])
        found.append((float(likelihood[0]), theta, float(noise[0])))
    return max(found, key=lambda one: one[0])
