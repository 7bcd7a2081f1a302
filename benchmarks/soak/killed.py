"""What the process that is killed does: `python -m benchmarks.soak.killed engine journal seed log address`."""

import hashlib
import json
import os
import sys
import time
from dataclasses import dataclass

import numpy as np
from tests.servers import planted

import geex
from geex.models import http

# The most rows of a call, calls at a time, and queries of a run.
ROWS, AT_A_TIME, QUERIES = 10, 4, 1000
# Workers of processes and of Dask.
WORKERS = 2
# Seconds of a call.
SECONDS = 0.03
# The engines.
ENGINES = ("HTTP", "threads", "processes", "Dask")
# What is explained.
X = np.linspace(-0.6, 0.9, 24)


@dataclass(frozen=True)
class Logged:
    """A slow model that writes down which rows it is asked for, and by which process. log: "" for no log."""

    log: str = ""

    def __call__(self, queries: np.ndarray) -> np.ndarray:
        if self.log:
            line = json.dumps([os.getpid(), *(hashlib.sha256(row.tobytes()).hexdigest()[:16] for row in queries)])
            handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, f"{line}\n".encode())
            os.close(handle)
            time.sleep(SECONDS)
        return np.array([planted(row) for row in queries.tolist()])


def explained(engine: str, journal: str | None, seed: int, log: str, address: str = "") -> geex.Explanation:
    """Explain on an engine."""
    calls = AT_A_TIME if engine in ("HTTP", "threads") else 1
    limits = geex.Limits(concurrency=calls, rows=ROWS, attempts=12, backoff=0.01, twice=False, compare=False)
    model = Logged(log)
    if engine == "HTTP":
        model = http(address, request={"rows": "{rows}"}, response="scores", timeout=5.0, limits=limits)
    runners = {"processes": lambda: geex.run.processes(WORKERS), "Dask": lambda: geex.run.dask(address)}
    runner = runners[engine]() if engine in runners else None
    settings = {"method": geex.GEEX(sigma=0.4), "queries": QUERIES, "target": 0, "progress": False, "seed": seed}
    return geex.explain(model, X, journal=journal, limits=limits, run=runner, **settings)


def bits(found: geex.Explanation) -> str:
    """Return all numbers of an explanation."""
    return f"{found.values.tobytes().hex()} {found.stderr.tobytes().hex()} {found.queries}"


if __name__ == "__main__":
    name, path, number, log_path, url = sys.argv[1:]
    print(bits(explained(name, path, int(number), log_path, url)))
