"""python -m benchmarks.overhead [--gpu] [--out FOLDER]: measure the cost of an explanation beyond its model.

Times are ratios within one run. Every repetition times the explanation, and next to it the bare forward passes of the
same queries at the same batch; the result is the median of the ratios. Memory is the peak of a separate process,
beyond that of the model alone.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

import geex
from benchmarks import inception
from benchmarks.data import data_folder
from benchmarks.machine import RESULTS, record
from benchmarks.train import CNN
from geex._explain.defaults import PHOTOS
from geex._explain.driver import explain_tasks
from geex._explain.prepare import prepare
from geex._plan.plan import DrawCache
from geex._protocols import Method
from geex._query.session import engine

QUERIES = 5000
GOAL = {"masks made before": 1.15, "masks made on the way": 1.35, "gpu": 1.10, "megabytes": 300}

ON_A_GPU = {
    "": geex.GEEX(0.3),
    ", smoothed 5/0.7": geex.GEEX(0.3, smooth=(5, 0.7)),
    ", default on photos": PHOTOS,
}


def main() -> None:
    """Run the selected measurements and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--gpu", action="store_true", help="measure only Inception V3 and a network of its cost, on a GPU"
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory is not None:
        print(json.dumps(peak_memory(options.memory)))
    elif options.gpu:
        print(
            record("overhead-gpu", {"299x299x3, ratio to bare forward passes": gpu_ratios()}, options.out).read_text()
        )
    else:
        results = {
            "goal": GOAL,
            "paper's CNN, 28x28, 5000 queries, batch 512, ratio to bare forward passes": cpu_ratios(),
            "299x299x3, cheap model, peak megabytes beyond the model": memory(),
        }
        print(record("overhead", results, options.out).read_text())


def cpu_ratios(repeats: int = 31) -> dict[str, float]:
    """Explanation time over forward time, the paper's CNN in PyTorch."""
    torch.manual_seed(0)
    model, x = CNN().eval(), torch.randn(1, 28, 28)
    return _ratios(model, x, geex.GEEX(sigma=1.0), batch=512, repeats=repeats)


def gpu_ratios(repeats: int = 3) -> dict[str, float]:
    """The same on a GPU for a network that costs about what Inception V3 does (5.7 billion multiply-adds)."""
    torch.manual_seed(0)
    models = {"convolutions of that cost": _large_network()}
    if (data_folder() / "inception-v3").exists():
        models["Inception V3"] = inception.load()
    x = torch.rand(3, 299, 299, device="cuda")
    ratios = {}
    for name, model in models.items():
        model.eval().to("cuda")
        for how, method in ON_A_GPU.items():
            timed = _ratios(model, x, method, batch=125, repeats=repeats)
            ratios[f"{name}{how}"] = timed["masks made on the way"]
            ratios[f"{name}{how}, bare seconds"] = timed["bare seconds"]
    return ratios


def _ratios(model: nn.Module, x: torch.Tensor, method: Method, batch: int, repeats: int) -> dict[str, float]:
    features = geex.Pixels(channels=0) if isinstance(method, geex.Guided) else None
    task = prepare(
        x,
        baseline=None,
        target=None,
        score="softmax",
        method=method,
        queries=QUERIES,
        features=features,
        bounds=None,
        seed=0,
        batch=batch,
        progress=False,
    )
    batches = [torch.randn(batch, *x.shape, device=x.device) for _ in range(2)]

    def bare() -> None:
        with torch.no_grad():
            for start in range(0, QUERIES, batch):
                model(batches[start // batch % 2][: QUERIES - start])

    asking = engine(model, None, None, None, None)
    kept = DrawCache(keep=2**31)
    runs: dict[str, Callable[[], object]] = {
        "masks made on the way": lambda: explain_tasks(asking, [task], DrawCache(keep=0))
    }
    if x.device.type == "cpu":
        runs["masks made before"] = lambda: explain_tasks(asking, [task], kept)
    for run in (bare, *runs.values()):
        run()
    forward, ratios = [], {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            forward.append(_seconds(bare, x))
            ratios[name].append(_seconds(run, x) / forward[-1])
    return {"bare seconds": round(statistics.median(forward), 4)} | {
        name: round(statistics.median(found), 3) for name, found in ratios.items()
    }


def _seconds(run: Callable[[], object], x: torch.Tensor) -> float:
    if x.device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    if x.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def _large_network() -> nn.Module:
    """Convolutions with the multiply-adds of Inception V3 at 299²."""

    def stage(inside: int, outside: int, stride: int) -> list[nn.Module]:
        return [nn.Conv2d(inside, outside, 3, stride, bias=False), nn.BatchNorm2d(outside), nn.ReLU()]

    layers = [*stage(3, 32, 2), *stage(32, 64, 1), *stage(64, 80, 1), nn.MaxPool2d(3, 2), *stage(80, 192, 1)]
    layers += [nn.MaxPool2d(3, 2), *stage(192, 288, 1), *stage(288, 288, 1), *stage(288, 288, 1), *stage(288, 288, 1)]
    layers += [*stage(288, 576, 2), *stage(576, 768, 1), *stage(768, 768, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(768, 1000))


def memory() -> dict[str, float]:
    """Return the megabytes beyond the model, from processes with 0 queries (the model alone), 5000 and 50,000."""
    peaks = {}
    for queries in (0, 5000, 50000):
        command = [sys.executable, "-m", "benchmarks.overhead", "--memory", str(queries)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peaks[queries] = json.loads(output.splitlines()[-1])
    return {f"{queries:,} queries": round(peaks[queries] - peaks[0], 1) for queries in (5000, 50000)}


def peak_memory(queries: int) -> float:
    """Return the peak resident megabytes of explaining a 299² NumPy image, or of one model call if `queries` is 0."""
    x = np.random.default_rng(0).normal(size=(3, 299, 299)).astype(np.float32)
    slope = np.ones(x.size, np.float32) / x.size

    def model(z: np.ndarray) -> np.ndarray:
        return np.tanh(z.reshape(len(z), -1) @ slope)

    if queries:
        geex.explain(model, x, method=geex.GEEX(0.3, smooth=(5, 0.7)), queries=queries, batch=32, progress=False)
    else:
        model(np.stack([x] * 32))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
