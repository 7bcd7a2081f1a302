"""python -m benchmarks.coverage_noise: intervals and costs where the answers of a model are random.

Games have exact Shapley and Banzhaf values (benchmarks.noisy_games). Answers are votes, or have Gaussian noise,
or noise that depends on the input. A nominal 95% interval covers if it contains the exact value: of all features, of
the fifth with the largest values, of the sum over that fifth, and of the sum over every other feature. Games of other
weights, all of them logistic, were used while the code was written.

The second table compares the stated variance with that for fixed numbers of repeats of f(x) and f(x̊).
Variances fall as one over the queries, so their ratio is the ratio of queries for the same error.
"""

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import geex
from benchmarks.machine import record
from benchmarks.noisy_games import Game, Noisy, game
from geex._explain.repeats import Repeating
from geex._protocols import Method

NOISES = ("votes", "gauss", "uneven")
PLAYERS = (12, 30, 60)
# The runs of a cell for every budget: longer runs take more time.
RUNS = {200: 80, 1000: 40, 3000: 16}
# Games that were not used while the code was written: seeds of their weights, and shapes.
GAMES = ((101, "logistic"), (102, "bent"))
FIXED = (0, 8, 32, 128)
OTHERS: dict[str, Method] = {
    "Regression(complete=True), 3 rows": geex.Regression(complete=True),
    "Regression()": geex.Regression(),
    "Presence()": geex.Presence(),
    "Presence(0.5)": geex.Presence(alpha=0.5),
}


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the runs of every cell")
    share = parser.parse_args().share
    warnings.simplefilter("ignore", geex.errors.UnsteadyModel)
    found: dict[str, Any] = {"runs": {str(n): _runs(n, share) for n in RUNS}, "coverage": {}, "others": {}, "cost": {}}
    for queries in RUNS:
        for players in PLAYERS:
            for noise in NOISES:
                name = f"{noise}, {players} features, {queries} queries"
                found["coverage"][name] = cell(geex.Shapley(), players, noise, queries, _runs(queries, share))
                print(name, found["coverage"][name], flush=True)
                record("coverage_noise", found)
    for name, method in OTHERS.items():
        for noise in NOISES:
            found["others"][f"{name}, {noise}"] = cell(method, 12, noise, 1000, _runs(1000, share))
            print(name, noise, found["others"][f"{name}, {noise}"], flush=True)
    found["others"] |= {
        f"exact, 6 features, 66 queries, {noise}": cell(geex.Shapley(), 6, noise, 66, 2 * _runs(200, share))
        for noise in NOISES
    }
    for players in (12, 30):
        for noise in NOISES:
            found["cost"][f"{noise}, {players} features"] = cost(players, noise, 1000, max(2, _runs(1000, share) // 4))
    print(record("coverage_noise", found).read_text())


def _runs(queries: int, share: float) -> int:
    return max(2, round(share * RUNS[queries]))


def cell(method: Method, players: int, noise: str, queries: int, runs: int) -> dict[str, float]:
    """Return coverage, root mean square errors, and the number of answers for x and x̊, as means over runs."""
    rows = [_one(method, one, noise, queries, seed) for one in _games(players) for seed in range(runs // len(GAMES))]
    found = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    found |= {name: found[name] ** 0.5 for name in found if name.startswith("error")}
    return {name: round(value, 4) for name, value in found.items()}


def _games(players: int) -> list[Game]:
    return [game(players, seed, kind) for seed, kind in GAMES]


def _one(method: Method, one: Game, noise: str, queries: int, seed: int) -> dict[str, float]:
    banzhaf = method in (geex.Regression(), geex.Presence(alpha=0.5))
    true = one.banzhaf() if banzhaf else one.shapley()
    explanation = _explained(method, one, noise, queries, seed)
    low, high = explanation.interval()
    inside = (low <= true) & (true <= high)
    top, alternate = regions(true)
    found = {"features": inside.mean(), "top fifth": inside[top].mean()}
    found["error of features"] = np.mean((explanation.values - true) ** 2)
    found["relative error"] = float(np.linalg.norm(explanation.values - true) / np.linalg.norm(true))
    for name, mask in (("sum of top fifth", top), ("sum of every other", alternate)):
        if method == geex.Presence() or method == geex.Presence(alpha=0.5):
            continue
        region = explanation.region(mask)
        found[name] = float(region.low <= true[mask].sum() <= region.high)
    return found | {"answers for x": explanation.end_queries[0], "answers for x̊": explanation.end_queries[1]}


def _explained(method: Method, one: Game, noise: str, queries: int, seed: int) -> geex.Explanation:
    model, x = Noisy(one, noise, np.random.default_rng((seed, queries))), np.ones(len(one.weights))
    found = geex.explain(model, x, method=method, queries=queries, seed=seed, progress=False)
    assert model.rows == found.queries <= queries
    return found


def regions(true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fifth of the features with the largest values, and every other feature."""
    size = max(1, len(true) // 5)
    return np.abs(true) >= np.sort(np.abs(true))[-size], np.arange(len(true)) % 2 == 0


@contextmanager
def fixed(repeats: int | None) -> Iterator[None]:
    """Repeat f(x) and f(x̊) a fixed number of times, after the first repeats; None: as often as it pays."""
    kept = Repeating._paying
    if repeats is not None:
        Repeating._paying = lambda self, *_: [repeats] * len(self.points)  # type: ignore[method-assign]
    try:
        yield
    finally:
        Repeating._paying = kept  # type: ignore[method-assign]


def cost(players: int, noise: str, queries: int, runs: int) -> dict[str, Any]:
    """Return the variance for every number of repeats over the least of them, and the same of our own choice."""
    table = {}
    for repeats in (*FIXED, None):
        with fixed(repeats):
            rows = [
                _variances(_explained(geex.Shapley(), one, noise, queries, seed), one.shapley())
                for one in _games(players)
                for seed in range(runs)
            ]
        table[str(repeats)] = np.mean(rows, axis=0)
    least = np.min([table[str(repeats)] for repeats in FIXED], axis=0)
    names = ("features", "sum of top fifth", "sum of every other")
    return {
        "chosen" if repeats == "None" else repeats: dict(zip(names, (row / least).round(3).tolist(), strict=True))
        for repeats, row in table.items()
    }


def _variances(explanation: geex.Explanation, true: np.ndarray) -> list[float]:
    sums = [explanation.region(mask).stderr ** 2 for mask in regions(true)]
    return [float(np.mean(explanation.stderr**2)), *(float(one) for one in sums)]


if __name__ == "__main__":
    main()
