"""python -m benchmarks.engine [--out FOLDER]: how much of a server's rate, and of a second worker, the engine brings.

Throughput is against a server of a fixed service time in a process of its own: the rate that its concurrency allows is
known. Efficiency is the time with one worker over twice the time with two, of a model that computes in one thread.
The constants are those of the cost model in docs/scale.md.
"""

import argparse
import multiprocessing
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.machine import RESULTS, record
from benchmarks.server import Client, Server
from geex.engine import engine
from geex.journal import Journal
from geex.plan import Plan
from geex.run.worker import Packed

WANTED = {"share of the server's rate": 0.9, "efficiency of two workers": 0.85}
METHOD = geex.GEEX(0.5)


def main() -> None:
    """Runs everything and writes it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    results = {"wanted": WANTED, "throughput": throughput(), "workers": workers(), "constants": constants()}
    print(record("engine", results, options.out).read_text())


# throughput


def _sum(rows: np.ndarray) -> np.ndarray:
    return np.tanh(rows.sum(axis=1))


def _serve(ready: Any, seconds: float, at_a_time: int) -> None:
    with Server(_sum, seconds, at_a_time) as server:
        ready.send(server.port)
        ready.recv()


@contextmanager
def served(seconds: float, at_a_time: int) -> Any:
    """A client of a server in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seconds, at_a_time), daemon=True)
    process.start()
    try:
        yield Client(ours.recv())
    finally:
        ours.send(None)
        process.join()


def throughput(calls: int = 400, batch: int = 16) -> dict[str, Any]:
    """The share of the rate that the server's concurrency allows, for two service times, with and without journal."""
    x = np.linspace(-1, 1, 64)
    found: dict[str, Any] = {"calls": calls, "rows of a call": batch}
    for seconds, at_a_time in ((0.05, 8), (0.02, 4)):
        with served(seconds, at_a_time) as client, tempfile.TemporaryDirectory() as folder:
            limits = geex.Limits(concurrency=at_a_time, attempts=5)
            for journal in (None, Path(folder) / "run.geex"):
                settings = {"method": METHOD, "queries": 3 + calls * batch, "batch": batch, "progress": False}
                start = time.perf_counter()
                geex.explain(client, x, limits=limits, journal=journal, **settings)
                allowed = (2 + calls / at_a_time) * seconds  # the two calls for the ends come one after the other
                name = f"{1000 * seconds:.0f} ms, {at_a_time} at a time{', journal' if journal else ''}"
                found[f"{name}: share of the server's rate"] = round(allowed / (time.perf_counter() - start), 3)
    return found


# workers


class Busy:
    """Computes for about `seconds` of one thread for every row."""

    def __init__(self, seconds: float) -> None:
        turn = _seconds(lambda: _turn(200)) / 200
        self.turns = max(1, round(seconds / turn))

    def __call__(self, z: np.ndarray) -> np.ndarray:
        for _ in z:
            _turn(self.turns)
        return np.tanh(z.reshape(len(z), -1).sum(axis=1))


def _turn(turns: int) -> float:
    total = 0.0
    for i in range(turns * 100):
        total += i * 0.5
    return total


def workers(rows: int = 8192, seconds: float = 5e-4, repeats: int = 3) -> dict[str, Any]:
    """Times with one and two workers, and their efficiency."""
    import distributed

    x = np.linspace(-1, 1, 100)
    model = Busy(seconds)
    found: dict[str, Any] = {"rows": rows, "seconds of a row": seconds}

    def timed(run: Any) -> float:
        settings = {"method": METHOD, "queries": rows + 3, "progress": False, "run": run}
        return _seconds(lambda: geex.explain(model, x, **settings))

    clusters = []
    for count in (1, 2):
        clusters.append(
            distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
            )
        )
    try:
        runs = [geex.run.dask(cluster.scheduler_address) for cluster in clusters]
        for run in runs:
            timed(run)
        pairs = [[timed(run) for run in runs] for _ in range(repeats)]
    finally:
        for cluster in clusters:
            cluster.close()
    found["dask: seconds with one worker"] = round(statistics.median(one for one, _ in pairs), 3)
    found["dask: seconds with two workers"] = round(statistics.median(two for _, two in pairs), 3)
    found["dask: efficiency of two workers"] = round(statistics.median(one / (2 * two) for one, two in pairs), 3)
    return found


# constants


def constants() -> dict[str, Any]:
    """What a task and a row cost on each side, in bytes and seconds."""
    found: dict[str, Any] = {}
    for name, shape in (("28x28", (28, 28)), ("299x299x3", (3, 299, 299))):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        plan = _plan(x)
        rows, queries = plan.rows_per_chunk, plan.chunk(0).queries()
        found[name] = {
            "rows of a task": rows,
            "bytes of a task": len(Packed()(plan)),
            "bytes of a task for every query": round(len(Packed()(plan)) / rows),
            "bytes of a query, were it sent": queries[0].nbytes,
            "bytes of an answer, 1000 outputs in float32": len(pickle.dumps(np.zeros((rows, 1000), np.float32)))
            // rows,
            "microseconds of the worker to make a query": _micro(lambda plan=plan, n=rows: plan.rows(0, n), rows),
            "microseconds of the driver to estimate a query": _estimate(plan),
        }
    found["milliseconds of a journal's commit"] = _commit()
    found["milliseconds of the driver for a Dask task"] = _task()
    return found


def _plan(x: np.ndarray) -> Plan:
    search = METHOD.search(x, np.zeros_like(x), geex.Elements(), 5000)
    return Plan(x, np.zeros_like(x), search, geex.Elements(), dtype=x.dtype)


def _estimate(plan: Plan) -> float:
    answers = np.zeros((plan.rows_per_chunk, 1))

    def estimate() -> None:
        METHOD.estimate(plan, iter([(plan.chunk(0), answers)]), answers[:2], [0], None)

    return _micro(estimate, plan.rows_per_chunk)


def _commit() -> float:
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "run.geex") as journal:
        starts = iter(range(0, 10**6, 512))

        def commit() -> None:
            start = next(starts)
            journal.claim("plan", start, start + 512)
            journal.store("plan", start, np.zeros((512, 10)))

        return round(1000 * min(_seconds(commit) for _ in range(20)), 3)


def _nothing(z: np.ndarray) -> np.ndarray:
    return z.reshape(len(z), -1)[:, 0]


def _task(rows: int = 100_000) -> float:
    """A run whose model costs nothing: what is left is the tasks."""
    import distributed

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        asking = engine(_nothing, None, geex.run.dask(cluster.scheduler_address))
        x = np.linspace(-1, 1, 4)
        settings = {"method": METHOD, "progress": False, "run": asking.run}
        geex.explain(_nothing, x, queries=1000, **settings)
        few, many = (_seconds(lambda n=n: geex.explain(_nothing, x, queries=n, **settings)) for n in (1000, rows))
    return round(1000 * (many - few) / (rows - 1000) * 512, 2)


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _micro(run: Callable[[], object], rows: int) -> float:
    run()
    return round(1e6 * min(_seconds(run) for _ in range(5)) / rows, 2)


if __name__ == "__main__":
    main()
