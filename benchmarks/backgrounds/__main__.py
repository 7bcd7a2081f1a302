"""python -m benchmarks.backgrounds: Shapley values over a background, ours and shap's, beside exact ones.

Every row that the model receives is counted. shap's explainers run with the whole background and with smaller samples
of it; the best of their settings is chosen afterwards, for each model and budget. The results are in
benchmarks/results/backgrounds.json and docs/backgrounds.md.
"""

import argparse
import json
import logging
import platform
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.backgrounds.models import MODELS, Fitted, Setting, cases
from benchmarks.machine import RESULTS, record

PAGE = Path(__file__).parents[2] / "docs" / "backgrounds.md"
SIZES = (50, 100)
BUDGETS = (500, 1000, 2000, 5000)
# Relative errors that are rounding.
LEAST = 1e-9
HEAD = """# Backgrounds

`make bench-backgrounds` writes this page, with {versions}. All numbers are in
`benchmarks/results/backgrounds.json`, for {rows} rows of each data set. An absent column has its value in each row of a
background. Budgets count every row that the model receives.

- **ours** is `geex.explain(model, x, baseline=geex.background(rows), queries=…)` with no other argument.
- shap's PermutationExplainer, KernelExplainer (with `l1_reg=0`) and SamplingExplainer run with the whole background and
  with two smaller samples of it. The best of these settings is chosen afterwards, for each model and budget.
- Exact values are TreeExplainer's for trees, and those of all subsets for other models.

Errors are divided by the norm of the exact values; they are geometric means over rows. Coverage is of nominal 95%
intervals: of all columns, of the largest fifth, and of sums over half of the columns. The process was developed on
other rows of the models with a star.
"""


class Counted:
    """A model that counts its rows, and refuses more than the budget."""

    def __init__(self, fitted: Fitted, budget: int) -> None:
        self.fitted, self.left = fitted, budget

    def __call__(self, rows: Any) -> np.ndarray:
        self.left -= len(rows)
        if self.left < 0:
            raise RuntimeError("the budget is spent")
        return np.asarray(self.fitted.score(np.asarray(rows, float)), float)


def ours(fitted: Fitted, x: np.ndarray, background: np.ndarray, budget: int, seed: int) -> geex.Explanation:
    baseline = geex.background(background)
    return geex.explain(Counted(fitted, budget), x, baseline=baseline, queries=budget, seed=seed, progress=False)


