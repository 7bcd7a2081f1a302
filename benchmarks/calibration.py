"""python -m benchmarks.calibration: measure the coverage of nominal 95% intervals of `Regression` on the grey images.

The reference is a run of 100,000 queries of the same estimand. An interval covers if its middle is within
t √(stderr² + stderr_ref²) of the reference. Coverage is over all pixels, over the tenth of them with the largest
reference values, and over sums of 4 × 4 pixels. `Guided` has no fixed estimand: see benchmarks.spread.
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
from geex._arrays.arrays import host
from geex._protocols import Method

BUDGETS = (200, 1000, 5000)
REFERENCE = 100_000
BLOCK = 4
BANZHAF = geex.Regression(geex.Presence(alpha=0.5))


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = (FASHION, MNIST)
    found = {
        "images": options.images,
        "reference queries": REFERENCE,
        "coverage": {setting.name: measured(setting, options.images) for setting in settings},
    }
    print(record("calibration", found).read_text())


def measured(setting: Setting, images: int) -> dict[str, Any]:
    """Return coverage for each budget, as means over images."""
    network = load(setting.name)
    rows: dict[int, list[dict[str, float]]] = {budget: [] for budget in BUDGETS}
    for case in tqdm(cases(replace(setting, images=images), network, None, "cpu")[:images], desc=setting.name):
        model = probability(network, case.target)
        truth = explained(model, case, REFERENCE, seed=10**6)
        for budget in BUDGETS:
            rows[budget].append(coverage(explained(model, case, budget, case.seed), truth))
    return {str(budget): _means(found) for budget, found in rows.items()}


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}


def explained(model: Model, case: Case, queries: int, seed: int, method: Method = BANZHAF) -> geex.Explanation:
    settings: dict[str, Any] = {"baseline": case.baseline, "features": PIXELS, "batch": 2048, "progress": False}
    return geex.explain(model, case.x, method=method, queries=queries, seed=seed, **settings)


def coverage(explanation: geex.Explanation, truth: geex.Explanation) -> dict[str, float]:
    """Return the coverage of pixels, top pixels and blocks, and the width of intervals."""
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
    """Return for each block whether its interval covers."""
    height, width = explanation.values.shape
    masks = np.zeros((0, height, width))
    for top in range(0, height, 2 * BLOCK):
        for left in range(0, width, 2 * BLOCK):
            mask = np.zeros((1, height, width))
            mask[:, top : top + BLOCK, left : left + BLOCK] = 1
            masks = np.concatenate([masks, mask])
    rows = torch.from_numpy(masks.reshape(len(masks), -1)).float()
    _, ours, errors = explanation.record.regions(rows)
    theirs, _, own = truth.record.regions(rows)
    return ((ours - theirs).abs() <= _reach(explanation) * torch.hypot(errors, own)).numpy()


if __name__ == "__main__":
    main()
