"""Errors of models and budgets, and what issues of being behind are counted: against the best rival picked afterwards.

The error of a model is Σ |ξ̂ − ξ|² / Σ |ξ|² over its rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.tables.cells import Key
from benchmarks.tables.entrants import ENTRANTS

# Squared errors below this count as exact.
LEAST = 1e-10
# How far behind the best of all rivals, and behind a single one, counts as a loss.
BEHIND, CLEARLY = 1.5, 1.05

Errors = dict[tuple[str, int, str], float]


@dataclass(frozen=True)
class Standing:
    """Ours over the best rival's error (median over models), and the models in which we are far behind."""

    median: float
    lost: tuple[str, ...]
    models: int


def errors(cells: dict[Key, dict[str, Any]]) -> Errors:
    """Return the error of every model, budget and entrant that ran on all rows."""
    found: dict[tuple[str, int, str], list[tuple[float, float] | None]] = {}
    for (model, _, budget, entrant), cell in cells.items():
        own = None if cell["error"] is None else (cell["error"], cell["norm"])
        found.setdefault((model, budget, entrant), []).append(own)
    return {
        key: max(LEAST, sum(pair[0] for pair in pairs if pair) / sum(pair[1] for pair in pairs if pair))
        for key, pairs in found.items()
        if all(pairs)
    }


def standing(found: Errors, models: list[str], budget: int, rivals: list[str] | None = None) -> Standing:
    """Return how ours stands against the best of the rivals; all of them by default."""
    ratios = {}
    for model in models:
        others = [found.get((model, budget, key)) for key in (rivals or list(ENTRANTS)) if key != "ours"]
        ran = [error for error in others if error is not None]
        if ran and (model, budget, "ours") in found:
            ratios[model] = found[model, budget, "ours"] / min(ran)
    lost = tuple(f"{model} ({ratio:.2g})" for model, ratio in ratios.items() if ratio > BEHIND)
    return Standing(float(np.median(list(ratios.values()))) if ratios else float("nan"), lost, len(ratios))


def behind(found: Errors, models: list[str], budgets: tuple[int, ...], rival: str) -> tuple[int, int]:
    """Return in how many cells of a model and a budget ours is clearly behind a rival, and of how many."""
    pairs = [
        (found[model, budget, "ours"], found[model, budget, rival])
        for model in models
        for budget in budgets
        if (model, budget, "ours") in found and (model, budget, rival) in found
    ]
    return sum(own > CLEARLY * other for own, other in pairs), len(pairs)


def coverage(cells: dict[Key, dict[str, Any]], models: list[str], budget: int, few: bool | None = None) -> list[float]:
    """Return the mean coverage of columns, of the largest fifth and of regions.

    few: only models with fewer (or at least) two queries a column; None takes all.
    """
    rows = [
        cell["held"]
        for (model, _, own, entrant), cell in cells.items()
        if entrant == "ours" and own == budget and model in models and (few is None or few == (budget < 2 * cell["q"]))
    ]
    return np.mean(rows, axis=0).tolist() if rows else []
