"""A Gaussian process over subsets: its prior includes interactions, and it predicts subsets that were not queried.

    f = Σ_T c_T Π_{k∈T} e_k,    c_T ~ N(0, s² Π_{k∈T} θ_k),    e_k = 1 where player k shows and −1 where not

A draw's difference, of a subset less its mirror, holds the odd T alone, and so do Shapley values:

    d   = 2 Σ_{T odd} c_T Π_{k∈T} e_k  Cov(d, d') = 4 s² K(e, e'),   K = h sinh(Σ_k η_k e_k e'_k)
    ξ_k = 2 Σ_{T∋k odd} c_T / |T|      Cov(ξ_k, d) = 4 s² θ_k e_k ∫ ½ Π_{j≠k}(1 + tθ_j e_j) + ½ Π_{j≠k}(1 − tθ_j e_j) dt

over t from 0 to 1, with η = artanh θ and h = Π √(1 − θ²). With small θ this is the regression of d on e. The full and
the empty subset are one more draw, whose difference f(x) − f(x̊) is known: so the values add up. With all subsets they
are the Shapley values, whatever θ.

θ is chosen by the marginal likelihood: first alike for all players, then larger for those that do more.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import cho_factor, cho_solve, lapack

from geex._arrays.blas import one_thread
from geex._estimate.linear.marginal_likelihood import RATIOS, evidence
from geex._estimate.linear.prior_selection import evenly

# Totals of θ over players. With the first there are no interactions.
TOTALS = np.array([1e-6, *np.logspace(-2, 1.2, 9)])
# The largest θ of a player.
LARGEST_THETA = 0.95
# Totals on each side of the best that later rounds try.
NEARBY = 2
# Rounds after the first, with θ by the values of the round before.
ROUNDS = 2
# How θ follows values: a power, and a floor for all. The second is for MANY draws.
SHAPES = ((1.0, 0.05), (2.0, 0.01))
# Draws per player from which on the second shape is tried.
MANY = 4
# Draws for the choice of hyperparameters.
CHOICE = 256
# The most, where there are many players.
CHOICE_AT_MOST = 1024
# The least noise, as a share of the variance: the matrix then has a Cholesky factor.
LEAST_NOISE = 1e-13
# What the noise is multiplied with where it has none.
NOISE_FACTOR = 100.0
# The share of a known noise that λ is at least: the noise is estimated from few repeats.
SURE = 0.5
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
    """θ (q,) and the noise λ beside K, with the evidence for them."""

    theta: np.ndarray
    noise: float
    evidence: float


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
        values = value_covariance(self._rows, self.hyperparameters.theta) @ self._solution
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
        rows, theta, answers = self._rows, self.hyperparameters.theta, self._answers
        scale = float(answers @ self._solution) / len(answers)
        return np.asarray(scale * (prior_covariance(theta) - self._slopes @ value_covariance(rows, theta).T))

    def predicted(self, contrasts: np.ndarray) -> np.ndarray:
        """Predict the differences (m,) of other draws, given their contrasts (m, q)."""
        return np.asarray(kernel(contrasts, self._rows, self.hyperparameters.theta) @ self._solution)

    @property
    def _rows(self) -> np.ndarray:
        return np.vstack([self.contrasts, np.ones(self.contrasts.shape[1])])

    @property
    def _answers(self) -> np.ndarray:
        return np.append(self.differences, self.whole)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        """L Lᵀ = K + λ, with (almost) no noise for the whole; more noise where rounding makes that not positive."""
        rows = self._rows
        system = kernel(rows, rows, self.hyperparameters.theta)
        size = float(np.mean(np.diagonal(system)))
        noise = np.full(len(rows), max(self.hyperparameters.noise, LEAST_NOISE * size))
        noise[-1] = LEAST_NOISE * size
        while True:
            try:
                lower, _ = cho_factor(system + np.diag(noise), lower=True)
                return lower, True
            except np.linalg.LinAlgError:
                noise = noise * NOISE_FACTOR

    @cached_property
    def _solution(self) -> np.ndarray:
        """(K + λ)⁻¹ d (n + 1,)."""
        return np.asarray(cho_solve(self._factor, self._answers))

    @cached_property
    def _slopes(self) -> np.ndarray:
        return np.asarray(cho_solve(self._factor, value_covariance(self._rows, self.hyperparameters.theta).T)).T


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
    contrasts: np.ndarray, differences: np.ndarray, whole: np.ndarray, noise: np.ndarray | None = None
) -> list[Hyperparameters]:
    """Select the hyperparameters of every output of d (n, k) and f(x) − f(x̊) (k,), on CHOICE draws from all of the run.

    Twice as many draws as players are used if that is more: fewer do not separate little noise from none.
    noise (k,): the variance of the model's noise in d; interactions of high order are like noise, until a subset is
    repeated.
    """
    which = evenly(contrasts, max(CHOICE, min(CHOICE_AT_MOST, 2 * contrasts.shape[1])))
    some, answers = contrasts[which], np.vstack([differences[which], whole])
    rows = np.vstack([some, np.ones(some.shape[1])])
    least = np.zeros(len(whole)) if noise is None else _least_ratio(noise, differences)
    alike = _most_likely(rows, answers, np.ones(some.shape[1]), TOTALS, least)
    return [_refined(rows, answers[:, [output]], first, least[[output]]) for output, first in enumerate(alike)]


def _least_ratio(noise: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return the least λ over the mean diagonal of K for every output (k,), given the noise in d (n, k)."""
    whole = np.mean(differences**2, axis=0)
    share = np.minimum(SURE * noise / np.where(whole > 0, whole, 1), SURE)
    return np.asarray(share / (1 - share))


