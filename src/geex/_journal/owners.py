"""Owners of claims: which of them are alive, by their heartbeats as this process sees them.

An owner adds 1 to its count of beats every LEASE / 4 seconds. It is void, and so are its claims, when its process has
ended on this machine, or when its count has stood still for LEASE seconds of this process's own clock. No two clocks
are compared. An owner that was void, and runs again, registers again.
"""

import sqlite3
import time
from dataclasses import dataclass

from geex._journal.process_owner import Owner

# Seconds without a beat after which an owner is void.
LEASE = 60.0
# Seconds between the beats of an owner.
BEAT = LEASE / 4
# The most seconds that count between two looks: this process may have stood still itself.
LOOK = LEASE / 12


@dataclass
class Silence:
    """How long an owner has been silent: its last count of beats, the seconds since, and the time of the last look."""

    beat: float
    seconds: float
    looked: float


class Owners:
    """The owners in the file of one journal. `own` is this process."""

    def __init__(self) -> None:
        self.own = Owner.this()
        self._silent: dict[str, Silence] = {}

    def register(self, database: sqlite3.Connection) -> None:
        """Enter this process, unless it is registered."""
        database.execute("INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?, 0)", self.own.facts)

    def beat(self, database: sqlite3.Connection) -> None:
        """Count a beat of this process. Another process may have found it void: then register again."""
        self.register(database)
        database.execute("UPDATE owners SET beat = beat + 1 WHERE id = ?", (self.own.id,))

    def leave(self, database: sqlite3.Connection) -> None:
        """Remove this process and its claims."""
        self._remove(database, self.own.id)

    def remove_void(self, database: sqlite3.Connection) -> None:
        """Remove owners that are void, and claims that nobody owns."""
        found = database.execute(
            "SELECT id, host, pid, born, beat FROM owners WHERE id != ?", (self.own.id,)
        ).fetchall()
        self._silent = {owner: self._silence(owner, beat) for owner, *_, beat in found}
        for owner, host, pid, born, _ in found:
            if self._silent[owner].seconds > LEASE or not self.own.is_alive(owner, host, pid, born):
                self._remove(database, owner)
                del self._silent[owner]  # if it comes back, its beats are counted anew
        database.execute("DELETE FROM claims WHERE owner NOT IN (SELECT id FROM owners)")

    def _silence(self, owner: str, beat: float) -> Silence:
        now, last = time.monotonic(), self._silent.get(owner)
        if last is None or last.beat != beat:
            return Silence(beat, 0.0, now)
        return Silence(beat, last.seconds + min(now - last.looked, LOOK), now)

    def _remove(self, database: sqlite3.Connection, owner: str) -> None:
        database.execute("DELETE FROM claims WHERE owner = ?", (owner,))
        database.execute("DELETE FROM owners WHERE id = ?", (owner,))
