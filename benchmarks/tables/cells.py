"""A cell is one row of a model, one budget and one entrant: a line of a file, so that a run can be resumed."""

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.tables.cases import Case, Setting
from benchmarks.tables.entrants import ENTRANTS, Counted

Key = tuple[str, int, int, str]


def done(path: Path) -> dict[Key, dict[str, Any]]:
    """Return the cells of a file by their keys; a half-written last line is left out."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            cell = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[(cell["model"], cell["row"], cell["budget"], cell["entrant"])] = cell
    return found


def run(settings: list[Setting], rows: int, budgets: tuple[int, ...], entrants: list[str], path: Path) -> None:
    """Append the cells to the file that it does not have."""
    finished = done(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for setting in settings:
            wanted = [(setting.name, *key) for key in product(range(rows), budgets, entrants)]
            if finished.keys() >= set(wanted):
                continue
            began = time.perf_counter()
            for row, case in enumerate(setting.cases(rows)):
                for budget, entrant in product(budgets, entrants):
                    if (setting.name, row, budget, entrant) not in finished:
                        cell = {"model": setting.name, "row": row, **measured(case, budget, entrant)}
                        file.write(json.dumps(cell) + "\n")
                file.flush()
            print(f"{setting.name}: {time.perf_counter() - began:.0f} s", flush=True)


def measured(case: Case, budget: int, entrant: str) -> dict[str, Any]:
    """Return the squared error of an entrant beside the squared norm of the values, seconds, and our coverage.

    The error is None where the entrant cannot be run: too few queries, too many columns, or its own exception.
    """
    _, explain, least, most = ENTRANTS[entrant]
    q = len(case.exact)
    cell: dict[str, Any] = {"q": q, "budget": budget, "entrant": entrant, "error": None}
    if budget < least(q) or q > most:
        return cell
    game, began = Counted(case.game), time.perf_counter()
    try:
        found = explain(game, case, budget)
    except Exception as failure:
        if entrant == "ours":
            raise
        return {**cell, "failure": type(failure).__name__}
    cell["seconds"] = round(time.perf_counter() - began, 4)
    if game.rows > budget:
        raise RuntimeError(f"{entrant} exceeded its budget of {budget} queries; it used {game.rows}.")
    values = np.asarray(found.values if isinstance(found, geex.Explanation) else found)
    cell |= {"error": float(np.sum((values - case.exact) ** 2)), "norm": float(np.sum(case.exact**2))}
    return cell | ({"held": covered(found, case)} if isinstance(found, geex.Explanation) else {})


def covered(found: geex.Explanation, case: Case) -> list[float]:
    """Return the coverage of all intervals, of those of the largest fifth, and of the sum over a random region."""
    (low, high), size = found.interval(), np.abs(case.exact)
    slack = 1e-9 * np.linalg.norm(case.exact)
    inside = (low - slack <= case.exact) & (case.exact <= high + slack)
    mask = np.random.default_rng(case.seed).random(len(size)) < 0.4
    region, true = found.region(mask), case.exact[mask].sum()
    together = region.low - slack <= true <= region.high + slack
    largest = size >= np.sort(size)[-max(1, len(size) // 5)]
    return [float(inside.mean()), float(inside[largest].mean()), float(together)]
