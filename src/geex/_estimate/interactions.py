"""Shapley interaction values of pairs, from the same answers: k-SII of order 2.

    I_jk = Σ_S |S|! (q − |S| − 2)! / (q − 1)!  [f(S ∪ jk) − f(S ∪ j) − f(S ∪ k) + f(S)]    over S without j, k

In the process over subsets these are a matter of the even T, and so is the sum of two mirrored answers:

    a    = f(S) + f(Sᶜ) = 2 Σ_{T even} c_T Π_{k∈T} e_k         Cov(a, a') = 4 s² h cosh(Σ_k η_k e_k e'_k)
    I_jk = 4 Σ_{T∋j,k even} c_T / (|T| − 1)
    Cov(I_jk, a) = 4 s² θ_j θ_k e_j e_k ∫ Π_{l≠j,k}(1 + tθ_l e_l) + Π_{l≠j,k}(1 − tθ_l e_l) dt

θ is chosen by the evidence for the sums: first like that of the values, then larger for players that interact more.
f(x) + f(x̊) is one more row without noise. Errors are those of values: with b_i(j, k) = N_s/n_s times the weight of a
draw's sum in I_jk, and r_i what the draw is off by when it is left out,

    Î_jk + Σ_i (b_i − ∂Î_jk/∂a_i) r_i

is unbiased, and the spread of its terms is its error.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import cho_factor, cho_solve, lapack

from geex._arrays.arrays import host
from geex._arrays.blas import one_thread
from geex._estimate.answers import Answers
from geex._estimate.linear.marginal_likelihood import evidence
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.mirrored_answers import mirrored_answers
from geex._estimate.subset_process import (
    FINE,
    FINE_SHARES,
    LARGEST,
    LEAST,
    MORE,
    NATS,
    NONE,
    SHAPES,
    TOTALS,
    Hyperparameters,
)
from geex._plan.subsets import Subsets, strata

# Draws that are fitted; the others correct the fit.
FITTED = 512
# Rounds in which θ follows the interactions of each player.
ROUNDS = 3
# Nodes of the integral over t.
NODES, SHARES = (0.5 * part for part in (leggauss(8)[0] + 1, leggauss(8)[1]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Interactions (q, q) of one output, the centres of their intervals, standard errors, and degrees of freedom."""

    values: np.ndarray
    centre: np.ndarray
    stderr: np.ndarray
    freedom: float


@dataclass(frozen=True, eq=False)
class PairProcess:
    """The posterior given rows e (n, q) and sums a (n,), of which the last has no noise."""

    rows: np.ndarray
    sums: np.ndarray
    hyperparameters: Hyperparameters

    @cached_property
    def values(self) -> np.ndarray:
        """Î (q, q), 0 on the diagonal."""
        found = np.zeros((self.rows.shape[1],) * 2)
        for share, weights, product in self._nodes:
            found += share * (weights.T * (self.solution * product)) @ weights
        np.fill_diagonal(found, 0)
        return found

    def covariance(self, player: int) -> np.ndarray:
        """Return Cov(I_jk, a) / 4s² (n, q) of player j with every k."""
        found = np.zeros(self.rows.shape)
        for share, weights, product in self._nodes:
            found += (share * product * weights[:, player])[:, None] * weights
        return found

    @cached_property
    def _nodes(self) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """For every node of t and sign its share, θ_k e_k / (1 ± tθ_k e_k) (n, q), and the product over k (n,)."""
        signed = self.hyperparameters.theta * self.rows
        parts = [
            (share, 1 + sign * node * signed) for node, share in zip(NODES, SHARES, strict=True) for sign in (1, -1)
        ]
        return [(share, signed / part, np.prod(part, axis=1)) for share, part in parts]

    def predicted(self, rows: np.ndarray) -> np.ndarray:
        """Return the sums (m,) of other draws, given their contrasts (m, q)."""
        return np.asarray(even_kernel(rows, self.rows, self.hyperparameters.theta) @ self.solution)

    def slopes(self, covariance: np.ndarray) -> np.ndarray:
        """Return ∂Î/∂a (n, q) for covariances (n, q)."""
        return np.asarray(cho_solve(self.factor, covariance))

    @cached_property
    def residuals(self) -> np.ndarray:
        """Leave-one-out residuals (n,)."""
        inverse, _ = lapack.dpotri(self.factor[0], lower=1)
        return np.asarray(self.solution / np.diagonal(inverse))

    @cached_property
    def solution(self) -> np.ndarray:
        """(K + λ)⁻¹ a (n,)."""
        return np.asarray(cho_solve(self.factor, self.sums))

    @property
    def scale(self) -> float:
        """s², from the sums themselves."""
        return float(self.sums @ self.solution) / len(self.sums)

    @cached_property
    def factor(self) -> tuple[np.ndarray, bool]:
        """L Lᵀ = K + λ; more noise where rounding makes that not positive."""
        system = even_kernel(self.rows, self.rows, self.hyperparameters.theta)
        size = float(np.mean(np.diagonal(system)))
        noise = np.full(len(self.rows), max(self.hyperparameters.noise, LEAST * size))
        noise[-1] = LEAST * size
        while True:
            try:
                lower, _ = cho_factor(system + np.diag(noise), lower=True)
                return lower, True
            except np.linalg.LinAlgError:
                noise = noise * MORE


