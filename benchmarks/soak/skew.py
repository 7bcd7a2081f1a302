"""An hour of several processes on one journal, in simulated time: they stand still, die, and have clocks of their own.

A row is claimed by one living process at a time, and no row waits longer for a silent one than its lease and two looks.
"""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from geex._journal import owners
from geex._journal.journal import MINE, Journal

# Processes, seconds of a step, and seconds in all.
PROCESSES, STEP, HOUR = 4, 2, 3600
# Seconds for one row.
WORK = 10
# The largest difference of a clock, in seconds.
SKEW = 7200.0


class Process:
    """One process: its journal, its clock, and the row that it works on."""

    def __init__(self, path: Path, clock: SimpleNamespace, draw: random.Random) -> None:
        self.clock, self.draw = clock, draw
        self.skew, self.speed = draw.uniform(-SKEW, SKEW), draw.uniform(0.9, 1.1)
        self.journal = Journal(path)
        # another machine: its end is not seen
        self.journal.database.connection.execute(
            "UPDATE owners SET host = ? WHERE id = ?", (self.journal.owners.own.id, self.journal.owners.own.id)
        )
        object.__setattr__(self.journal.owners.own, "host", self.journal.owners.own.id)
        self.row: int | None = None
        self.first = 0
        self.done_at = self.beaten = 0.0
        self.silent_until = 0.0

    def now(self) -> float:
        """Return the time of its own clock."""
        return self.clock.now * self.speed + self.skew

    def step(self, asked: list[tuple[int, "Process"]]) -> None:
        """Beat, finish a row, or claim the next one."""
        self.clock.own = self.now
        if self.clock.now - self.beaten >= owners.BEAT:
            self.beaten = self.clock.now
            with self.journal.database.commits() as database:
                self.journal.owners.beat(database)
        if self.row is not None:
            if self.clock.now >= self.done_at:
                self.journal.store("plan", self.row, np.ones((1, 1)))
                self.row = None
            return
        while self.journal.stored("plan", self.first, self.first + 1):
            self.first += 1
        for row in range(self.first, self.first + 2 * PROCESSES):
            if self.journal.claim("plan", row, row + 1)[0][2] == MINE:
                self.row, self.done_at = row, self.clock.now + WORK
                asked.append((row, self))
                return


def skewed_hour(seed: int, folder: Path) -> dict[str, Any]:
    """Return how often a row was asked twice without need, and the longest wait for a silent process."""
    draw = random.Random(seed)
    clock = SimpleNamespace(now=0.0, own=lambda: 0.0)
    path = folder / "skewed.geex"
    fake = SimpleNamespace(monotonic=lambda: clock.own(), time=lambda: clock.own())
    asked: list[tuple[int, Process]] = []
    twice, stopped, killed, longest = 0, 0, 0, 0.0
    with patch.object(owners, "time", fake), patch("threading.Thread.start", lambda self: None):
        processes = [Process(path, clock, draw) for _ in range(PROCESSES)]
        orphaned: dict[int, float] = {}
        while clock.now < HOUR:
            clock.now += STEP
            for place, process in enumerate(processes):
                if clock.now < process.silent_until:
                    continue
                chance = draw.random()
                if chance < 0.002:
                    killed += 1
                    orphaned.update({process.row: clock.now} if process.row is not None else {})
                    processes[place] = Process(path, clock, draw)
                    continue
                if chance < 0.006:
                    stopped += 1
                    process.silent_until = clock.now + draw.uniform(5, 300)
                    orphaned.update({process.row: clock.now} if process.row is not None else {})
                    continue
                before = len(asked)
                process.step(asked)
                for row, _ in asked[before:]:
                    others = [one for one in processes if one is not process and one.row == row]
                    twice += any(
                        clock.now >= one.silent_until and clock.now - one.beaten < owners.LEASE / 2 for one in others
                    )
                    if row in orphaned:
                        longest = max(longest, clock.now - orphaned.pop(row))
        stored = processes[0].journal.count("plan")
    return {
        "seconds": HOUR,
        "processes": PROCESSES,
        "stopped": stopped,
        "killed": killed,
        "rows": stored,
        "rows_asked_of_two_living_processes": twice,
        "longest_wait_for_a_silent_process_s": longest,
        "lease_s": owners.LEASE,
    }
