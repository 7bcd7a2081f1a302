"""A process that explains over a socket is killed with SIGKILL again and again: nothing is lost, next to nothing asked
twice."""

import signal
import time
from collections import Counter

import numpy as np
from benchmarks.server import Server

import geex
from tests.test_engine import METHOD, X, model
from tests.test_journal import start

KILLS, BATCH, AT_A_TIME, QUERIES = 20, 10, 4, 6000

CODE = """
import sys
import geex
from benchmarks.server import Client
from tests.test_engine import METHOD, X

limits = geex.Limits(concurrency=int(sys.argv[3]), attempts=5)
found = geex.explain(
    Client(int(sys.argv[2])), X, method=METHOD, queries=int(sys.argv[5]), batch=int(sys.argv[4]), journal=sys.argv[1],
    limits=limits, progress=False,
)
print(found.values.tobytes().hex(), found.stderr.tobytes().hex(), found.queries)
"""


def by_row(rows):
    return model(rows.reshape(-1, *X.shape))


def test_twenty_times_killed(tmp_path):
    rng = np.random.default_rng(20)
    plain = geex.explain(model, X, method=METHOD, queries=QUERIES, progress=False)
    with Server(by_row, 0.01, AT_A_TIME) as server:
        arguments = (tmp_path / "run.geex", server.port, AT_A_TIME, BATCH, QUERIES)
        for _ in range(KILLS):
            process = start(*arguments, code=CODE)
            seen = server.requests
            while server.requests == seen:
                assert process.poll() is None, "it was through before it was killed"
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert len(server.answered) < plain.queries - 1, "the last one still has something to ask"
        output = start(*arguments, code=CODE).communicate(timeout=120)[0]
    expected = [plain.values.tobytes().hex(), plain.stderr.tobytes().hex(), str(plain.queries)]
    assert output.split() == expected
    times = server.answered - Counter([X.tobytes()])  # x is asked for a second time on purpose
    assert len(times) == plain.queries - 1
    assert 0 < sum(times.values()) - len(times) <= KILLS * AT_A_TIME * BATCH, "at most what was in flight"
