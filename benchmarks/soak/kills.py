"""Runs that are killed at random moments: the last one of each has the bytes of an undisturbed run.

In flight are the calls that were being made: calls at a time, with the most rows of each. A worker process may have
answered one more call, whose answers were on their way.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from tests.servers import FaultServer

from benchmarks.soak.killed import AT_A_TIME, ENGINES, ROWS, SECONDS, WORKERS, bits, explained

# The repository.
ROOT = Path(__file__).parents[2]
# Seconds after which a process counts as hung.
PATIENCE = 120.0
# The longest time from the first call of a process to its kill, in seconds.
LATEST = 0.6
# Seconds that workers may live on after their parent.
AFTERLIFE = 10.0
# The most rows that one kill may cost: calls at a time, and for workers one more call each.
IN_FLIGHT = {
    "HTTP": AT_A_TIME * ROWS,
    "threads": AT_A_TIME * ROWS,
    "processes": 2 * WORKERS * ROWS,
    "Dask": 2 * WORKERS * ROWS,
}


def killed_runs(kills: int, rng: np.random.Generator, folder: Path) -> dict[str, Any]:
    """Return the figures of `kills` kills over all engines."""
    found = {}
    for engine in ENGINES:
        with _service(engine) as address:
            found[engine] = _kills(engine, address, kills // len(ENGINES), rng, folder)
        print(f"kills, {engine}: {found[engine]}", flush=True)
    return found


@contextmanager
def _service(engine: str) -> Iterator[Any]:
    """Start what an engine needs: a server whose rows are counted, or a cluster."""
    if engine == "HTTP":
        with FaultServer(seed=5, share=0.05, service_seconds=SECONDS, concurrency=AT_A_TIME) as server:
            server.server.handle_error = lambda *_: None  # clients that were killed
            yield server
    elif engine == "Dask":
        import distributed

        with distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster:
            yield cluster.scheduler_address
    else:
        yield ""


def _kills(engine: str, service: Any, kills: int, rng: np.random.Generator, folder: Path) -> dict[str, Any]:
    found: Counter[str] = Counter(kills=0, runs=0, wrong=0, hung=0, left_running=0, repeated_rows=0)
    while found["kills"] < kills:
        seed = int(rng.integers(10**6))
        path, log = folder / f"{engine}-{seed}.geex", folder / f"{engine}-{seed}.log"
        log.touch()
        if isinstance(service, FaultServer):
            service.answered.clear()
        before = found["kills"]
        output = _run_to_its_end(engine, service, (path, seed, log), kills, rng, found)
        asked = service.answered if isinstance(service, FaultServer) else _asked(log)
        found["runs"] += 1
        found["wrong"] += output != bits(explained("plain", None, seed, ""))
        found["repeated_rows"] += asked.total() - len(asked)
        found["rows_in_flight"] += (found["kills"] - before) * IN_FLIGHT[engine]
    return dict(found)


def _run_to_its_end(
    engine: str, service: Any, files: tuple[Path, int, Path], kills: int, rng: np.random.Generator, found: Counter[str]
) -> str:
    """Start a run again until it is through, and kill it as long as there are kills left. Return its output."""
    path, seed, log = files
    address = service.url if isinstance(service, FaultServer) else service
    command = [sys.executable, "-m", "benchmarks.soak.killed", engine, str(path), str(seed), str(log), address]
    while True:
        seen = _calls(service, log)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        if found["kills"] < kills:
            while _calls(service, log) == seen and process.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, LATEST))
            if process.poll() is None:
                process.kill()
                process.communicate()
                found["kills"] += 1
                found["left_running"] += engine == "processes" and _left(log)
                continue
        try:
            return process.communicate(timeout=PATIENCE)[0].strip()
        except subprocess.TimeoutExpired:
            found["hung"] += 1
            process.kill()
            return process.communicate()[0]


def _calls(service: Any, log: Path) -> int:
    return service.bodies.total() if isinstance(service, FaultServer) else log.stat().st_size


def _asked(log: Path) -> Counter[str]:
    return Counter(row for line in log.read_text().splitlines() for row in json.loads(line)[1:])


def _left(log: Path) -> bool:
    """Return whether workers live on, although their parent has ended."""
    until = time.monotonic() + AFTERLIFE
    workers = {json.loads(line)[0] for line in log.read_text().splitlines()}
    while time.monotonic() < until:
        if not any(map(_lives, workers)):
            return False
        time.sleep(0.05)
    return True


def _lives(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state not in "ZX"
    return False
