"""python -m benchmarks.table_job [--rows N …] [--out FOLDER]: measure what a table costs beyond its model.

Milliseconds a row are of processor time, at 30 columns and 200 queries, beside `explain_batch`; the model is a product
of matrices. Memory is the peak of a separate process. Where shap is installed, the importance of columns over 80 rows
is compared with that of its explainers and of exact values, for the same queries of the model.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.machine import RESULTS, record

COLUMNS, QUERIES = 30, 200
# Rows over which a mean is taken, and budgets of a row.
IMPORTANCE_ROWS, BUDGETS = 80, (100, 200)
GOAL = {"milliseconds a row": 4, "rows in 10 minutes": 10_000}

Model = Callable[[np.ndarray], np.ndarray]


def main() -> None:
    """Run the measurements and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job is not None:
        print(json.dumps(job(options.job)))
        return
    results: dict[str, Any] = {
        "goal": GOAL,
        f"{COLUMNS} columns, {QUERIES} queries, processor milliseconds a row beyond the model": per_row(),
        "whole jobs": {f"{rows:,} rows": _in_a_process(rows) for rows in options.rows},
    }
    try:
        import shap
    except ImportError:
        print("shap is not installed: no importances", file=sys.stderr)
    else:
        name = f"relative error of the importance over {IMPORTANCE_ROWS} rows, shap {shap.__version__}"
        results[name] = dict(importances())
    print(record("table_job", results, options.out).read_text())


def cheap_model(seed: int = 0) -> Model:
    """Return a smooth model with interactions."""
    rng = np.random.default_rng(seed)
    inner, outer = rng.normal(size=(COLUMNS, 8)) / COLUMNS**0.5, rng.normal(size=8)
    return lambda z: np.tanh(z @ inner) @ outer


def per_row(rows: int = 200, repeats: int = 3) -> dict[str, float]:
    """Return processor milliseconds of a row: the table without the rows that teach, and `explain_batch`."""
    model, table = cheap_model(), np.random.default_rng(1).normal(size=(rows + 20, COLUMNS))
    queries = np.random.default_rng(2).normal(size=(512, COLUMNS))
    bare = _seconds(lambda: [model(queries) for _ in range(100)]) / (100 * 512) * QUERIES
    found: dict[str, list[float]] = {"explain_table": [], "explain_batch": []}
    for _ in range(repeats):
        first = _seconds(lambda: geex.explain_table(model, table[:20], queries=QUERIES, progress=False))
        whole = _seconds(lambda: geex.explain_table(model, table, queries=QUERIES, progress=False))
        batch = _seconds(lambda: geex.explain_batch(model, table[:40], queries=QUERIES, progress=False))
        found["explain_table"].append((whole - first) / rows - bare)
        found["explain_batch"].append(batch / 40 - bare)
    return {name: round(1e3 * statistics.median(seconds), 2) for name, seconds in found.items()}


def job(rows: int) -> dict[str, float]:
    """Return seconds and peak megabytes of a job; with no rows, of the imports and one call of the model."""
    model, table = cheap_model(), np.random.default_rng(1).normal(size=(max(rows, 1), COLUMNS))
    start = time.perf_counter()
    if rows:
        geex.explain_table(model, table, queries=QUERIES, progress=False)
    else:
        model(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": round(time.perf_counter() - start, 1), "peak megabytes": round(peak, 1)}


def _in_a_process(rows: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.table_job", "--job", str(rows)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(output.splitlines()[-1]))


def importances() -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the relative errors of importances, by model and budget."""
    for name, model, exact, rows, baseline in models():
        truth = np.abs(exact(rows)).mean(axis=0)
        for budget in BUDGETS:
            found = geex.explain_table(model, rows, baseline=baseline, queries=budget, progress=False)
            ours = found.importance()
            by_name = dict(zip(ours.columns, ours.values, strict=True))
            values = {"ours": np.array([by_name[column] for column in found.columns])}
            values |= {rival: np.abs(own).mean(axis=0) for rival, own in rivals(model, rows, baseline, budget)}
            norm = float(np.linalg.norm(truth))
            yield (
                f"{name}, {budget} queries",
                {who: round(float(np.linalg.norm(own - truth)) / norm, 5) for who, own in values.items()},
            )


def models() -> Iterator[tuple[str, Model, Callable[[np.ndarray], np.ndarray], np.ndarray, np.ndarray]]:
    """Yield trees on real data, which `importance` was not developed on, with exact values by TreeExplainer."""
    import shap
    from sklearn import datasets
    from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor

    made = {
        "boosting on diabetes": (GradientBoostingRegressor(random_state=0), datasets.load_diabetes(return_X_y=True)),
        "forest on wine": (RandomForestRegressor(50, random_state=0), datasets.load_wine(return_X_y=True)),
        "extra trees on digits": (ExtraTreesRegressor(30, random_state=0), datasets.load_digits(return_X_y=True)),
        "forest on cancer": (RandomForestRegressor(50, random_state=1), datasets.load_breast_cancer(return_X_y=True)),
        "boosting on 30 columns": (
            GradientBoostingRegressor(max_depth=5, random_state=1),
            datasets.make_regression(600, COLUMNS, n_informative=12, random_state=1),
        ),
    }
    for name, (model, (inputs, targets)) in made.items():
        model.fit(inputs, targets)
        baseline = inputs.mean(axis=0)
        rows = inputs[np.random.default_rng(11).choice(len(inputs), IMPORTANCE_ROWS, replace=False)]
        trees = shap.TreeExplainer(model, baseline[None], feature_perturbation="interventional")
        yield name, model.predict, trees.shap_values, rows, baseline


def rivals(model: Model, rows: np.ndarray, baseline: np.ndarray, budget: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the values of shap's explainers, for as many queries of a row."""
    import shap

    if budget >= 2 * rows.shape[1] + 1:
        masker = shap.maskers.Independent(baseline[None])
        explainer = shap.PermutationExplainer(model, masker, seed=0)
        yield "permutation", np.stack([explainer(x[None], max_evals=budget, silent=True).values[0] for x in rows])
    np.random.seed(0)  # noqa: NPY002 - shap draws from the global state
    explainer = shap.KernelExplainer(model, baseline[None])
    yield "kernel", explainer.shap_values(rows, nsamples=budget - 2, l1_reg=0, silent=True)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
