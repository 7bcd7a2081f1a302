"""A Gaussian process over subsets: its prior includes interactions, and it predicts subsets that were not queried.

    f = Σ_T c_T Π_{k∈T} e_k,    c_T ~ N(0, s² Π_{k∈T} θ_k),    e_k = 1 where player k shows and −1 where not

A draw's difference, of a subset less its mirror, holds the odd T alone, and so do Shapley values:

    d   = 2 Σ_{T odd} c_T Π_{k∈T} e_k  Cov(d, d') = 4 s² K(e, e'),   K = h sinh(Σ_k η_k e_k e'_k)
    ξ_k = 2 Σ_{T∋k odd} c_T / |T|      Cov(ξ_k, d) = 4 s² θ_k e_k ∫ ½ Π_{j≠k}(1 + tθ_j e_j) + ½ Π_{j≠k}(1 − tθ_j e_j) dt

over t from 0 to 1, with η = artanh θ and h = Π √(1 − θ²). With small θ this is the regression of d on e. The full and
the empty subset are one more draw, whose difference f(x) − f(x̊) is known: so the values add up. With all subsets they
are the Shapley values, whatever θ.

θ is chosen by the marginal likelihood: first alike for all players, then larger for those with larger values, again and
again: where few of many players matter, θ of all others goes to nearly nothing. A part that depends on the number of
players that show (`size_component.py`) is added where that is more likely.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import cho_solve, lapack

from geex._arrays.blas import one_thread
from geex._estimate.linear.marginal_likelihood import RATIOS, evidence
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.shapley.even_process import PairProcess, even_kernel
from geex._estimate.shapley.factor import factored
from geex._estimate.shapley.size_component import size_kernel, size_value_covariance

# Totals of θ over players. With the first there are no interactions.
TOTALS = np.array([1e-6, *np.logspace(-2, 1.2, 9)])
# The largest θ of a player.
LARGEST_THETA = 0.95
# Totals on each side of the best that later rounds try.
NEARBY = 1
# Rounds after the first, with θ by the values, or by values and interactions, of the round before.
ROUNDS = 4
# How θ follows values: a power, and a floor for all.
SHAPES = ((1.0, 0.05), (2.0, 0.01))
# What a round must gain, since θ follows the same answers; and a part by size.
NATS_OF_A_ROUND = 2.0
# Totals beside a part by size.
TOTALS_BY_SIZE = TOTALS[:6:2]
# Weights of the part by size, in units of the variance of all else.
WEIGHTS_BY_SIZE = (1.0, 10.0)
# Draws for the choice of hyperparameters.
CHOICE = 256
# The most, where there are many players.
CHOICE_AT_MOST = 1024
# The share of a known noise that λ is at least: the noise is estimated from few repeats.
SURE = 0.5
# Sums of answers near 1 that differ by less are the same.
SAME = 1e-12
# What the least candidate of the noise is multiplied with: next to none.
NONE = 1e-6


def _logarithmic(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes t and shares of ∫ g(t) (−log t) dt from 0 to 1, by t = u²; exact for g = 1, the single players."""
    nodes, shares = (0.5 * part for part in (leggauss(count)[0] + 1, leggauss(count)[1]))
    shares = shares * nodes * -np.log(nodes)
    return nodes**2, shares / shares.sum()


