"""python -m benchmarks.findings: measure the errors of what is called a finding, over many seeds.

Two models of p features: pure noise, where every value is 0, and tanh of a sum over six of them, where the values are
known. For each method and budget: the share of runs with one or more mistakes in `explanation.signs()`, the share of
the six that are found, the share of runs in which all simultaneous intervals hold, and the share of runs with one or
more mistakes in `explanation.top(3)`, also after `stop=geex.Top(3)`. All levels are 95%. Of
pictures: how often the interval of the part that a report shows misses.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import factorial
from typing import Any

import numpy as np
from tqdm import tqdm

import geex
from benchmarks.machine import RESULTS, record
from geex._protocols import Method
from geex.plot.view import scene
from geex.report.region import largest

RUNS = 500
# Of GEEX's noise.
SIGMA = 0.3
# Of simulated pictures: their side, values in standard errors, and the 95% quantile.
SIDE = 20
# Runs with more features are not repeated with a stop rule.
MANY = 1000
# How many of the largest features are asked for.
K = 3
# The third largest is well apart from the fourth.
SIX = np.array([1.2, 1.0, 0.8, 0.55, 0.5, 0.3])
# The third largest is nearly as large as the fourth.
CLOSE = np.array([1.0, 0.8, 0.61, 0.6, 0.3, 0.1])


@dataclass(frozen=True)
class Case:
    """A method on p features: weights of the first ones (none: pure noise), and the budget."""

    method: str
    features: int
    queries: int
    weights: tuple[float, ...] = ()
    noise: float = 0.0

    @property
    def name(self) -> str:
        """What a table calls the case."""
        kind = "noise" if not self.weights else "close" if self.weights == tuple(CLOSE) else "sparse"
        shaken = ", noisy answers" if self.weights and self.noise else ""
        return f"{self.method}, {kind}{shaken}, {self.features} features, {self.queries} queries"


def methods() -> dict[str, Method]:
    """Return the methods by name."""
    return {
        "Shapley": geex.Shapley(),
        "Regression": geex.Regression(),
        "Presence": geex.Presence(alpha=0.5),
        "GEEX": geex.GEEX(SIGMA),
    }


def cases() -> list[Case]:
    """Return all cases."""
    found = []
    for method in methods():
        found.append(Case(method, 20, 200, noise=1.0))
        found.append(Case(method, 20, 200, tuple(SIX)))
        found.append(Case(method, 20, 400, tuple(CLOSE)))
        queries = 200 if method == "Shapley" else 600
        found.append(Case(method, 60, queries, noise=1.0))
        found.append(Case(method, 60, queries, tuple(SIX)))
        found.append(Case(method, 60, queries, tuple(SIX), noise=0.1))
    long = Case("Presence", 20, 6000, tuple(SIX))  # most runs end before the budget
    return [*found, long, Case("Shapley", 2048, 999, noise=1.0)]


def model_of(case: Case, seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return the model of one run: its noise has a seed of its own."""
    stream, weights = np.random.default_rng([seed, 7]), np.array(case.weights)

    def model(z: np.ndarray) -> np.ndarray:
        own = np.tanh(z[:, : len(weights)] @ weights) if case.weights else np.zeros(len(z))
        return np.asarray(own + case.noise * stream.normal(size=len(z)))

    return model


def truth(case: Case) -> np.ndarray:
    """Return the true values (p,), exactly."""
    found, weights = np.zeros(case.features), np.array(case.weights)
    if not case.weights:
        return found
    if case.method == "GEEX":
        spread = SIGMA * float(np.linalg.norm(weights))
        found[: len(weights)] = weights / weights.sum() * _blurred(float(weights.sum()), spread)
        return found
    count = len(weights)
    for shown in product((0, 1), repeat=count):
        size, answer = sum(shown), float(np.tanh(np.array(shown) @ weights))
        for k in range(count):
            others = size - shown[k]
            share = factorial(others) * factorial(count - 1 - others) / factorial(count)
            found[k] += (2 * shown[k] - 1) * answer * (share if case.method == "Shapley" else 0.5 ** (count - 1))
    return found


