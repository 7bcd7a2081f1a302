"""python -m benchmarks.journal [--rows N] [--out FOLDER]: time per row of a journal that holds up to N single rows.

One row is claimed, stored and read at a time, which is the slowest use of a journal. The rows in between are inserted
in bulk. The time must not grow with the rows.
"""

import argparse
import json
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

from benchmarks.machine import RESULTS, record
from geex._journal.journal import Journal

SIZES = (0, 40_000, 1_000_000, 10_000_000)
TIMED = 2000  # rows whose time is taken
OUTPUTS = 2


def main() -> None:
    """Run the measurement and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=SIZES[-1])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "run.geex") as journal:
        found = {f"{size:,} rows, ms a row": milliseconds(journal, size) for size in SIZES if size <= options.rows}
    print(json.dumps(found, indent=1))
    record("journal", found, options.out)


def milliseconds(journal: Journal, size: int) -> float:
    """Fill the journal up to `size` rows, and time the next ones."""
    fill(journal, size)
    row = np.ones((1, OUTPUTS))
    begin = time.perf_counter()
    for start in range(size, size + TIMED):
        journal.claim("plan", start, start + 1)
        journal.store("plan", start, row)
        journal.read("plan", start, start + 1)
    return round(1000 * (time.perf_counter() - begin) / TIMED, 3)


def fill(journal: Journal, size: int) -> None:
    """Insert single rows, up to `size` of them."""
    data = np.ones((1, OUTPUTS)).tobytes()
    source, first = journal._source("plan"), journal.count("plan")
    entries = ((source, row, row + 1, OUTPUTS, zlib.crc32(data), data) for row in range(first, size))
    with journal.database.commits() as database:
        database.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", entries)


if __name__ == "__main__":
    main()
