"""python -m benchmarks.estimates: measure the cost of `Regression` and `Guided` beyond their queries.

Time outside the model over time inside it, both in the same run, for the paper's CNN at 5000 queries and for
EfficientNet-Lite0 at 2000. Peak memory for a 299² photo with 5000 queries, beyond that of the model alone.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

import geex
from benchmarks.machine import record
from benchmarks.train import CNN
from geex._protocols import Method

GOAL = {"paper's CNN": 1.0, "EfficientNet-Lite0": 0.15, "megabytes": 500}
METHODS = {"Regression()": geex.Regression(), "Guided()": geex.Guided()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory is not None:
        print(json.dumps(peak_memory(options.memory)))
        return
    torch.manual_seed(0)
    small, photo = torch.randn(1, 28, 28), torch.rand(3, 224, 224)
    found = {
        "goal": GOAL,
        "paper's CNN, 28x28, 5000 queries: all else over the model": {
            name: beyond(CNN().eval(), small, method, 5000, 7) for name, method in METHODS.items()
        },
        "299x299x3, cheap model, Guided(), 5000 queries: peak megabytes beyond the model": memory(),
    }
    if (network := _efficientnet()) is not None:
        name = "EfficientNet-Lite0, 224x224, 2000 queries: all else over the model"
        found[name] = {"Guided()": beyond(network, photo, geex.Guided(), 2000, 1)}
    print(record("estimates", found).read_text())


def beyond(network: Callable[..., torch.Tensor], x: torch.Tensor, method: Method, queries: int, repeats: int) -> float:
    """Return the time outside the model over the time inside it, as the median of repetitions."""
    shares = []
    for _ in range(repeats):
        spent = [0.0]

        def model(z: torch.Tensor, spent: list[float] = spent) -> torch.Tensor:
            start = time.perf_counter()
            answers = torch.softmax(network(z), 1)
            spent[0] += time.perf_counter() - start
            return answers

        start = time.perf_counter()
        geex.explain(model, x, method=method, features=geex.Pixels(), queries=queries, target=0, progress=False)
        shares.append((time.perf_counter() - start - spent[0]) / spent[0])
    return round(float(np.median(shares)), 3)


def memory() -> float:
    """Return the megabytes beyond the model, from processes with 0 queries (the model alone) and with 5000."""
    peaks = []
    for queries in (0, 5000):
        command = [sys.executable, "-m", "benchmarks.estimates", "--memory", str(queries)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peaks.append(json.loads(output.splitlines()[-1]))
    return round(peaks[1] - peaks[0], 1)


def peak_memory(queries: int) -> float:
    """Return the peak resident megabytes of an explanation, or of one call of the model if `queries` is 0."""
    x = np.random.default_rng(0).normal(size=(3, 299, 299)).astype(np.float32)

    def model(z: np.ndarray) -> np.ndarray:
        return np.tanh(z[:, :, 100:150, 100:150].mean((1, 2, 3)))

    if queries:
        geex.explain(model, x, queries=queries, batch=32, progress=False)
    else:
        model(np.stack([x] * 32))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _efficientnet() -> Callable[..., torch.Tensor] | None:
    """Return the network, or None if its packages are not installed."""
    try:
        from benchmarks import efficientnet

        return efficientnet.load()
    except ImportError:
        return None


if __name__ == "__main__":
    main()
