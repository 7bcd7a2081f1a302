"""A process that explains over HTTP is killed at twenty random moments: nothing is lost, hardly a row asked twice."""

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.servers import FaultServer
from tests.system.killed import AT_A_TIME, ROWS, bits, explained

pytest.importorskip("httpx")

KILLS = 20
MOST = 20  # answers to one process: so many that the last one has something left to ask, on any machine


def started(url, journal):
    command = [sys.executable, "-m", "tests.system.killed", url, str(journal)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


@pytest.mark.slow
def test_twenty_times_killed(tmp_path):
    rng = np.random.default_rng(20)
    with FaultServer(share=0.0) as server:
        whole = explained(server.url)
    with FaultServer(seed=5, share=0.05, service_seconds=0.04, concurrency=AT_A_TIME) as server:
        for _ in range(KILLS):
            seen, server.allowed = server.bodies.total(), MOST
            process = started(server.url, tmp_path / "run.geex")
            while server.bodies.total() == seen:
                assert process.poll() is None, "it was through before it was killed"
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1))
            process.kill()
            process.communicate()
        assert len(server.answered) < whole.queries, "the last one has something left to ask"
        server.allowed = math.inf
        output, _ = started(server.url, tmp_path / "run.geex").communicate(timeout=120)
    assert output.strip() == bits(whole)
    assert len(server.answered) == whole.queries
    twice = server.answered.total() - len(server.answered)
    assert 0 < twice <= KILLS * AT_A_TIME * ROWS, "at most what was in flight"
