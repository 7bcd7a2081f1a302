"""python -m benchmarks.tables: compare Shapley values of tabular models, ours and the peers', with exact ones.

The models are forests and networks on scikit-learn's data. An absent column has its mean. Exact values use all subsets
up to 13 columns, and shap's TreeExplainer for forests on more. Evaluations are counted, and an entrant that exceeds its
budget raises an error. The results are in benchmarks/results/tables.json and docs/tables.md.
"""

import argparse
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn import datasets
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils import Bunch

import geex
from benchmarks.machine import record
from benchmarks.queries.peers import captum_values

PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
BUDGETS = (50, 100, 200, 500, 1000)
SMALL = 13
LEAST = 1e-9
MANY = 1000
HEAD = """# Shapley values of tables

`make bench-tables` writes this page. All numbers are in `benchmarks/results/tables.json`, for {rows} rows of each data
set. An absent column has its mean. Budgets are counted model evaluations, and – marks a budget below an entrant's
minimum.

- **ours** is `geex.explain(model, x, baseline=…)` with no other argument.
- KernelExplainer (with `l1_reg=0`, because its default drops columns), PermutationExplainer and SamplingExplainer are
  shap's. KernelShap and ShapleyValueSampling are captum's.
- Exact values use all subsets. Forests on more than 13 columns use shap's TreeExplainer.

Means over rows are geometric. The process was developed on other rows of the first six. The last two models were not
used during development.
"""


@dataclass(frozen=True)
class Case:
    """One row: the model as a function of rows, the row, the baseline, the exact values, and a seed."""

    model: Callable[[np.ndarray], np.ndarray]
    x: np.ndarray
    absent: np.ndarray
    exact: np.ndarray
    seed: int


class Counted:
    """A model that counts its rows."""

    def __init__(self, model: Callable[[np.ndarray], np.ndarray]) -> None:
        self.model, self.rows = model, 0

    def __call__(self, rows: Any) -> np.ndarray:
        self.rows += len(rows)
        return self.model(np.asarray(rows, float))


def ours(model: Counted, case: Case, queries: int) -> geex.Explanation:
    return geex.explain(model, case.x, baseline=case.absent, queries=queries, seed=case.seed, progress=False)


def kernel(model: Counted, case: Case, queries: int) -> np.ndarray:
    import shap

    explainer = shap.KernelExplainer(model, case.absent[None])
    return np.asarray(explainer.shap_values(case.x, nsamples=queries - 2, l1_reg=0, silent=True))


def permutation(model: Counted, case: Case, queries: int) -> np.ndarray:
    import shap

    masker = shap.maskers.Independent(case.absent[None], max_samples=1)
    explainer = shap.PermutationExplainer(model, masker, seed=case.seed)
    return np.asarray(explainer(case.x[None], max_evals=queries - 1, silent=True).values[0])


