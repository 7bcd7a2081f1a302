"""python -m benchmarks.calibration: how often nominal 95% intervals of the regression cover, on the grey images.

The truth is a run of 100,000 queries of the same estimand, its own variance allowed for: the middle of an interval is
within t √(stderr² + stderr_ref²) of it. Over all pixels, over the tenth of them with the largest reference values, and
over sums of 4 × 4 pixels. `Guided` has an estimand that moves with its legs, so for it the standard errors are held
against the deviation from seed to seed, at the same budget.
"""

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy.special import stdtrit
from tqdm import tqdm

import geex
from benchmarks.machine import record
from benchmarks.paper.cases import Case
from benchmarks.paper.contenders import PIXELS, Model, probability
from benchmarks.paper.grey import cases
from benchmarks.paper.settings import FASHION, MNIST, Setting
from benchmarks.train import load
from geex.arrays import host
from geex.methods import Method

BUDGETS = (200, 1000, 5000)
REFERENCE = 100_000
BLOCK = 4
SEEDS = 6
FEW = 3
BANZHAF = geex.Regression(geex.Presence(alpha=0.5))


def main() -> None:
    """Measures, and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = (FASHION, MNIST)
    found = {
        "images": options.images,
        "reference queries": REFERENCE,
        "coverage": {setting.name: measured(setting, options.images) for setting in settings},
        "Guided, stderr over deviation from seed to seed": {
            setting.name: steadiness(setting, min(options.images, FEW)) for setting in settings
        },
    }
    print(record("calibration", found).read_text())


def measured(setting: Setting, images: int) -> dict[str, Any]:
    """Coverage for each budget, means over images."""
    network = load(setting.name)
    rows: dict[int, list[dict[str, float]]] = {budget: [] for budget in BUDGETS}
    for case in tqdm(cases(replace(setting, images=images), network, None, "cpu")[:images], desc=setting.name):
        model = probability(network, case.target)
        truth = explained(model, case, REFERENCE, seed=10**6)
        for budget in BUDGETS:
            rows[budget].append(coverage(explained(model, case, budget, case.seed), truth))
    return {str(budget): _means(found) for budget, found in rows.items()}


def steadiness(setting: Setting, images: int) -> dict[str, Any]:
    """For `Guided`: root mean squares of the standard error over that of the deviation from seed to seed."""
    network = load(setting.name)
    rows: dict[int, list[dict[str, float]]] = {budget: [] for budget in BUDGETS}
    for case in tqdm(cases(replace(setting, images=images), network, None, "cpu")[:images], desc=setting.name):
        model = probability(network, case.target)
        for budget in BUDGETS:
            runs = [explained(model, case, budget, seed, geex.Guided()) for seed in range(SEEDS)]
            values, errors = (np.stack([host(getattr(run, name)) for run in runs]) for name in ("values", "stderr"))
            spread, error = values.var(axis=0, ddof=1), (errors**2).mean(axis=0)
            mean = np.abs(values.mean(axis=0))
            top = mean >= np.quantile(mean, 0.9)
            shares = {"all": (error.mean(), spread.mean()), "top tenth": (error[top].mean(), spread[top].mean())}
            rows[budget].append({name: float(np.sqrt(e / s)) for name, (e, s) in shares.items()})
    return {str(budget): _means(found) for budget, found in rows.items()}


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}


def explained(model: Model, case: Case, queries: int, seed: int, method: Method = BANZHAF) -> geex.Explanation:
    settings: dict[str, Any] = {"baseline": case.baseline, "features": PIXELS, "batch": 2048, "progress": False}
    return geex.explain(model, case.x, method=method, queries=queries, seed=seed, **settings)


def coverage(explanation: geex.Explanation, truth: geex.Explanation) -> dict[str, float]:
    """The share of pixels, of top pixels and of blocks whose interval covers, and how wide intervals are."""
    middle, errors, true, own = (
        host(array) for array in (explanation.centre, explanation.stderr, truth.values, truth.stderr)
    )
    inside = np.abs(middle - true) <= _reach(explanation) * np.hypot(errors, own)
    top = np.abs(true) >= np.quantile(np.abs(true), 0.9)
    return {
        "all": inside.mean(),
        "top tenth": inside[top].mean(),
        "4 x 4 blocks": blocks(explanation, truth).mean(),
        "stderr over the mean top value": errors.mean() / np.abs(true[top]).mean(),
    }


def _reach(explanation: geex.Explanation) -> float:
    return float(stdtrit(explanation.freedom, 0.975))


def blocks(explanation: geex.Explanation, truth: geex.Explanation) -> np.ndarray:
    """Whether the interval of each of a few blocks covers."""
    height, width = explanation.values.shape
    masks = np.zeros((0, height, width))
    for top in range(0, height, 2 * BLOCK):
        for left in range(0, width, 2 * BLOCK):
            mask = np.zeros((1, height, width))
            mask[:, top : top + BLOCK, left : left + BLOCK] = 1
            masks = np.concatenate([masks, mask])
    rows = torch.from_numpy(masks.reshape(len(masks), -1)).float()
    _, ours, errors = explanation.record.regions(rows, [0])
    theirs, _, own = truth.record.regions(rows, [0])
    return ((ours - theirs).abs() <= _reach(explanation) * torch.hypot(errors, own)).numpy()


if __name__ == "__main__":
    main()
