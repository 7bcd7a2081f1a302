"""AOPC against the number of queries, out of the results."""

from typing import Any

import numpy as np

from benchmarks.paper.cases import CaseSet
from benchmarks.paper.contenders import contenders
from benchmarks.paper.measure import CURVES, Piece
from benchmarks.paper.reference import REPLACEMENTS
from benchmarks.paper.results import Results


def curves(home: CaseSet, results: Results) -> dict[str, Any]:
    """Means and standard errors over the cases that have every budget, and IG's mean over the same cases."""
    known = {row.key: row for row in contenders(home.setting)}
    pieces = {name: [Piece(home, case, known[name], home.setting.budgets) for case in home.cases] for name in CURVES}
    ig = {case.name: Piece(home, case, known["ig"]) for case in home.cases}
    whole = [
        place
        for place, case in enumerate(home.cases)
        if all(_in(pieces[name][place], results) for name in CURVES) and _in(ig[case.name], results)
    ]
    if not whole:
        return {}
    names = [home.cases[place].name for place in whole]
    found: dict[str, Any] = {"data": home.data, "images": names, "budgets": list(home.setting.budgets)}
    found["ig"] = _means([[results.known[ig[name].keys[0]]] for name in names])
    for method in CURVES:
        rows = [[results.known[key] for key in pieces[method][place].keys] for place in whole]
        found[method] = {"title": known[method].title, **_means(rows)}
    return found


def _in(piece: Piece, results: Results) -> bool:
    return all(key in results.known for key in piece.keys)


def _means(rows: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Rows (cases, budgets) of results -> for each replacement, mean and standard error for each budget."""
    found = {}
    for replacement in REPLACEMENTS:
        table = np.array([[result["aopc"][replacement] for result in row] for row in rows])
        spread = table.std(axis=0, ddof=1) / len(table) ** 0.5 if len(table) > 1 else np.zeros(table.shape[1])
        found[replacement] = {"mean": table.mean(axis=0).round(4).tolist(), "stderr": spread.round(4).tolist()}
    return found
