"""A table job is killed again and again: it continues, pays for no answer twice, and ends with the same bytes."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import geex
from tests.system.killed_table import BATCH, ROWS, Slow, bits, explained

KILLS = 5


def rows_in(log):
    return sum(map(int, log.read_text().split())) if log.exists() else 0


@pytest.mark.slow
def test_five_times_killed(tmp_path):
    whole = explained(tmp_path / "whole.txt", seconds=0)
    log, journal = tmp_path / "log.txt", tmp_path / "table.geex"
    command = [sys.executable, "-m", "tests.system.killed_table", str(journal), str(log)]
    settings = {"stdout": subprocess.PIPE, "text": True, "cwd": Path(__file__).parents[2]}
    for _ in range(KILLS):
        before = rows_in(log)
        process = subprocess.Popen(command, **settings)
        while rows_in(log) < before + 2 * BATCH:
            assert process.poll() is None, "it was through before it was killed"
            time.sleep(0.002)
        process.kill()
        process.communicate()
    output, _ = subprocess.Popen(command, **settings).communicate(timeout=120)
    assert output.strip() == bits(whole)
    assert rows_in(log) <= rows_in(tmp_path / "whole.txt") + KILLS * BATCH  # at most what was in flight


@pytest.mark.slow
def test_processes_give_the_same_bytes(tmp_path):
    whole = explained(tmp_path / "whole.txt", seconds=0)
    model = Slow(str(tmp_path / "workers.txt"), 0)
    run = geex.run.processes(2)
    found = geex.explain_table(
        model, ROWS, queries=40, batch=32, limits=geex.Limits(compare=False), run=run, progress=False
    )
    assert bits(found) == bits(whole)
    assert np.array_equal(found.queries, whole.queries)