def even_kernel(rows: np.ndarray, others: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return Cov(a, a') / 4s² (n, m) of contrasts (n, q) and (m, q)."""
    return np.asarray(np.exp(0.5 * np.log1p(-(theta**2)).sum()) * np.cosh((rows * np.arctanh(theta)) @ others.T))


def prior_variance(theta: np.ndarray) -> np.ndarray:
    """Return the prior Var(I_jk) / 4s² (q, q): 4 Σ_{T∋j,k even} Π θ / (|T| − 1)², by ∫ tⁿ⁻¹ (−log t) dt = 1/n²."""
    found = np.zeros((len(theta),) * 2)
    for node, share in zip(FINE, FINE_SHARES, strict=True):
        for sign in (1, -1):
            own = 1 + sign * node * theta
            found += 2 * share * np.prod(own) / np.outer(own, own)
    found *= np.outer(theta, theta)
    np.fill_diagonal(found, 0)
    return found


@one_thread()
def estimate_pairs(contrasts: np.ndarray, sums: np.ndarray, ends: float, steady: bool = True) -> Pairs:
    """Return the interactions given contrasts (n, q), sums f(S) + f(Sᶜ) (n,), and f(x) + f(x̊).

    steady: whether the model answers the same twice. If not, what the fit leaves of queried subsets may be its noise.
    """
    middle = float(np.mean(sums))
    size = max(float(np.abs(sums - middle).max()), abs(ends - middle))
    if size == 0 or contrasts.shape[1] < 2:
        nothing = np.zeros((contrasts.shape[1],) * 2)
        return Pairs(nothing, nothing, nothing, 1.0)
    found = _estimate(contrasts, (sums - middle) / size, (ends - middle) / size, steady)
    return Pairs(size * found.values, size * found.centre, size * found.stderr, found.freedom)


def _estimate(contrasts: np.ndarray, sums: np.ndarray, ends: float, steady: bool) -> Pairs:
    q = contrasts.shape[1]
    fitted = evenly(sums, FITTED)
    rows = np.vstack([contrasts[fitted], np.ones(q)])
    answers = np.append(sums[fitted], ends)
    process = PairProcess(rows, answers, select_even(rows, answers))
    left = sums - process.predicted(contrasts)
    residuals = left.copy()
    residuals[fitted] = process.residuals[:-1]
    steps, unasked = _steps(contrasts), _unasked(contrasts)
    prior, scale = prior_variance(process.hyperparameters.theta), process.scale
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
    return Pairs(values, values + shift, stderr, float(freedom))


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
    return np.asarray(1 - np.bincount(sizes)[sizes] / strata(contrasts.shape[1])[0][sizes - 1])


def select_even(rows: np.ndarray, sums: np.ndarray) -> Hyperparameters:
    """Select θ and the noise for sums (n,), by evidence: alike for all players, then by their interactions."""
    best = _most_likely(rows, sums, np.ones(rows.shape[1]), TOTALS)
    for _ in range(ROUNDS):
        strength = np.sqrt(np.sum(PairProcess(rows, sums, best).values ** 2, axis=1))
        size = float(np.sqrt(np.mean(strength**2)))
        if not 0 < size < np.inf:
            break
        place = int(np.argmin(np.abs(np.log(TOTALS / best.theta.sum()))))
        totals = TOTALS[max(0, place - 2) : place + 3]
        tried = [_most_likely(rows, sums, (strength / size) ** power + floor, totals) for power, floor in SHAPES]
        found = max(tried, key=lambda one: one.evidence)
        if found.evidence <= best.evidence + NATS:
            break
        best = found
    return best


def _most_likely(rows: np.ndarray, sums: np.ndarray, shape: np.ndarray, totals: np.ndarray) -> Hyperparameters:
    """Return the total of θ, divided like `shape`, and the noise with most evidence."""
    found = []
    for total in totals:
        theta = np.minimum(total * shape / shape.sum(), LARGEST)
        likelihood, noises = evidence(even_kernel(rows, rows, theta), sums[:, None])
        place = int(likelihood[:, 0].argmax())
        noise = float(noises[place]) * (NONE if place == len(noises) - 1 else 1)
        found.append(Hyperparameters(theta, noise, float(likelihood[place, 0])))
    return max(found, key=lambda one: one.evidence)


def estimate_interactions(answers: Answers, noise: np.ndarray | None) -> list[Pairs]:
    """Return the interactions of pairs of features for every output; 0 for features like the baseline's.

    noise (k,): the deviation of the model's answers; None if x was queried once. With all subsets there is nothing else
    to be off by, and without noise the interactions are exact.
    """
    search: Subsets = answers.plan.search  # type: ignore[assignment]
    contrasts, both = mirrored_answers(answers)
    ends, sums = host(answers.ends_scored).astype(np.float64).sum(axis=0), both.sum(axis=1)
    features = prod(answers.plan.features.shape(tuple(answers.plan.explicand.shape)))
    every = len(contrasts) == search.all_draws
    steady = np.full(len(ends), every) if noise is None else noise == 0
    found = [
        estimate_pairs(contrasts, own, float(end), bool(same))
        for own, end, same in zip(sums.T, ends, steady, strict=True)
    ]
    return [_over_features(pairs, search.players, features) for pairs in found]


def _over_features(pairs: Pairs, players: tuple[int, ...], features: int) -> Pairs:
    """Return the interactions of players as those of all features."""

    def spread(found: np.ndarray) -> np.ndarray:
        everywhere = np.zeros((features, features))
        everywhere[np.ix_(players, players)] = found
        return everywhere

    return Pairs(spread(pairs.values), spread(pairs.centre), spread(pairs.stderr), pairs.freedom)


def mean_pairs(parts: list[Pairs]) -> Pairs:
    """Return the mean over baselines, whose errors are independent."""
    count = len(parts)
    values = sum((part.values for part in parts), np.zeros(())) / count
    centre = sum((part.centre for part in parts), np.zeros(())) / count
    stderr = np.sqrt(sum((part.stderr**2 for part in parts), np.zeros(()))) / count
    known = [part.freedom for part in parts if np.isfinite(part.freedom)]
    return Pairs(values, centre, stderr, float(sum(known)) if known else np.inf)
