"""The straight path from baseline to explicand, and the positions of queries on it.

    x(α) = x̊ + α (x − x̊),   0 ≤ α ≤ 1

Positions come in rounds that cover the path evenly. Two consecutive units, 2c and 2c+1, lie in neighbouring strata:
their difference is almost pure noise, from which the standard error is estimated. The pairs of a round are in
golden-ratio order, so that every prefix of a run is spread evenly too.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from geex._arrays.arrays import Array, namespace
from geex._stored_names import stored

# The golden ratio: its multiples modulo 1 spread most evenly for every count.
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def on_path(explicand: Array, baseline: Array, alpha: Array) -> Array:
    """Return x(α) for α of shape (u,): an array (u, *shape)."""
    xp = namespace(explicand)
    alpha = xp.reshape(alpha, (-1,) + (1,) * explicand.ndim)
    points = alpha * (explicand - baseline)[None, ...]
    points += baseline
    return points


class Positions(Protocol):
    """The position of unit i of a run on the path."""

    @property
    def round(self) -> int:
        """Units that cover the path once."""
        ...

    @property
    def whole(self) -> int:
        """Units that a run is a multiple of."""
        return 1

    def alpha(self, seed: int, first: int, count: int) -> np.ndarray:
        """Return α of the units first … first + count − 1."""
        ...


@stored("fixed position/1")
@dataclass(frozen=True)
class Fixed(Positions):
    """Every query at one position, such as the explicand itself (α = 1)."""

    at: float = 1.0
    round: int = 1

    def alpha(self, seed: int, first: int, count: int) -> np.ndarray:
        return np.full(count, self.at)


@stored("dense positions/1")
@dataclass(frozen=True)
class Dense(Positions):
    """α ~ U[0,1], one draw in each of `round` strata (an even number)."""

    round: int = 128

    def alpha(self, seed: int, first: int, count: int) -> np.ndarray:
        return _rounds(self._round, self.round, seed, first, count)

    def _round(self, rng: np.random.Generator) -> np.ndarray:
        strata = 2 * np.repeat(_golden_order(self.round // 2, rng), 2)
        side = rng.integers(2, size=self.round // 2)
        strata[0::2] += side
        strata[1::2] += 1 - side
        return (strata + rng.random(self.round)) / self.round


@stored("stepped positions/1")
@dataclass(frozen=True)
class Steps(Positions):
    """α = j/s for j = 1 … s, two units at each: the right Riemann sum of the paper's first form."""

    steps: int

    @property
    def round(self) -> int:
        return 2 * self.steps

    @property
    def whole(self) -> int:
        return self.round

    def alpha(self, seed: int, first: int, count: int) -> np.ndarray:
        return _rounds(self._round, self.round, seed, first, count)

    def _round(self, rng: np.random.Generator) -> np.ndarray:
        return np.repeat((_golden_order(self.steps, rng) + 1) / self.steps, 2)


def _golden_order(count: int, rng: np.random.Generator) -> np.ndarray:
    """Return a permutation of 0 … count − 1, every prefix of which is spread evenly."""
    spread = (rng.random() + GOLDEN * np.arange(count)) % 1.0
    return np.argsort(np.argsort(spread))


def _rounds(draw, size: int, seed: int, first: int, count: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Return units first … first + count − 1 of rounds that are each drawn from their own stream."""
    start = first // size
    stop = -(-(first + count) // size)
    rounds = [draw(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, r)))) for r in range(start, stop)]
    return np.concatenate(rounds)[first - start * size :][:count]
