"""Persistent cache of answers, keyed by model identity, plan fingerprint and row.

An SQLite file. An answer is committed before it is used. A process claims rows before it queries them, so that several
processes can share a journal. `owners` has when a claim is void. The time for one row does not grow with their number:
every lookup is by the index of (source, start).
"""

import sqlite3
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from geex._journal.database import Database
from geex._journal.owners import BEAT, Owners
from geex._plain_text import one_line
from geex.errors import JournalError

# The states of rows: claimed by this process, claimed by another, answered.
MINE, THEIRS, STORED = "mine", "theirs", "stored"
# Above every row: the end of a span without end.
END = 2**62

Span = tuple[int, int]


class Journal:
    """The journal at `path`. Opened to write, it is created if missing; opened to read, it is not changed.

    identity: the identity of the model whose answers are read and stored.
    """

    def __init__(self, path: Any, write: bool = True, identity: str = "") -> None:
        self.path = Path(path)
        self.write = write
        self.identity = identity
        self.database = Database(self.path, write)
        self.owners = Owners()
        self._sources: dict[str, int] = {}
        self._closed = threading.Event()
        if write:
            with self.database.commits() as database:
                self.owners.register(database)
            threading.Thread(target=self._beat, daemon=True).start()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the claims of this process, and close the file."""
        self._closed.set()
        self.owners.own.end()
        with self.database.lock:
            if self.write:
                try:
                    with self.database.commits() as database:
                        self.owners.leave(database)
                except JournalError:
                    pass  # a claim that cannot be released is void all the same: its owner has ended
            self.database.close()

    def store_run(self, key: str, settings: str, arrays: bytes) -> None:
        """Store the task of a run, after all others. It replaces an earlier one with the same key."""
        with self.database.commits() as database:
            last = database.execute("SELECT coalesce(max(id), 0) FROM runs").fetchone()[0]
            database.execute("DELETE FROM runs WHERE key = ?", (key,))
            database.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (last + 1, key, settings, arrays))

    def runs(self) -> list[tuple[str, bytes]]:
        """Return settings and arrays of every run, in the order in which they were last started."""
        with self.database.translated_errors():
            return list(self.database.connection.execute("SELECT settings, arrays FROM runs ORDER BY id"))

    def stored(self, fingerprint: str, start: int = 0, stop: int = END) -> list[Span]:
        """Return the rows of start … stop − 1 that have answers, as sorted spans that neither overlap nor touch."""
        with self.database.translated_errors():
            return merged(self._stored(self.database.connection, self._source(fingerprint), start, stop))

    def count(self, fingerprint: str, stop: int = END) -> int:
        """Return how many of the rows 0 … stop − 1 have answers."""
        with self.database.translated_errors():
            found = self.database.connection.execute(
                "SELECT coalesce(sum(min(stop, ?) - start), 0) FROM answers WHERE source = ? AND start < ?",
                (stop, self._source(fingerprint), stop),
            )
            return int(found.fetchone()[0])

    def read(self, fingerprint: str, start: int, stop: int) -> np.ndarray:
        """Return the answers (stop − start, k) to stored rows. Raise JournalError if some are damaged or missing."""
        with self.database.translated_errors():
            found = self._answers("start, stop, width, checksum, data", self._source(fingerprint), start, stop)
        parts = []
        for first, last, width, checksum, data in found:
            # journals of older versions have the checksum of the data alone
            sums = (self._checksum(fingerprint, first, data), zlib.crc32(data)) if isinstance(data, bytes) else ()
            if checksum not in sums or len(data) != 8 * width * (last - first):
                raise JournalError(
                    f"The journal {self.path} is damaged: the answers to rows {first} … {last - 1} do not match their "
                    "checksum. Use another name to start anew.",
                    code="journal-damaged-answers",
                )
            rows = np.frombuffer(data, "<f8").reshape(-1, width)
            parts.append(rows[max(start - first, 0) : stop - first])
        if len({part.shape[1] for part in parts}) > 1 or sum(len(part) for part in parts) != stop - start:
            raise self._damaged(start, stop)
        return np.concatenate(parts)

    def store(self, fingerprint: str, start: int, answers: np.ndarray) -> None:
        """Commit the answers to rows `start` …. Rows that another process has stored meanwhile stay as they are."""
        source = self._source(fingerprint)
        stop = start + len(answers)
        with self.database.commits() as database:
            for first, last in without((start, stop), self._stored(database, source, start, stop)):
                rows = np.ascontiguousarray(answers[first - start : last - start], "<f8")
                data = rows.tobytes()
                database.execute(
                    "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)",
                    (source, first, last, rows.shape[1], self._checksum(fingerprint, first, data), data),
                )
            self._unclaim(database, source, start, stop)

    def discard_other_widths(self, width: int) -> None:
        """Remove answers of another width from what this process has queried or read: they were wrong."""
        with self.database.commits() as database:
            for source in self._sources.values():
                database.execute("DELETE FROM answers WHERE source = ? AND width != ?", (source, width))

    def claim(self, fingerprint: str, start: int, stop: int) -> list[tuple[int, int, str]]:
        """Claim the rows that are neither stored nor claimed. Return all as spans in order: MINE, THEIRS or STORED."""
        source, own = self._source(fingerprint), self.owners.own.id
        with self.database.commits() as database:
            self.owners.register(database)
            self.owners.remove_void(database)
            stored = merged(self._stored(database, source, start, stop))
            theirs = database.execute(
                "SELECT start, stop FROM claims WHERE source = ? AND owner != ? AND start < ? AND stop > ? "
                "ORDER BY start",
                (source, own, stop, start),
            ).fetchall()
            free = without((start, stop), sorted(stored + theirs))
            for first, last in free:
                database.execute("INSERT INTO claims VALUES (?, ?, ?, ?)", (source, first, last, own))
        claimed = [part for span in theirs for part in without(span, stored)]
        states = [(STORED, stored), (THEIRS, claimed), (MINE, free)]
        return sorted((max(a, start), min(b, stop), state) for state, spans in states for a, b in spans)

    def claimants(self, fingerprint: str, start: int, stop: int) -> list[str]:
        """Return which processes have claimed rows, in words."""
        with self.database.translated_errors():
            found = self.database.connection.execute(
                "SELECT DISTINCT pid, host FROM owners JOIN claims ON owners.id = claims.owner "
                "WHERE source = ? AND start < ? AND stop > ?",
                (self._source(fingerprint), stop, start),
            )
            return [one_line(f"process {pid} on {str(host).partition(' ')[0]}") for pid, host in found]

    def release(self, fingerprint: str, start: int, stop: int) -> None:
        """Release rows that were claimed and will not be queried."""
        with self.database.commits() as database:
            self._unclaim(database, self._source(fingerprint), start, stop)

    def _unclaim(self, database: sqlite3.Connection, source: int, start: int, stop: int) -> None:
        claims = database.execute(
            "SELECT rowid, start, stop FROM claims WHERE source = ? AND owner = ? AND start < ? AND stop > ?",
            (source, self.owners.own.id, stop, start),
        ).fetchall()
        for place, first, last in claims:
            database.execute("DELETE FROM claims WHERE rowid = ?", (place,))
            for a, b in without((first, last), [(start, stop)]):  # what of the claim lies outside the rows
                database.execute("INSERT INTO claims VALUES (?, ?, ?, ?)", (source, a, b, self.owners.own.id))

    def _stored(self, database: sqlite3.Connection, source: int, start: int, stop: int) -> list[Span]:
        return [(first, last) for first, last in self._answers("start, stop", source, start, stop)]

    def _answers(self, columns: str, source: int, start: int, stop: int) -> list[tuple[Any, ...]]:
        """Return columns of the stored spans that meet start … stop − 1.

        Spans do not overlap, so of those that begin at `start` or before, the last one alone can reach it.
        """
        found = self.database.connection.execute(
            f"SELECT {columns} FROM answers WHERE source = :source AND stop > :start AND start < :stop "
            "AND start >= coalesce((SELECT start FROM answers WHERE source = :source AND start <= :start "
            "ORDER BY start DESC LIMIT 1), :start) ORDER BY start",
            {"source": source, "start": start, "stop": stop},
        ).fetchall()
        # SQLite keeps any type in any column
        if not all(isinstance(entry, int | bytes) and not isinstance(row[1], bytes) for row in found for entry in row):
            raise self._damaged(start, stop)
        return found

    def _damaged(self, start: int, stop: int) -> JournalError:
        return JournalError(
            f"The journal {self.path} is damaged: rows {start} … {stop - 1} are missing, of several widths or no "
            "numbers. Use another name to start anew.",
            code="journal-damaged-rows",
        )

    def _checksum(self, fingerprint: str, start: int, data: bytes) -> int:
        """Return a checksum of answers and of what they answer, so that no damage gives them to other rows."""
        return zlib.crc32(data, zlib.crc32(f"{self._named(fingerprint)} {start}".encode()))

    def _named(self, fingerprint: str) -> str:
        return f"{fingerprint} of {self.identity}" if self.identity else fingerprint

    def _source(self, fingerprint: str) -> int:
        """Return the number of a plan's fingerprint in the file; −1 where it is not in a file opened to read."""
        fingerprint = self._named(fingerprint)
        if fingerprint not in self._sources:
            if self.write:
                with self.database.commits() as database:
                    database.execute("INSERT OR IGNORE INTO sources (fingerprint) VALUES (?)", (fingerprint,))
            with self.database.translated_errors():
                found = self.database.connection.execute("SELECT id FROM sources WHERE fingerprint = ?", (fingerprint,))
                row = found.fetchone()
            if row is None:
                return -1
            self._sources[fingerprint] = int(row[0])
        return self._sources[fingerprint]

    def _beat(self) -> None:
        while not self._closed.wait(BEAT):
            try:
                with self.database.commits() as database:
                    self.owners.beat(database)
            except JournalError:
                pass  # the next answer that is stored raises the same error, in a thread that reports it


def without(span: Span, taken: list[Span]) -> list[Span]:
    """Return what of a span is in none of the sorted spans `taken`."""
    free, start = [], span[0]
    for first, last in taken:
        if first > start:
            free.append((start, min(first, span[1])))
        start = max(start, last)
    if start < span[1]:
        free.append((start, span[1]))
    return free


def merged(spans: list[Span]) -> list[Span]:
    """Return sorted spans, those that touch joined."""
    found: list[Span] = []
    for start, stop in spans:
        if found and found[-1][1] >= start:
            start = found.pop()[0]
        found.append((start, stop))
    return found
