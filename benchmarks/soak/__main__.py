"""`python -m benchmarks.soak [--seed N] [--quick]`: see the package."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import record
from benchmarks.soak import page
from benchmarks.soak.calls import fuzzed_calls
from benchmarks.soak.commands import fuzzed_commands
from benchmarks.soak.files import damaged_files, make_files
from benchmarks.soak.kills import killed_runs
from benchmarks.soak.skew import skewed_hour

# How many kills, calls, command lines and files; and of a quick run.
COUNTS = {"kills": 100, "calls": 8000, "commands": 2000, "files": 500}
QUICK = {"kills": 4, "calls": 100, "commands": 50, "files": 30}


def soaked(seed: int, counts: dict[str, int], folder: Path) -> dict[str, Any]:
    """Return the figures of all parts."""
    began = time.monotonic()
    (folder / "files").mkdir()
    found: dict[str, Any] = {"seed": seed, "skew": skewed_hour(seed, folder)}
    print(found["skew"], flush=True)
    found["calls"] = _shown(fuzzed_calls(counts["calls"], seed))
    home = os.getcwd()
    os.chdir(folder / "files")
    try:
        make_files(folder / "files")
        found["files"] = _shown(damaged_files(counts["files"], seed))
        found["commands"] = _shown(fuzzed_commands(counts["commands"], seed))
    finally:
        os.chdir(home)
    found["kills"] = killed_runs(counts["kills"], np.random.default_rng(seed), folder)
    return {**found, "seconds": time.monotonic() - began}


def _shown(figures: dict[str, Any]) -> dict[str, Any]:
    print(figures, flush=True)
    return figures


def failures(figures: dict[str, Any]) -> int:
    """Return how many attempts were wrong or hung, or asked more rows again than were in flight."""
    parts = [figures[name] for name in ("calls", "commands", "files")] + list(figures["kills"].values())
    beyond = sum(one["repeated_rows"] > one["rows_in_flight"] for one in figures["kills"].values())
    left = sum(one["left_running"] for one in figures["kills"].values())
    both = figures["skew"]["rows_asked_of_two_living_processes"]
    return int(sum(one["wrong"] + one["hung"] for one in parts) + beyond + left + both)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--quick", action="store_true", help="a few of each, for a first look; nothing is written")
    options.add_argument("--folder", type=Path, help="where soak.json is written, in place of the results")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        result = soaked(given.seed, QUICK if given.quick else COUNTS, Path(name))
    if given.folder is not None:
        record("soak", result, given.folder)
    elif not given.quick:
        print(f"wrote {record('soak', result)} and {page.PAGE}")
        page.write(result)
    failed = failures(result)
    print(f"{failed} failures in {result['seconds'] / 60:.1f} minutes")
    sys.exit(1 if failed else 0)
