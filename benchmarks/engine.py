"""python -m benchmarks.engine [--out FOLDER]: measure the throughput and efficiency of the query step.

Throughput is relative to a server with a fixed service time in a process of its own, whose concurrency fixes the
highest possible rate. Efficiency is the time with one worker over twice the time with two, for a model that computes
in one thread. The constants are those of the cost model in docs/scale.md.
"""

import argparse
import multiprocessing
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.machine import RESULTS, record
from benchmarks.server import Client, Server
from geex._journal.journal import Journal
from geex._plan.plan import Plan
from geex._query.runners.worker import PickledPlans

GOAL = {"share of the server's rate": 0.9, "efficiency of two": 0.85}
METHOD = geex.GEEX(0.5)


def main() -> None:
    """Run all measurements and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    results = {"goal": GOAL, "throughput": throughput(), "workers": workers(), "constants": constants()}
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
    """Yield a client of a server in a process of its own."""
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
    """Return the share of the highest possible rate, for two service times, with and without journal.

    For comparison, it also has the share of bare threads that only call the server.
    """
    x = np.linspace(-1, 1, 64)
    found: dict[str, Any] = {"calls": calls, "rows of a call": batch}
    for seconds, at_a_time in ((0.05, 8), (0.02, 4)):
        with served(seconds, at_a_time) as client, tempfile.TemporaryDirectory() as folder:
            limits = geex.Limits(concurrency=at_a_time, attempts=5)
            with ThreadPoolExecutor(at_a_time) as pool:
                bare = _seconds(
                    lambda client=client, pool=pool: list(pool.map(client, [np.zeros((batch, 64))] * calls))
                )
            found[f"{1000 * seconds:.0f} ms, {at_a_time} at a time: bare threads"] = round(
                calls / at_a_time * seconds / bare, 3
            )
            for journal in (None, Path(folder) / "run.geex"):
                settings = {"method": METHOD, "queries": 3 + calls * batch, "batch": batch, "progress": False}
                start = time.perf_counter()
                geex.explain(client, x, limits=limits, journal=journal, **settings)
                allowed = (2 + calls / at_a_time) * seconds  # the calls for x and x̊ are sequential
                name = f"{1000 * seconds:.0f} ms, {at_a_time} at a time{', journal' if journal else ''}"
                found[f"{name}: share of the server's rate"] = round(allowed / (time.perf_counter() - start), 3)
    return found


# workers


class Busy:
    """A model that computes for about `seconds` in one thread for every row."""

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


def workers(rows: int = 4096, seconds: float = 1e-3, repeats: int = 3) -> dict[str, Any]:
    """Return times with one and two workers, and their efficiency, beside that of two bare processes.

    Two cores rarely have twice the speed of one, so the efficiency of bare processes is the upper limit.
    """
    x = np.linspace(-1, 1, 100)
    model, half = Busy(seconds), np.zeros((rows // 2, 100))
    settings = {"method": METHOD, "queries": rows + 3, "progress": False}
    context = multiprocessing.get_context("spawn")
    with cluster(1) as one, cluster(2) as two, context.Pool(2) as pool:
        runs: dict[str, Callable[[], object]] = {
            "bare, one process": lambda: [pool.apply(model, (half,)) for _ in range(2)],
            "bare, two processes": lambda: pool.map(model, [half, half], chunksize=1),
            "dask, one worker": lambda: geex.explain(model, x, run=geex.run.dask(one), **settings),
            "dask, two workers": lambda: geex.explain(model, x, run=geex.run.dask(two), **settings),
        }
        timed = [{name: _seconds(run) for name, run in runs.items()} for _ in range(repeats + 1)][1:]
    found: dict[str, Any] = {"rows": rows, "seconds of a row": seconds}
    for name in runs:
        found[f"{name}: seconds"] = round(statistics.median(times[name] for times in timed), 3)
    for kind, first, second in (("bare", "one process", "two processes"), ("dask", "one worker", "two workers")):
        ratios = [times[f"{kind}, {first}"] / (2 * times[f"{kind}, {second}"]) for times in timed]
        found[f"{kind}: efficiency of two"] = round(statistics.median(ratios), 3)
    return found


@contextmanager
def cluster(count: int) -> Any:
    """Yield the address of a cluster of single-threaded processes."""
    import distributed

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": "ERROR"}
    with distributed.LocalCluster(n_workers=count, host="127.0.0.1", **settings) as started:
        yield started.scheduler_address


# constants


def constants() -> dict[str, Any]:
    """Return the costs of a task and a row for worker and driver, in bytes and seconds."""
    found: dict[str, Any] = {}
    for name, shape in (("28x28", (28, 28)), ("299x299x3", (3, 299, 299))):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        plan = _plan(x)
        rows, queries = plan.rows_per_chunk, plan.chunk(0).queries()
        found[name] = {
            "bytes of a plan, once for every worker": len(PickledPlans()(plan)),
            "bytes of a task for every query": round(len(pickle.dumps((plan.fingerprint, 0, rows))) / rows, 2),
            "bytes of a query, were it sent": queries[0].nbytes,
            "bytes of an answer, 1000 outputs in float32": len(pickle.dumps(np.zeros((rows, 1000), np.float32)))
            // rows,
            "microseconds of the worker to make a query": _micro(lambda plan=plan, n=rows: plan.rows(0, n), rows),
            "microseconds of the driver to estimate a query": _estimate(plan),
        }
    found["milliseconds of a journal's commit"] = _commit()
    found["milliseconds of a Dask task"] = _task()
    return found


def _plan(x: np.ndarray) -> Plan:
    search = METHOD.search(x, np.zeros_like(x), geex.Elements(), 5000)
    return Plan(x, np.zeros_like(x), search, geex.Elements(), dtype=x.dtype)


def _estimate(plan: Plan) -> float:
    answers = np.zeros((plan.rows_per_chunk, 1))

    def estimate() -> None:
        METHOD.estimate(geex.Answers(plan, [(plan.chunk(0), answers)], answers[:2], [0]))

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


def _task(few: int = 10, many: int = 210) -> dict[str, float]:
    """Return the time of a task from end to end, and the driver's part, for one worker and a model without cost.

    The scheduler shares the driver's process here.
    """
    x = np.linspace(-1, 1, 4)
    times = []
    with cluster(1) as address:
        for tasks in (few, few, many):
            busy = time.process_time()
            wall = _seconds(
                lambda tasks=tasks: geex.explain(
                    _nothing, x, queries=512 * tasks + 3, method=METHOD, progress=False, run=geex.run.dask(address)
                )
            )
            times.append((wall, time.process_time() - busy))
    wall, busy = (1000 * (after - before) / (many - few) for before, after in zip(times[1], times[2], strict=True))
    return {"from end to end": round(wall, 2), "of the driver and scheduler": round(busy, 2)}


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _micro(run: Callable[[], object], rows: int) -> float:
    run()
    return round(1e6 * min(_seconds(run) for _ in range(5)) / rows, 2)


if __name__ == "__main__":
    main()
