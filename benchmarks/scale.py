"""python -m benchmarks.scale: print the times of many explanations, by the cost model of docs/scale.md.

    one explanation over W workers   Q · max((m + q)/W, e + t/r)
    N explanations, a worker each    N · Q · (m + q + e)/W

Q: queries of an explanation. m and q: a worker's seconds to answer a query and to generate it. e: the driver's seconds
to estimate it. t: the driver's seconds for a task of r rows. `python -m benchmarks.engine` measured the constants, and
`python -m benchmarks.overhead --gpu` the speed of the GPU. This script runs no model: it only computes.
"""

import json

from benchmarks.machine import RESULTS
from geex._query.progress import clock

QUERIES = 5000
ROWS = 31  # of a task at 299 × 299 × 3


def main() -> None:
    """Print the tables."""
    constants = json.loads((RESULTS / "engine.json").read_text())["constants"]
    gpu = json.loads((RESULTS / "overhead-gpu.json").read_text())["299x299x3, ratio to bare forward passes"]
    bare, ratio = gpu["Inception V3, bare seconds"] / QUERIES, gpu["Inception V3"]
    photo = constants["299x299x3"]
    make, estimate = (
        photo[f"microseconds of the {who}"] * 1e-6 for who in ("worker to make a query", "driver to estimate a query")
    )
    task = constants["milliseconds of a Dask task"]["of the driver and scheduler"] * 1e-3
    driver = estimate + task / ROWS
    print(f"the driver can process {1 / driver:,.0f} queries a second at 299 × 299 × 3\n")
    print("| one photo, 5000 queries; time of the model for one | 1 worker | 10 | 100 | most workers in use |")
    print("|---|---|---|---|---|")
    for model in (0.001, 0.01, 0.1, 1.0):
        times = [QUERIES * max((model + make) / count, driver) for count in (1, 10, 100)]
        print(f"| {model:g} s | {' | '.join(map(clock, times))} | {(model + make) / driver:,.0f} |")
    print("\n| a million photos, 5000 queries each, one GPU for each photo | 1 GPU | 10 | 100 | 1000 |")
    print("|---|---|---|---|---|")
    times = [1e6 * QUERIES * bare * ratio / count for count in (1, 10, 100, 1000)]
    print(f"| Inception V3 ({1 / (bare * ratio):,.0f} queries a second) | {' | '.join(map(clock, times))} |")


if __name__ == "__main__":
    main()