# Nodes and weights of an integral from 0 to 1.
NODES, SHARES = (0.5 * part for part in (leggauss(12)[0] + 1, leggauss(12)[1]))
# Those of the integral with the weight −log t.
FINE_NODES, FINE_SHARES = _logarithmic(40)


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """θ (q,) and the noise λ beside K, with the evidence for them.

    by_size: the variance of the part by size. weight_by_size: the same over the mean of K.
    noise_of_sums: λ of the sums of mirrored answers.
    """

    theta: np.ndarray
    noise: float
    evidence: float
    by_size: float = 0.0
    weight_by_size: float = 0.0
    noise_of_sums: float = 0.0

    def kernel(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return K (n, m) of contrasts (n, q) and (m, q), with the part by size."""
        found = kernel(rows, others, self.theta)
        return found + self.by_size * size_kernel(rows, others) if self.by_size else found

    def value_covariance(self, rows: np.ndarray) -> np.ndarray:
        """Return Cov(ξ_k, d) / 4s² (q, n) of contrasts (n, q), with the part by size."""
        found = value_covariance(rows, self.theta)
        return found + self.by_size * size_value_covariance(rows) if self.by_size else found

    def prior_covariance(self) -> np.ndarray:
        """Return Cov(ξ_j, ξ_k) / 4s² (q, q), with the part by size."""
        return prior_covariance(self.theta) + self.by_size / len(self.theta) ** 2


@dataclass(frozen=True, eq=False)
class SubsetProcess:
    """The posterior given contrasts e (n, q) of draws, their differences d (n,), and the whole f(x) − f(x̊)."""

    contrasts: np.ndarray
    differences: np.ndarray
    whole: float
    hyperparameters: Hyperparameters

    @cached_property
    def values(self) -> np.ndarray:
        """ξ̂ (q,), which add up to the whole but for rounding, which is shared out."""
        values = self.hyperparameters.value_covariance(self._rows) @ self._solution
        return np.asarray(values + (self.whole - values.sum()) / len(values))

    @property
    def slopes(self) -> np.ndarray:
        """∂ξ̂/∂d (n, q)."""
        return self._slopes[:, :-1].T

    @cached_property
    def residuals(self) -> np.ndarray:
        """Leave-one-out residuals (n,): d minus its prediction from all other draws."""
        inverse, _ = lapack.dpotri(self._factor[0], lower=1)
        return np.asarray(self._solution / np.diagonal(inverse))[:-1]

    @property
    def covariance(self) -> np.ndarray:
        """The posterior covariance of ξ (q, q)."""
        answers, chosen = self._answers, self.hyperparameters
        scale = float(answers @ self._solution) / len(answers)
        return np.asarray(scale * (chosen.prior_covariance() - self._slopes @ chosen.value_covariance(self._rows).T))

    def predicted(self, contrasts: np.ndarray) -> np.ndarray:
        """Predict the differences (m,) of other draws, given their contrasts (m, q)."""
        return np.asarray(self.hyperparameters.kernel(contrasts, self._rows) @ self._solution)

    @property
    def _rows(self) -> np.ndarray:
        return np.vstack([self.contrasts, np.ones(self.contrasts.shape[1])])

    @property
    def _answers(self) -> np.ndarray:
        return np.append(self.differences, self.whole)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        """L Lᵀ = K + λ, with (almost) no noise for the whole."""
        return factored(self.hyperparameters.kernel(self._rows, self._rows), self.hyperparameters.noise)

    @cached_property
    def _solution(self) -> np.ndarray:
        """(K + λ)⁻¹ d (n + 1,)."""
        return np.asarray(cho_solve(self._factor, self._answers))

    @cached_property
    def _slopes(self) -> np.ndarray:
        return np.asarray(cho_solve(self._factor, self.hyperparameters.value_covariance(self._rows).T)).T


def kernel(rows: np.ndarray, others: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """K (n, m) of contrasts (n, q) and (m, q)."""
    return np.asarray(np.exp(0.5 * np.log1p(-(theta**2)).sum()) * np.sinh((rows * np.arctanh(theta)) @ others.T))


def value_covariance(rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Cov(ξ_k, d) / 4s² (q, n) of contrasts (n, q)."""
    total = np.zeros(rows.shape)
    for node, share in zip(NODES, SHARES, strict=True):
        for sign in (1, -1):
            own = np.log1p(sign * node * theta * rows)
            total += 0.5 * share * np.exp(own.sum(axis=1, keepdims=True) - own)
    return np.asarray((total * theta * rows).T)


def prior_covariance(theta: np.ndarray) -> np.ndarray:
    """The prior Cov(ξ_j, ξ_k) / 4s² (q, q): Σ_{T∋j,k odd} Π θ / |T|², by ∫ tⁿ⁻¹ (−log t) dt = 1/n²."""
    nodes, shares = np.stack([FINE_NODES, -FINE_NODES], axis=1).ravel(), 0.5 * np.repeat(FINE_SHARES, 2)
    own = np.log1p(nodes[:, None] * theta)
    whole = own.sum(axis=1, keepdims=True)
    rest = np.exp(0.5 * whole - own)
    scale = (shares * nodes)[:, None]
    found = np.zeros((len(theta), len(theta)))
    for size, own_rest in zip(scale[:, 0], rest, strict=True):
        found += size * np.multiply.outer(own_rest, own_rest)
    # of one player: its products of two, and what they lack, added in the order of the nodes
    alone = shares[:, None] * (np.exp(whole - own) - nodes[:, None] * rest**2)
    one = np.add.reduce(np.stack([scale * (rest * rest), alone], axis=1).reshape(-1, len(theta)), axis=0)
    found *= np.outer(theta, theta)
    np.fill_diagonal(found, one * theta)
    return np.asarray(found)


@one_thread()
def select_hyperparameters(
    contrasts: np.ndarray,
    differences: np.ndarray,
    whole: np.ndarray,
    sums: np.ndarray | None = None,
    noise: np.ndarray | None = None,
) -> list[Hyperparameters]:
    """Select the hyperparameters of every output of d (n, k) and f(x) − f(x̊) (k,), on CHOICE draws from all of the run.

    Twice as many draws as players are used if that is more: fewer do not separate little noise from none.
    sums (n + 1, k): f(S) + f(Sᶜ) of every draw, and f(x) + f(x̊) at last. They have the same θ, and their own noise.
    noise (k,): the variance of the model's noise in d; interactions of high order are like noise, until a subset is
    repeated.
    """
    which = evenly(contrasts, max(CHOICE, min(CHOICE_AT_MOST, 2 * contrasts.shape[1])))
    some, answers = contrasts[which], np.vstack([differences[which], whole])
    rows, even = np.vstack([some, np.ones(some.shape[1])]), np.ones(some.shape[1])
    beside = None if sums is None else _centred(sums[np.append(which, len(sums) - 1)])
    least = np.zeros(len(whole)) if noise is None else _least_ratio(noise, differences)
    alike = _most_likely(rows, answers, even, TOTALS, least, beside)
    for weight in WEIGHTS_BY_SIZE:
        sized = _most_likely(rows, answers, even, TOTALS_BY_SIZE, least, beside, weight)
        alike = [max(one, other, key=_gain) for one, other in zip(alike, sized, strict=True)]
    return [
        _refined(rows, answers[:, [output]], first, least[[output]], None if beside is None else beside[:, [output]])
        for output, first in enumerate(alike)
    ]


def _centred(sums: np.ndarray) -> np.ndarray:
    """Return sums (n, k) of mean 0 and size 1; 0 for outputs of which all are the same."""
    columns = []
    for column in np.ascontiguousarray(sums.T):  # one by one, so that an output does not depend on the others
        centred = column - column.mean()
        size = float(np.abs(centred).max())
        columns.append(centred / size if size > SAME else np.zeros(len(column)))
    return np.stack(columns, axis=1)


def _least_ratio(noise: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return the least λ over the mean diagonal of K for every output (k,), given the noise in d (n, k)."""
    whole = np.mean(differences**2, axis=0)
    share = np.minimum(SURE * noise / np.where(whole > 0, whole, 1), SURE)
    return np.asarray(share / (1 - share))


def _gain(hyperparameters: Hyperparameters) -> float:
    """Return the evidence, less what a part by size must gain."""
    return hyperparameters.evidence - NATS_OF_A_ROUND * (hyperparameters.by_size > 0)


def _refined(
    rows: np.ndarray,
    answers: np.ndarray,
    hyperparameters: Hyperparameters,
    least: np.ndarray,
    sums: np.ndarray | None,
) -> Hyperparameters:
    """Refine θ in rounds, in which it follows a power of the estimated values, or of values and interactions."""
    for _ in range(ROUNDS):
        strengths = _strengths(rows, answers, hyperparameters, sums)
        totals = TOTALS[nearby(hyperparameters.theta.sum())]
        shapes = [strength**power + floor for strength in strengths for power, floor in SHAPES]
        weight = hyperparameters.weight_by_size
        tried = [_most_likely(rows, answers, shape, totals, least, sums, weight)[0] for shape in shapes]
        found = max(tried, key=lambda one: one.evidence, default=hyperparameters)
        if found.evidence <= hyperparameters.evidence + NATS_OF_A_ROUND:
            return hyperparameters
        hyperparameters = found
    return hyperparameters


def _strengths(
    rows: np.ndarray, answers: np.ndarray, hyperparameters: Hyperparameters, sums: np.ndarray | None
) -> list[np.ndarray]:
    """Return what θ may follow, of mean square 1: |ξ̂|, and its mean with the strength of interactions."""
    values = np.abs(SubsetProcess(rows[:-1], answers[:-1, 0], float(answers[-1, 0]), hyperparameters).values)
    size = float(np.sqrt(np.mean(values**2)))
    if not 0 < size < np.inf:
        return []
    found = [values / size]
    if sums is not None and sums.any():
        strength = PairProcess(rows, sums[:, 0], hyperparameters.theta, hyperparameters.noise_of_sums).strength
        size = float(np.sqrt(np.mean(strength**2)))
        if 0 < size < np.inf:
            found.append((found[0] + strength / size) / 2)
    return found


def nearby(total: float) -> slice:
    """Return the totals that are tried again, around one of them."""
    place = int(np.argmin(np.abs(np.log(TOTALS / total))))
    return slice(max(0, place - NEARBY), place + NEARBY + 1)


def most_likely_noise(
    gram: np.ndarray, answers: np.ndarray, least: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the most evidence for answers (n, k) over all noises, and that noise (k,).

    least (k,): the least noise, as a multiple of the mean diagonal of K.
    """
    likelihood, noises = evidence(gram, answers)
    likelihood = np.where(RATIOS[:, None] < least, -np.inf, likelihood)
    place = likelihood.argmax(axis=0)
    less = np.where(place == len(noises) - 1, NONE, 1.0)  # the least that is tried, or less
    return likelihood[place, np.arange(len(place))], noises[place] * less


def _most_likely(
    rows: np.ndarray,
    answers: np.ndarray,
    shape: np.ndarray,
    totals: np.ndarray,
    least: np.ndarray,
    sums: np.ndarray | None = None,
    weight: float = 0.0,
) -> list[Hyperparameters]:
    """Return the total of θ, divided like `shape`, and the noise with most evidence, for every output of (n, k).

    least (k,): the least noise, as a multiple of the mean diagonal of K. weight: of the part by size, likewise.
    """
    tried: list[list[Hyperparameters]] = []
    by_size = size_kernel(rows, rows) if weight else np.zeros(())
    for total in totals:
        theta = np.minimum(total * shape / shape.sum(), LARGEST_THETA)
        gram = kernel(rows, rows, theta)
        size = weight * float(np.mean(np.diagonal(gram)))
        likelihood, noise = most_likely_noise(gram + size * by_size, answers, least)
        beside, other = np.zeros(len(noise)), np.zeros(len(noise))
        if sums is not None:
            beside, other = most_likely_noise(even_kernel(rows, rows, theta), sums)
            beside = np.where(sums.any(axis=0), beside, 0.0)
        columns = zip((likelihood + beside).tolist(), noise.tolist(), other.tolist(), strict=True)
        tried.append([Hyperparameters(theta, own, most, size, weight, even) for most, own, even in columns])
    return [max(own, key=lambda one: one.evidence) for own in zip(*tried, strict=True)]
