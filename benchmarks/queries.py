"""python -m benchmarks.queries: quality against the number of queries, on the grey images.

Deletion AOPC of the softmax probability, by 8 pixels, replaced by the baseline or by Gaussian noise, for our
regression, the paper's GEEX at both readings of σ, RISE and LIME, at budgets of 100 to 5000 counted queries, and IG as
the white-box line. Differences are paired over images. What was measured is not measured again.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from tqdm import tqdm

import geex
from benchmarks.machine import RESULTS, record
from benchmarks.paper.cases import CaseSet, digest
from benchmarks.paper.contenders import BlackBox, Contender, IntegratedGradients
from benchmarks.paper.grey import cases
from benchmarks.paper.measure import Piece
from benchmarks.paper.reference import REPLACEMENTS
from benchmarks.paper.results import Results
from benchmarks.paper.settings import FASHION, MNIST, Setting
from benchmarks.train import load
from geex.evaluate import paired, summary
from geex.methods import Method

BUDGETS = (100, 200, 500, 1000, 2000, 5000)
METHODS: dict[str, Method] = {
    "regression": geex.Regression(geex.Presence(alpha=0.5)),
    "GEEX, σ 0.5": geex.GEEX(0.5),
    "GEEX, σ 1": geex.GEEX(1.0),
    "RISE": geex.RISE(),
    "LIME": geex.LIME(),
}
IG = Contender("IG", "IG", "IG", IntegratedGradients(300))
COLORS = ("#D55E00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7")


def main() -> None:
    """Measures, and writes the results and the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("out/queries"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = Results(options.out)
    found = {setting.name: measured(setting, options.images, results) for setting in (FASHION, MNIST)}
    record("queries", {"images": options.images, "step": 8, "data": found}, RESULTS)
    draw(found, Path("docs/pictures/quality.png"))
    print(json.dumps(found, indent=1, ensure_ascii=False))


def measured(setting: Setting, images: int, results: Results) -> dict[str, Any]:
    """AOPC of every method and budget, and how each compares with GEEX at 5000 queries."""
    setting = replace(setting, images=images, step=8)
    network = load(setting.name)
    home = CaseSet(setting, network, digest(network), cases(setting, network, None, "cpu"), threads=1)
    table = {key: scores(home, contender, results) for key, contender in entrants().items()}
    best = max((name for name in METHODS if name.startswith("GEEX")), key=lambda name: _mean(table[f"{name} at 5000"]))
    lines = {}
    for key, columns in table.items():
        lines[key] = {name: _compared(column, table[f"{best} at 5000"][name]) for name, column in columns.items()}
    return {"compared with": f"{best} at 5000", "aopc": lines}


def entrants() -> dict[str, Contender]:
    """Every method at every budget, and IG."""
    found = {}
    for name, method in METHODS.items():
        for budget in BUDGETS:
            key = f"{name} at {budget}"
            found[key] = Contender(key, key, None, BlackBox(method, budget))
    return {**found, "IG": IG}


def scores(home: CaseSet, contender: Contender, results: Results) -> dict[str, list[float]]:
    """AOPC of every case, for each replacement."""
    found = []
    for case in tqdm(home.cases, desc=f"{home.data} {contender.key}", leave=False):
        piece = Piece(home, replace(case, shown="no"), contender)
        if not piece.done(results):
            piece.measure(results)
        found.append(results.known[piece.keys[0]]["aopc"])
    return {replacement: [aopc[replacement] for aopc in found] for replacement in REPLACEMENTS}


def draw(found: dict[str, Any], path: Path) -> None:
    """AOPC against queries, log axis: a panel for each data set and replacement."""
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    for row, (data, table) in zip(panels, found.items(), strict=True):
        for panel, replacement in zip(row, REPLACEMENTS, strict=True):
            for color, name in zip(COLORS, METHODS, strict=True):
                cells = [table["aopc"][f"{name} at {budget}"][replacement] for budget in BUDGETS]
                means, errors = (np.array([cell[key] for cell in cells]) for key in ("mean", "stderr"))
                panel.plot(BUDGETS, means, marker="o", color=color, label=name)
                panel.fill_between(BUDGETS, means - errors, means + errors, color=color, alpha=0.12)
            panel.axhline(
                table["aopc"]["IG"][replacement]["mean"], color="black", linestyle="--", label="IG (white box)"
            )
            panel.set(xscale="log", title=f"{data}, replaced by {replacement}", xlabel="queries", ylabel="AOPC")
            panel.grid(alpha=0.3)
    panels[0, 0].legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _mean(columns: dict[str, list[float]]) -> float:
    return float(np.mean([np.mean(column) for column in columns.values()]))


def _compared(ours: list[float], reference: list[float]) -> dict[str, Any]:
    own, difference = summary(ours), paired(ours, reference)
    return {
        "mean": round(own.mean, 4),
        "stderr": round(own.stderr, 4),
        "difference": round(difference.mean, 4),
        "interval": [round(end, 4) for end in difference.interval],
    }


if __name__ == "__main__":
    main()