def sampling(model: Counted, case: Case, queries: int) -> np.ndarray:
    import shap

    explainer = shap.SamplingExplainer(model, case.absent[None])
    return np.asarray(explainer.shap_values(case.x, nsamples=queries // 2 - 1, silent=True))


def kernel_shap(model: Counted, case: Case, queries: int) -> np.ndarray:
    return _captum("KernelShap", model, case, queries - 2)


def shapley_sampling(model: Counted, case: Case, queries: int) -> np.ndarray:
    return _captum("ShapleyValueSampling", model, case, (queries - 1) // len(case.x))


def _captum(name: str, model: Counted, case: Case, samples: int) -> np.ndarray:
    x, absent = torch.from_numpy(case.x), torch.from_numpy(case.absent)
    settings = {"n_samples": samples, "perturbations_per_eval": 64}
    found = captum_values(name, lambda rows: torch.from_numpy(model(rows)), case.seed, x, absent, settings)
    return np.asarray(found)


# key -> title, function, and the smallest number of evaluations for p columns
ENTRANTS: dict[str, tuple[str, Callable[[Counted, Case, int], Any], Callable[[int], int]]] = {
    "ours": ("ours", ours, lambda p: 7),
    "kernel": ("KernelExplainer (shap)", kernel, lambda p: 2 * p),
    "permutation": ("PermutationExplainer (shap)", permutation, lambda p: 2 * p + 2),
    "sampling": ("SamplingExplainer (shap)", sampling, lambda p: 4 * p + 2),
    "kernelshap": ("KernelShap (captum)", kernel_shap, lambda p: 2 * p),
    "shapleysampling": ("ShapleyValueSampling (captum)", shapley_sampling, lambda p: 2 * p + 1),
}


def settings() -> Iterator[tuple[str, Any, Any]]:
    """Yield names, fitted models and data."""
    for load, regression in ((datasets.load_diabetes, True), (datasets.load_wine, False)):
        data = load()
        forest = RandomForestRegressor if regression else RandomForestClassifier
        network = MLPRegressor if regression else MLPClassifier
        layers = network(hidden_layer_sizes=(64, 64), max_iter=600, random_state=0)
        name = f"{load.__name__.removeprefix('load_')}, {data.data.shape[1]} columns"
        yield f"{name}, forest", forest(100, random_state=0).fit(data.data, data.target), data
        yield f"{name}, network", make_pipeline(StandardScaler(), layers).fit(data.data, data.target), data
    for load in (datasets.load_breast_cancer, datasets.load_digits):
        data = load()
        name = f"{load.__name__.removeprefix('load_').replace('_', ' ')}, {data.data.shape[1]} columns, forest"
        yield name, RandomForestClassifier(100, random_state=0).fit(data.data, data.target), data
    inputs, targets = datasets.make_friedman1(400, 12, noise=1.0, random_state=0)
    boosted = GradientBoostingRegressor(random_state=0).fit(inputs, targets)
    yield "Friedman's first, 12 columns, boosted trees", boosted, Bunch(data=inputs, target=targets)
    data = datasets.load_wine()
    vectors = make_pipeline(StandardScaler(), SVR()).fit(data.data, data.target)
    yield "wine, 13 columns, support vectors", vectors, data


def cases(model: Any, data: Any, count: int) -> Iterator[Case]:
    absent = data.data.mean(axis=0)
    for number in np.random.default_rng(0).choice(len(data.data), count, replace=False):
        x, answers, target = data.data[number], model.predict, None
        if hasattr(model, "predict_proba"):
            target = int(model.predict(x[None])[0])

            def answers(rows: np.ndarray, target: int = target) -> np.ndarray:
                return np.asarray(model.predict_proba(rows)[:, target])

        exact = by_subsets(answers, x, absent) if len(x) <= SMALL else by_trees(model, x, absent, target)
        yield Case(answers, x, absent, exact, int(number))


def by_subsets(model: Callable[[np.ndarray], np.ndarray], x: np.ndarray, absent: np.ndarray) -> np.ndarray:
    """Return Shapley values by their definition, over all 2^p subsets."""
    p = len(x)
    masks = (np.arange(2**p)[:, None] >> np.arange(p)) & 1
    answers, sizes = model(np.where(masks, x, absent)), masks.sum(axis=1)
    chosen = np.array([1.0, *np.cumprod([(p - s) / (s + 1) for s in range(p)])])  # C(p, s)
    with np.errstate(divide="ignore"):
        inside, outside = 1 / (sizes * chosen[sizes]), 1 / ((p - sizes) * chosen[sizes])
    shares = np.where(masks > 0, np.where(sizes > 0, inside, 0)[:, None], -np.where(sizes < p, outside, 0)[:, None])
    return np.asarray(answers @ shares)


def by_trees(model: Any, x: np.ndarray, absent: np.ndarray, target: int | None) -> np.ndarray:
    import shap

    explainer = shap.TreeExplainer(model, absent[None], feature_perturbation="interventional")
    values = explainer.shap_values(x[None], check_additivity=False)[0]
    return np.asarray(values if target is None else values[:, target])


def measured(case: Case) -> dict[str, dict[str, Any]]:
    """Return relative errors by entrant and budget, and the coverage of our 95% intervals."""
    found: dict[str, dict[str, Any]] = {}
    for budget in BUDGETS:
        for key, (_, explain, least) in ENTRANTS.items():
            if budget < least(len(case.x)):
                continue
            model = Counted(case.model)
            np.random.seed(case.seed)  # noqa: NPY002 (shap draws from it)
            result = explain(model, case, budget)
            if model.rows > budget:
                raise RuntimeError(f"{key} exceeded its budget of {budget} queries; it used {model.rows}.")
            values = np.asarray(getattr(result, "values", result))
            error = float(np.linalg.norm(values - case.exact) / np.linalg.norm(case.exact))
            found.setdefault(key, {})[str(budget)] = max(error, LEAST)
            if key == "ours":
                found.setdefault("held", {})[str(budget)] = _held(result, case)
    return found


def _held(found: geex.Explanation, case: Case) -> list[float]:
    """Return the coverage of all intervals, of the largest fifth, and of the sum over a random region."""
    (low, high), size = found.interval(), np.abs(case.exact)
    slack = 1e-9 * np.linalg.norm(case.exact)
    inside = (low - slack <= case.exact) & (case.exact <= high + slack)
    mask = np.random.default_rng(case.seed).random(len(size)) < 0.4
    region, true = found.region(mask), case.exact[mask].sum()
    together = region.low - slack <= true <= region.high + slack
    return [float(inside.mean()), float(inside[size >= np.quantile(size, 0.8)].mean()), float(together)]


def summary(rows: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return geometric means of errors, ratios of peers to ours (with 95% intervals), and our coverage."""
    numbers: dict[str, Any] = {}
    for key in ENTRANTS:
        for budget in map(str, BUDGETS):
            logs = np.array([np.log(row[key][budget]) for row in rows if budget in row.get(key, {})])
            if not len(logs):
                continue
            own = np.array([np.log(row["ours"][budget]) for row in rows])
            draws = np.random.default_rng(0).integers(len(logs), size=(2000, len(logs)))
            times = np.exp((logs - own)[draws].mean(axis=1))
            numbers.setdefault(key, {})[budget] = {
                "error": float(np.exp(logs.mean())),
                "times ours": [float(np.exp((logs - own).mean())), *np.quantile(times, [0.025, 0.975]).tolist()],
            }
    for budget in map(str, BUDGETS):
        numbers.setdefault("held", {})[budget] = np.mean([row["held"][budget] for row in rows], axis=0).tolist()
    return numbers


def page(found: dict[str, Any]) -> str:
    lines = [HEAD.format(rows=found["rows"])]
    for name, numbers in found["data"].items():
        lines += [
            f"## {name[0].upper()}{name[1:]}",
            "",
            _row(["error ÷ norm of the values", *map(str, BUDGETS)]),
            _rule(),
        ]
        for key, (label, _, _) in ENTRANTS.items():
            cells = [f"{numbers[key][str(b)]['error']:.2g}" if str(b) in numbers.get(key, {}) else "–" for b in BUDGETS]
            lines.append(_row([label, *cells]))
        lines += ["", _row(["times our error, 95% interval", *map(str, BUDGETS)]), _rule()]
        for key, (label, _, _) in list(ENTRANTS.items())[1:]:
            lines.append(_row([label, *(_times(numbers.get(key, {}).get(str(budget))) for budget in BUDGETS)]))
        lines += ["", _row(["coverage of our 95% intervals", *map(str, BUDGETS)]), _rule()]
        for place, label in enumerate(("all columns", "the largest fifth", "sums over regions")):
            lines.append(_row([label, *(f"{numbers['held'][str(budget)][place]:.0%}" for budget in BUDGETS)]))
        lines.append("")
    return "\n".join(lines)


def _times(numbers: dict[str, Any] | None) -> str:
    if numbers is None:
        return "–"
    middle, low, high = numbers["times ours"]
    bold = "**" if middle < 1 else ""
    return f"{bold}{middle:.3g} [{low:.3g}, {high:.3g}]{bold}" if high < MANY else f"over {low:.0f}"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule() -> str:
    return "|---" * (1 + len(BUDGETS)) + "|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("shap").setLevel(logging.ERROR)
    found: dict[str, Any] = {"rows": options.rows, "data": {}}
    for name, model, data in settings():
        found["data"][name] = summary([measured(case) for case in cases(model, data, options.rows)])
        print(name, json.dumps({key: found["data"][name][key] for key in ("ours", "held")}), flush=True)
    record("tables", found)
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