def _blurred(total: float, spread: float) -> float:
    """E tanh(total + ε) − E tanh(ε)."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(80)
    return float(np.sum(shares * np.tanh(total + spread * nodes)) / shares.sum())


def measured(case: Case, runs: int) -> dict[str, float]:
    """Return what happened in `runs` runs, as shares of them."""
    true = truth(case)
    rows = [_run(case, seed, true) for seed in range(runs)]
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]}


def _run(case: Case, seed: int, true: np.ndarray) -> dict[str, float]:
    settings: dict[str, Any] = {"method": methods()[case.method], "seed": seed, "progress": False}
    x = np.ones(case.features)
    found = geex.explain(model_of(case, seed), x, queries=case.queries, **settings)
    signs, (low, high) = found.signs(), found.interval(simultaneous=True)
    singly = found.interval()
    rounding = 1e-9 * np.abs(true).max()
    row = {
        "mistaken signs": float(np.any((signs != 0) & (signs != np.sign(true)))),
        "mistakes without correction": float(np.any(((singly[0] > 0) | (singly[1] < 0)) & (true == 0))),
        "all intervals hold": float(np.all((low - rounding <= true) & (true <= high + rounding))),
        "mistaken top": float(mistaken(found.top(K), true)),
        "decided": float(np.mean(~found.top(K).undecided)),
    }
    if case.weights:
        row["found"] = float(np.mean(signs[: len(case.weights)] != 0))
    if case.features > MANY:
        return row
    stopped = geex.explain(model_of(case, seed), x, queries=case.queries, stop=geex.Top(K), **settings)
    return row | {
        "ended by Top": float(bool(stopped.ended)),
        "mistaken after Top": float(mistaken(stopped.top(K), true)),
        "queries with Top": float(stopped.queries),
    }


def mistaken(top: geex.TopFeatures, true: np.ndarray) -> bool:
    """Return whether a statement is wrong. Where values are equal at the border, each statement counts as wrong."""
    size = np.sort(np.abs(true))[::-1]
    inside, outside = np.abs(true) > size[top.k], np.abs(true) < size[top.k - 1]
    signs = (top.signs != 0) & (top.signs != np.sign(true))
    return bool(np.any(top.inside & ~inside) or np.any(top.outside & ~outside) or np.any(signs))


def parts(runs: int) -> dict[str, float]:
    """Return how often a report shows a ninth of a picture, and how often its interval misses, for a linear model."""
    weights = np.random.default_rng(11).normal(0.02, 0.3, (SIDE, SIDE))
    shown, missed = 0, 0
    for seed in range(runs):
        model, x = (lambda z: (z * weights).sum((1, 2))), np.ones((SIDE, SIDE))
        found = geex.explain(model, x, method=geex.Presence(), queries=400, seed=seed, progress=False)
        part = largest(scene(found))[0]
        if part is not None:
            shown += 1
            missed += not part.low <= weights.ravel()[part.features].sum() <= part.high
    return {"shown": shown / runs, "missed": missed / runs}


def main() -> None:
    """Measure, and write the results: those of cases that were measured before stay."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--missing", action="store_true", help="leave out cases that were measured before")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "findings.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"cases": {}}
    before = found["cases"] if found.get("runs") == options.runs else {}
    chosen = [case for case in cases() if options.only in case.name]
    chosen_parts = found.get("parts") if options.missing and before else None
    if chosen_parts is None:
        chosen_parts = parts(options.runs)
    for case in tqdm([case for case in chosen if not (options.missing and case.name in before)]):
        before[case.name] = measured(case, options.runs)
        tqdm.write(f"{case.name}: {before[case.name]}")
        record("findings", {"runs": options.runs, "level": 0.95, "parts": chosen_parts, "cases": before})


if __name__ == "__main__":
    main()
