"""What the first rows of a table show about a model's interactions, as the start of a short search for all later rows.

The first rows teach: each gets θ and the noise λ by the whole search of `subset_process.py`. A later row starts from

    θ_k = T θ̄_k / Σ_j θ̄_j,    λ = ρ · mean of the diagonal of K

θ̄ is the mean share of every feature, T and ρ are typical totals and noises. Rounds follow, as there: θ follows a power
of the row's own values, then T and ρ move to neighbours. All are compared by the evidence of the row's own answers,

    log p(d) = −½ (n log s² + log det(K + λ)) + …,    s² = dᵀ (K + λ)⁻¹ d / n

which takes one factorisation for each: a tenth of what all noises take.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import cho_solve, lapack

from geex._arrays.blas import one_thread
from geex._estimate.shapley.subset_process import LARGEST_THETA, SHAPES, Hyperparameters, kernel

# Rows that teach.
TEACHERS = 20
# The share of the teachers up to which what they have counts as rare.
RARELY = 0.25
# Shares of the teachers' totals and noises that a later row starts with.
START_QUANTILES = (0.1, 0.5, 0.9)
# θ of a feature that never differed from the baseline, as a share of the mean of others.
UNSEEN_SHARE = 0.05
# The most rounds in which θ follows values, and what a round must gain in evidence: θ follows the same answers.
SEARCH_ROUNDS, LEAST_GAIN = 4, 2.0
# Factors by which T and ρ move in a round.
TOTAL_MOVES, NOISE_MOVES = (0.1, 1 / 1.8, 1.8, 10.0), (0.2, 5.0)
# Nodes of the integral for rough values: fewer than for values that are reported.
ROUGH_NODES, ROUGH_SHARES = (0.5 * part for part in (leggauss(5)[0] + 1, leggauss(5)[1]))


@dataclass(eq=False)
class Learnt:
    """What the rows so far that teach have: totals of θ, noises, the share of θ of every feature, and whether trees and
    a part by size were chosen.
    """

    totals: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    shares: dict[int, list[float]] = field(default_factory=dict)
    trees: list[bool] = field(default_factory=list)
    sized: list[bool] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        """Whether later rows can start from what is learnt: not where a part by size matters, which it leaves out."""
        return len(self.totals) >= TEACHERS and float(np.mean(self.sized)) <= RARELY

    @property
    def trees_help(self) -> bool:
        """Whether trees were better than the process alone for more than a few of the rows that teach."""
        return float(np.mean(self.trees)) > RARELY

    def learn(self, players: tuple[int, ...], found: Hyperparameters, trees: bool) -> None:
        """Learn from a row. trees: whether trees were better than the process alone."""
        if len(self.totals) >= TEACHERS:
            return
        total, full = float(found.theta.sum()), np.ones((1, len(players)))
        self.totals.append(total)
        self.ratios.append(found.noise / float(kernel(full, full, found.theta)[0, 0]))
        self.trees.append(trees)
        self.sized.append(found.by_size > 0)
        for player, theta in zip(players, found.theta, strict=True):
            self.shares.setdefault(player, []).append(float(theta) / total)

    def searched(
        self, players: tuple[int, ...], contrasts: np.ndarray, differences: np.ndarray, wholes: np.ndarray
    ) -> list[Hyperparameters]:
        """Return the hyperparameters of a row with contrasts (n, q), d (n, 1) and f(x) − f(x̊) (1,)."""
        rows = np.vstack([contrasts, np.ones(contrasts.shape[1])])
        return [self._searched(Game(rows, np.append(differences[:, 0], wholes[0])), players)]

    @one_thread()
    def _searched(self, game: "Game", players: tuple[int, ...]) -> Hyperparameters:
        """Return the best of the search."""
        totals, ratios = (np.unique(np.quantile(known, START_QUANTILES)) for known in (self.totals, self.ratios))
        shape, middle = self._shape(players), float(np.median(self.ratios))
        best = max((game.tried(shape, total, middle) for total in totals), key=_evidence)
        best = max([best, *(game.with_noise(best, ratio) for ratio in ratios)], key=_evidence)
        for _ in range(SEARCH_ROUNDS):
            before = best
            own = max([best, *(game.tried(one, best.total, best.ratio) for one in game.shapes(best))], key=_evidence)
            best = own if own.evidence > best.evidence + LEAST_GAIN else best
            moved = [game.tried(best.theta, best.total * factor, best.ratio) for factor in TOTAL_MOVES]
            best = max([best, *moved], key=_evidence)
            moved = [game.with_noise(best, best.ratio * factor) for factor in NOISE_MOVES]
            best = max([best, *moved], key=_evidence)
            if best is before:
                break
        return Hyperparameters(best.theta, best.noise, best.evidence)

    def _shape(self, players: tuple[int, ...]) -> np.ndarray:
        """Return the mean share of θ of every player (q,)."""
        known = {player: float(np.mean(shares)) for player, shares in self.shares.items()}
        unseen = UNSEEN_SHARE * float(np.mean(list(known.values())))
        return np.array([known.get(player, unseen) for player in players])


@dataclass(frozen=True, eq=False)
class Tried:
    """θ (q,), its total, the noise λ and its ratio ρ to the diagonal of K, with their evidence, K and its factor."""

    theta: np.ndarray
    total: float
    noise: float
    ratio: float
    evidence: float
    gram: np.ndarray
    factor: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Game:
    """Contrasts (n, q) and differences (n,) of one row, those of the full subset included."""

    rows: np.ndarray
    answers: np.ndarray

    def tried(self, shape: np.ndarray, total: float, ratio: float) -> Tried:
        """Return θ with this total, divided like `shape`, and its evidence; −∞ where K + λ is not positive."""
        theta = np.minimum(total * shape / shape.sum(), LARGEST_THETA)
        return self._tried(theta, total, ratio, kernel(self.rows, self.rows, theta))

    def with_noise(self, tried: Tried, ratio: float) -> Tried:
        """Return the same θ with another noise."""
        return self._tried(tried.theta, tried.total, ratio, tried.gram)

    def _tried(self, theta: np.ndarray, total: float, ratio: float, gram: np.ndarray) -> Tried:
        noise, count = ratio * float(gram[0, 0]), len(self.answers)
        system = gram.copy()
        system.flat[:: count + 1] += noise
        factor, failed = lapack.dpotrf(system, lower=1)
        if failed:
            return Tried(theta, total, noise, ratio, -np.inf, gram)
        solved, _ = lapack.dtrtrs(factor, self.answers, lower=1)
        scale = max(float(solved @ solved) / count, 1e-300)
        likelihood = -0.5 * (count * np.log(scale) + 2 * float(np.log(np.diagonal(factor)).sum()))
        return Tried(theta, total, noise, ratio, likelihood, gram, factor)

    def shapes(self, tried: Tried) -> list[np.ndarray]:
        """Return shapes of θ that follow the row's own values; none if there are no values."""
        if tried.factor is None:
            return []
        values = np.abs(self._rough(tried.theta) @ cho_solve((tried.factor, True), self.answers))
        size = float(np.sqrt(np.mean(values**2)))
        return [(values / size) ** power + floor for power, floor in SHAPES] if 0 < size < np.inf else []

    def _rough(self, theta: np.ndarray) -> np.ndarray:
        """Return Cov(ξ_k, d) (q, n), by few nodes."""
        total, own = np.zeros(self.rows.shape), theta * self.rows
        for node, share in zip(ROUGH_NODES, ROUGH_SHARES, strict=True):
            for sign in (node, -node):
                sums = np.log1p(-((node * theta) ** 2)).sum() / 2 + self.rows @ np.arctanh(sign * theta)
                total += 0.5 * share * np.exp(sums)[:, None] / (1 + sign * own)
        return np.asarray((total * own).T)


def _evidence(tried: Tried) -> float:
    return tried.evidence