def _refined(
    rows: np.ndarray, answers: np.ndarray, hyperparameters: Hyperparameters, least: np.ndarray
) -> Hyperparameters:
    """Refine θ in rounds, in which it follows a power of the estimated values."""
    for _ in range(ROUNDS):
        values = np.abs(SubsetProcess(rows[:-1], answers[:-1, 0], float(answers[-1, 0]), hyperparameters).values)
        size = float(np.sqrt(np.mean(values**2)))
        if not 0 < size < np.inf:
            return hyperparameters
        place = int(np.argmin(np.abs(np.log(TOTALS / hyperparameters.theta.sum()))))
        totals = TOTALS[max(0, place - NEARBY) : place + NEARBY + 1]
        shapes = [(values / size) ** power + floor for power, floor in SHAPES[: 1 + (len(rows) > MANY * len(values))]]
        likely = (_most_likely(rows, answers, shape, totals, least)[0] for shape in shapes)
        found = max(likely, key=lambda one: one.evidence)
        if found.evidence <= hyperparameters.evidence:
            return hyperparameters
        hyperparameters = found
    return hyperparameters


def _most_likely(
    rows: np.ndarray, answers: np.ndarray, shape: np.ndarray, totals: np.ndarray, least: np.ndarray
) -> list[Hyperparameters]:
    """Return the total of θ, divided like `shape`, and the noise with most evidence, for every output of (n, k).

    least (k,): the least noise, as a multiple of the mean diagonal of K.
    """
    found: list[Hyperparameters | None] = [None] * answers.shape[1]
    for total in totals:
        theta = np.minimum(total * shape / shape.sum(), LARGEST_THETA)
        likelihood, noises = evidence(kernel(rows, rows, theta), answers)
        likelihood = np.where(RATIOS[:, None] < least, -np.inf, likelihood)
        for output, best in enumerate(found):
            place = int(likelihood[:, output].argmax())
            if best is None or likelihood[place, output] > best.evidence:
                noise = float(noises[place]) * (NONE if place == len(noises) - 1 else 1)  # the least there is, or less
                found[output] = Hyperparameters(theta, noise, float(likelihood[place, output]))
    return [one for one in found if one is not None]