def rivals(
    fitted: Fitted, x: np.ndarray, background: np.ndarray, budget: int, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the values of shap's explainers, with samples of the background that leave enough evaluations."""
    import shap

    columns, rows = len(x), len(background)
    for size in sorted({rows, *(min(rows, max(1, budget // (share * columns))) for share in (4, 8))}):
        some = background[np.random.default_rng(seed).choice(rows, size, replace=False)]
        masks = (budget - 1) // size - 1
        if masks < 2 * columns + 2:
            continue
        masker = shap.maskers.Independent(some, max_samples=size)
        explainer = shap.PermutationExplainer(Counted(fitted, budget), masker, seed=seed)
        yield "permutation", explainer(x[None], max_evals=masks, silent=True).values[0]
        np.random.seed(seed)  # noqa: NPY002 - shap draws from the global state
        explainer = shap.KernelExplainer(Counted(fitted, budget), some)
        yield "kernel", explainer.shap_values(x, nsamples=masks - 1, l1_reg=0, silent=True)
    samples = (budget - rows - 1) // 2 - 1  # each takes two evaluations
    if samples >= 2 * columns:
        np.random.seed(seed)  # noqa: NPY002
        explainer = shap.SamplingExplainer(Counted(fitted, budget), background)
        yield "sampling", explainer.shap_values(x, nsamples=samples, silent=True)


def cell(setting: Setting, size: int, budget: int, count: int) -> dict[str, Any]:
    """Return the errors, coverage and seconds of one model, background and budget."""
    errors: dict[str, list[float]] = {}
    covered: dict[str, list[float]] = {"all": [], "top": [], "regions": []}
    seconds = []
    for fitted, x, background, seed in cases(setting, size, count):
        exact = fitted.exact(x, background)
        norm = float(np.sqrt(np.sum(exact**2)))
        start = time.perf_counter()
        found = ours(fitted, x, background, budget, seed)
        seconds.append(time.perf_counter() - start)
        for name, values in [("ours", found.values), *_affordable(rivals(fitted, x, background, budget, seed))]:
            errors.setdefault(name, []).append(float(np.linalg.norm(np.ravel(values) - exact)) / norm)
        _cover(found, exact, seed, covered)
    # of the settings of one explainer, the best; a mean over rows of each
    per_row = {name: np.reshape(own, (count, -1)) for name, own in errors.items() if len(own) % count == 0}
    means = {name: float(np.exp(np.log(np.maximum(own, 1e-12)).mean(axis=0)).min()) for name, own in per_row.items()}
    found_ = {"model": setting.name, "developed": setting.developed, "rows": size, "budget": budget}
    return found_ | {
        "errors": means,
        "coverage": {name: float(np.mean(own)) for name, own in covered.items()},
        "seconds": float(np.mean(seconds)),
    }


def _affordable(found: Iterator[tuple[str, np.ndarray]]) -> Iterator[tuple[str, np.ndarray]]:
    while True:
        try:
            yield next(found)
        except (StopIteration, RuntimeError):  # the end, or one that asks for more than the budget
            return


def _cover(found: geex.Explanation, exact: np.ndarray, seed: int, covered: dict[str, list[float]]) -> None:
    low, high = found.interval(0.95)
    rounding = LEAST * float(np.abs(exact).max())
    inside = (low <= exact + rounding) & (exact <= high + rounding)
    covered["all"] += inside.tolist()
    covered["top"] += inside[np.argsort(-np.abs(exact))[: max(1, len(exact) // 5)]].tolist()
    half = np.zeros(len(exact), bool)
    half[np.random.default_rng(seed).choice(len(exact), len(exact) // 2, replace=False)] = True
    region = found.region(half)
    covered["regions"].append(float(region.low - rounding <= exact[half].sum() <= region.high + rounding))


def _shown(error: float) -> str:
    return "exact" if error < LEAST else f"{error:.2g}"


def page(cells: list[dict[str, Any]], rows: int, versions: str) -> str:
    lines = [HEAD.format(rows=rows, versions=versions)]
    for size in SIZES:
        lines += [f"\n## {size} rows\n", "| model | queries | ours | best of shap | shap ÷ ours | coverage |"]
        lines += ["|---|---|---|---|---|---|"]
        for one in (one for one in cells if one["rows"] == size):
            best = min(((v, k) for k, v in one["errors"].items() if k != "ours"), default=None)
            mine, cover = one["errors"]["ours"], one["coverage"]
            name = one["model"] + (" *" if one["developed"] else "")
            other = "–" if best is None else f"{_shown(best[0])} ({best[1]})"
            ratio = "–" if best is None or max(best[0], mine) < LEAST else f"{best[0] / mine:.2g}"
            kinds = " / ".join(f"{100 * cover[kind]:.0f}%" for kind in ("all", "top", "regions"))
            parts = (name, one["budget"], _shown(mine), other, ratio, kinds)
            lines.append(f"| {' | '.join(map(str, parts))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--only", default="", help="models whose name contains this; the others stay as they are")
    parser.add_argument("--quick", action="store_true", help="two rows, one budget, and no page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("shap").setLevel(logging.ERROR)
    rows, budgets = (2, BUDGETS[:1]) if options.quick else (options.rows, BUDGETS)
    path = RESULTS / "backgrounds.json"
    kept = json.loads(path.read_text())["cells"] if options.only and path.exists() else []
    cells = [one for one in kept if options.only not in one["model"]]
    for setting in (one for one in MODELS if options.only in one.name):
        for size in SIZES:
            for budget in budgets:
                cells.append(cell(setting, size, budget, rows))
                print(json.dumps(cells[-1]), flush=True)
    order = {setting.name: number for number, setting in enumerate(MODELS)}
    cells.sort(key=lambda one: (order[one["model"]], one["rows"], one["budget"]))
    versions = f"Python {platform.python_version()}, shap {version('shap')}, scikit-learn {version('scikit-learn')}"
    if options.quick:
        print(page(cells, rows, versions))
        return
    PAGE.write_text(page(cells, rows, versions), encoding="utf-8")
    record("backgrounds", {"versions": versions, "rows": rows, "cells": cells})


if __name__ == "__main__":
    main()
