"""python -m benchmarks.spread: compare standard errors of `Guided` with the deviation of its values over seeds.

Its estimand depends on its answers, so there is no reference value. The ratio is for single pixels (the median over the
top tenth) and for the sum over the top tenth, which `Precise` uses. The models are those of the grey data sets, on
a few images, and models that no smooth sum approximates.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

import geex
from benchmarks.machine import record
from geex._arrays.arrays import host

BUDGETS = (200, 1000, 5000)
SIDE = 28
X = np.ones((SIDE, SIDE), np.float32)
Model = Callable[[Any], Any]


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--images", type=int, default=2)
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for budget in options.budgets:
        table = {}
        for name, cases in tqdm({**hostile(), **grey(options.images)}.items(), desc=str(budget)):
            ratios = [ratio(model, x, settings, budget, options.seeds) for model, x, settings in cases]
            table[name] = np.mean(ratios, axis=0).round(2).tolist()
        found = {"seeds": options.seeds, "stderr over deviation, pixels of the top tenth and their sum": table}
        print(record(f"spread-{budget}", found).read_text())


def ratio(model: Model, x: Any, settings: dict[str, Any], queries: int, seeds: int) -> tuple[float, float]:
    """Return the ratio for pixels (median over the top tenth) and for their sum; root mean squares over seeds."""
    runs = [
        geex.explain(model, x, method=geex.Guided(), queries=queries, seed=seed, progress=False, **settings)
        for seed in range(seeds)
    ]
    values, errors = (np.stack([host(getattr(run, name)) for run in runs]) for name in ("values", "stderr"))
    mean = np.abs(values.mean(axis=0))
    top = mean >= np.quantile(mean, 0.9)
    sums = [run.region(top) for run in runs]
    joint = np.sqrt(np.mean([region.stderr**2 for region in sums])) / np.std([region.value for region in sums], ddof=1)
    single = np.sqrt((errors[:, top] ** 2).mean(axis=0)) / values[:, top].std(axis=0, ddof=1)
    return float(np.median(single)), float(joint)


def hostile() -> dict[str, list[tuple[Model, np.ndarray, dict[str, Any]]]]:
    """Return models of one image of ones, by name."""
    noise = np.random.default_rng(0)
    models: dict[str, Model] = {
        "product of 5 pixels": lambda z: z[:, 4, 5] * z[:, 9, 20] * z[:, 14, 13] * z[:, 21, 7] * z[:, 23, 22],
        "parity of 4 regions": lambda z: np.prod([np.sign(part(z, i, j) - 0.5) for i, j in CORNERS], axis=0),
        "step": lambda z: (part(z, 8, 8) > 0.6).astype(float),
        "steep steps of 3 regions": lambda z: np.prod([part(z, i, j) > 0.4 for i, j in CORNERS[:3]], axis=0) * 1.0,
        "exponential": lambda z: np.exp(6 * (part(z, 5, 5) + part(z, 15, 16) - 1)),
        "one region shown and another hidden": lambda z: (part(z, 5, 5) > 0.7) * (part(z, 16, 16) < 0.5) * 1.0,
        "noise": lambda z: part(z, 8, 8) + noise.normal(0, 0.5, len(z)),
    }
    return {name: [(model, X, {})] for name, model in models.items()}


CORNERS = [(3, 3), (3, 17), (17, 3), (17, 17)]


def part(z: np.ndarray, top: int, left: int, size: int = 8) -> np.ndarray:
    """Return the mean over a square."""
    return np.asarray(z[:, top : top + size, left : left + size].mean((1, 2)))


def grey(images: int) -> dict[str, list[tuple[Model, Any, dict[str, Any]]]]:
    """Return the paper's CNN with a few images of each data set."""
    from benchmarks.paper.contenders import PIXELS, probability
    from benchmarks.paper.grey import cases
    from benchmarks.paper.settings import FASHION, MNIST
    from benchmarks.train import load

    found: dict[str, list[tuple[Model, Any, dict[str, Any]]]] = {}
    for setting in (FASHION, MNIST):
        network = load(setting.name)
        chosen = cases(replace(setting, images=images), network, None, "cpu")[:images]
        settings = [{"baseline": case.baseline, "features": PIXELS, "batch": 2048} for case in chosen]
        models = [probability(network, case.target) for case in chosen]
        found[setting.name] = [(m, case.x, own) for m, case, own in zip(models, chosen, settings, strict=True)]
    return found


if __name__ == "__main__":
    main()
