"""Games with closed forms: votes, ANDs, maxima, parities, sums of unanimity games."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.tables import exact
from benchmarks.tables.cases import Case, Setting

Make = Callable[[np.random.Generator], tuple[exact.Game, np.ndarray, np.ndarray | None]]


def _vote(q: int, most: int) -> Make:
    """Return a vote of q columns with weights up to `most`: is more than half of the weight shown?"""

    def make(rng: np.random.Generator) -> tuple[exact.Game, np.ndarray, None]:
        weights = rng.integers(1, most + 1, q)
        quota = int(weights.sum()) // 2 + 1
        return lambda masks: (masks @ weights >= quota) * 1.0, exact.by_votes(weights, quota), None

    return make


def _unanimity(q: int, terms: int, low: int, high: int) -> Make:
    """Return a sum of ANDs of `low` to `high` of q columns, with coefficients from −1 to 1."""

    def make(rng: np.random.Generator) -> tuple[exact.Game, np.ndarray, np.ndarray]:
        coefficients = rng.uniform(-1, 1, terms) if terms > 1 else np.ones(1)
        members = np.zeros((terms, q))
        for own in members:
            own[rng.choice(q, rng.integers(low, high + 1), replace=False)] = 1

        def game(masks: np.ndarray) -> np.ndarray:
            return np.asarray(((1 - masks) @ members.T < 0.5) @ coefficients)

        return game, exact.by_unanimity(coefficients, members), exact.pairs_by_unanimity(coefficients, members)

    return make


def _sparse(q: int, some: int, pairs: int) -> Make:
    """Return a game in which `some` of q columns matter, alone and in `pairs` of them."""

    def make(rng: np.random.Generator) -> tuple[exact.Game, np.ndarray, np.ndarray]:
        chosen = rng.choice(q, some, replace=False)
        members = np.zeros((some + pairs, q))
        members[np.arange(some), chosen] = 1
        for own in members[some:]:
            own[rng.choice(chosen, 2, replace=False)] = 1
        coefficients = rng.normal(size=some + pairs)
        return (
            lambda masks: np.asarray(((1 - masks) @ members.T < 0.5) @ coefficients),
            exact.by_unanimity(coefficients, members),
            exact.pairs_by_unanimity(coefficients, members),
        )

    return make


def _maximum(q: int) -> Make:
    def make(rng: np.random.Generator) -> tuple[exact.Game, np.ndarray, None]:
        weights = rng.uniform(0, 1, q)
        return lambda masks: np.max(masks * weights, axis=1), exact.by_maximum(weights), None

    return make


def _parity(q: int, size: int) -> Make:
    """Return a parity of `size` columns beside a small sum of all q."""

    def make(rng: np.random.Generator) -> tuple[exact.Game, np.ndarray, None]:
        members = np.vstack([np.eye(q), np.zeros(q)])
        members[-1, rng.choice(q, size, replace=False)] = 1
        coefficients = np.append(rng.normal(scale=0.05, size=q), 1.0)

        def game(masks: np.ndarray) -> np.ndarray:
            signs = 2 * masks - 1
            return np.asarray(signs @ coefficients[:-1] + np.where(members[-1] > 0, signs, 1).prod(axis=1))

        return game, exact.by_parities(coefficients, members), None

    return make


def _setting(name: str, developed: bool, make: Make) -> Setting:
    def cases(count: int) -> Iterator[Case]:
        for seed in range(count):
            game, values, pairs = make(np.random.default_rng([seed, sum(map(ord, name))]))
            yield Case(game, values, seed, pairs)

    return Setting(name, developed, cases)


GAMES = (
    _setting("vote, 21 columns", True, _vote(21, 1)),
    _setting("weighted vote, 40 columns", False, _vote(40, 9)),
    _setting("AND of 5, 20 columns", True, _unanimity(20, 1, 5, 5)),
    _setting("six ANDs of 2 to 6, 40 columns", False, _unanimity(40, 6, 2, 6)),
    _setting("maximum, 24 columns", True, _maximum(24)),
    _setting("maximum, 60 columns", False, _maximum(60)),
    _setting("XOR of 3, 12 columns", True, _parity(12, 3)),
    _setting("XOR of 5, 20 columns", False, _parity(20, 5)),
    _setting("sum of 50 unanimity games, 15 columns", True, _unanimity(15, 50, 1, 15)),
    _setting("sum of 100 unanimity games, 30 columns", False, _unanimity(30, 100, 1, 8)),
    _setting("sparse game, 12 of 500 columns", True, _sparse(500, 12, 10)),
    _setting("sparse game, 20 of 200 columns", False, _sparse(200, 20, 20)),
)
