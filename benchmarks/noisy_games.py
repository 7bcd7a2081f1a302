"""Games with noisy answers and exact Shapley and Banzhaf values, for benchmarks.coverage_noise.

    f(S) = g(Σ_{k∈S} w_k),   w_k whole numbers

The sum over a random subset has a distribution on whole numbers, so values are sums, for any number of players:

    ξ_k = ∫_0^1 E[f(S ∪ k) − f(S)] dt,   every other player in S with probability t;   Banzhaf: t = ½
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

Mean = Callable[[np.ndarray], np.ndarray]

# Nodes of the integral over t: exact for polynomials of degree 127, more than players.
NODES = 64


@dataclass(frozen=True)
class Game:
    """Weights (q,), the mean answer as a function of their sum, and whether answers are probabilities."""

    weights: np.ndarray
    mean: Mean

    def worth(self, rows: np.ndarray) -> np.ndarray:
        """Return f (n,) of masks (n, q)."""
        return self.mean(rows @ self.weights)

    def shapley(self) -> np.ndarray:
        nodes, shares = (0.5 * part for part in (leggauss(NODES)[0] + 1, leggauss(NODES)[1]))
        return np.asarray(sum(share * self._marginals(node) for node, share in zip(nodes, shares, strict=True)))

    def banzhaf(self) -> np.ndarray:
        return self._marginals(0.5)

    def _marginals(self, t: float) -> np.ndarray:
        """Return E[f(S ∪ k) − f(S)] for every player k (q,), others in S with probability t."""
        low = int(np.minimum(self.weights, 0).sum())
        sums = np.arange(low, int(np.maximum(self.weights, 0).sum()) + 1)
        found = np.zeros(len(self.weights))
        for weight in np.unique(self.weights):
            player = int(np.flatnonzero(self.weights == weight)[0])
            chances = np.zeros(len(sums))
            chances[-low] = 1.0
            for other in np.delete(self.weights, player):
                chances = (1 - t) * chances + t * np.roll(chances, int(other))
            found[self.weights == weight] = chances @ (self.mean(sums + weight) - self.mean(sums))
        return found


def game(players: int, seed: int, kind: str) -> Game:
    """Return a game: "logistic" or "bent", between 0.05 and 0.95."""
    weights = np.random.default_rng((players, seed)).integers(-2, 7, players)
    total, scale = weights.sum(), np.sqrt(np.sum(weights**2.0))
    if kind == "logistic":
        return Game(weights, lambda sums: 0.05 + 0.9 / (1 + np.exp(-4 * (sums - 0.5 * total) / scale)))
    return Game(weights, lambda sums: 0.05 + 0.9 * (1 - np.exp(-1.5 * np.clip(sums, 0, None) / total)))


@dataclass
class Noisy:
    """A model of masks with noise: "votes", "gauss", or "uneven", whose noise depends on the input."""

    game: Game
    noise: str
    rng: np.random.Generator
    rows: int = 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.rows += len(rows)
        worth = self.game.worth(np.asarray(rows))
        if self.noise == "votes":
            return (self.rng.random(len(rows)) < worth) * 1.0
        deviation = 0.2 if self.noise == "gauss" else 0.05 + 0.5 * worth**2
        return worth + deviation * self.rng.normal(size=len(rows))
