"""Answers on disk, so that none is paid for twice: by the fingerprint of what is asked, and row.

An SQLite file. An answer is committed before it is used; what a process is about to ask it claims first, so that
several of them can work on one journal. A claim is void when its process is gone: at once on the same machine,
after LEASE seconds without a heartbeat on another.

While a journal is open it has a write-ahead log beside it, but for network file systems, which have no memory to share.
What is committed outlives its process at once; a power cut may take the last SYNC seconds, and harms nothing else.
"""

import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from geex.errors import JournalError
from geex.owner import Owner, on_network
from geex.pool import MINE, STORED, THEIRS

APPLICATION = 0x67656578  # "geex"
FORMAT = 1
LEASE = 60.0
PATIENCE = 60.0  # seconds that a busy file is waited for
SYNC = 1.0

SCHEMA = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, key TEXT UNIQUE, settings TEXT, arrays BLOB);
CREATE TABLE sources (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE);
CREATE TABLE answers (source INTEGER, start INTEGER, stop INTEGER, width INTEGER, checksum INTEGER, data BLOB);
CREATE UNIQUE INDEX place ON answers (source, start);
CREATE TABLE owners (id TEXT PRIMARY KEY, host TEXT, pid INTEGER, born TEXT, beat REAL);
CREATE TABLE claims (source INTEGER, start INTEGER, stop INTEGER, owner TEXT);
"""

Span = tuple[int, int]


class Journal:
    """The journal at `path`. Opened to write, it is made where there is none; opened to read, it changes nothing."""

    def __init__(self, path: Any, write: bool = True) -> None:
        self.path = Path(path)
        self.write = write
        self.owner = Owner.this()
        self._lock = threading.RLock()
        self._sources: dict[str, int] = {}
        self._closed = threading.Event()
        self._synced = 0.0
        with self._reasons():
            self._database = self._opened()
            self._checked()
            if write and not on_network(self.path):
                self._database.execute("PRAGMA journal_mode = WAL")
        if write:
            with self._commits() as database:
                database.execute("INSERT INTO owners VALUES (?, ?, ?, ?, ?)", (*self.owner.facts, time.time()))
            threading.Thread(target=self._beat, daemon=True).start()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back what was claimed and not asked."""
        self._closed.set()
        with self._lock:
            if self.write:
                try:
                    with self._commits() as database:
                        self._forget(database, [self.owner.id])
                    # one plain file again, where nobody else has it open
                    self._database.execute("PRAGMA busy_timeout = 0")
                    self._database.execute("PRAGMA journal_mode = DELETE")
                except (JournalError, sqlite3.Error):
                    pass  # a claim that cannot be given back is void when this process is gone
            self._database.close()
        self.owner.gone()

    # runs

    def remember(self, key: str, settings: str, arrays: bytes) -> None:
        """Keeps what a run was given; the latest of one key stays, in the place of the first."""
        with self._commits() as database:
            database.execute(
                "INSERT INTO runs (key, settings, arrays) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET settings = excluded.settings, arrays = excluded.arrays",
                (key, settings, arrays),
            )

    def runs(self) -> list[tuple[str, bytes]]:
        """Settings and arrays of every run, in the order in which they were begun."""
        with self._reasons():
            return list(self._database.execute("SELECT settings, arrays FROM runs ORDER BY id"))

    # answers

    def stored(self, fingerprint: str) -> list[Span]:
        """The rows that are in, as sorted spans that do not overlap."""
        with self._reasons():
            return self._stored(self._database, self._source(fingerprint), 0, 2**62)

    def read(self, fingerprint: str, start: int, stop: int) -> np.ndarray:
        """Answers (stop − start, k) to rows that are in."""
        with self._reasons():
            found = self._database.execute(
                "SELECT start, stop, width, checksum, data FROM answers WHERE source = ? AND start < ? AND stop > ? "
                "ORDER BY start",
                (self._source(fingerprint), stop, start),
            ).fetchall()
        parts = []
        for first, last, width, checksum, data in found:
            if zlib.crc32(data) != checksum or len(data) != 8 * width * (last - first):
                raise JournalError(f"{self.path}: the answers to rows {first} … {last - 1} are damaged.")
            rows = np.frombuffer(data, "<f8").reshape(-1, width)
            parts.append(rows[max(start - first, 0) : stop - first])
        if len({part.shape[1] for part in parts}) > 1 or sum(len(part) for part in parts) != stop - start:
            raise JournalError(f"{self.path} does not hold rows {start} … {stop - 1}, all of one width, as it should.")
        return np.concatenate(parts)

    def store(self, fingerprint: str, start: int, answers: np.ndarray) -> None:
        """Commits the answers to rows `start` …; rows that another process brought in meanwhile stay as they are."""
        source = self._source(fingerprint)
        stop = start + len(answers)
        with self._commits() as database:
            for first, last in without((start, stop), self._stored(database, source, start, stop)):
                rows = np.ascontiguousarray(answers[first - start : last - start], "<f8")
                data = rows.tobytes()
                database.execute(
                    "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)",
                    (source, first, last, rows.shape[1], zlib.crc32(data), data),
                )
            self._unclaim(database, source, start, stop)

    def claim(self, fingerprint: str, start: int, stop: int) -> list[tuple[int, int, str]]:
        """Claims what of the rows is neither in nor claimed: spans in order, each MINE, THEIRS or STORED."""
        source = self._source(fingerprint)
        with self._commits() as database:
            stored = self._stored(database, source, start, stop)
            theirs = self._claimed(database, source, start, stop)
            free = without((start, stop), sorted(stored + theirs))
            for first, last in free:
                database.execute("INSERT INTO claims VALUES (?, ?, ?, ?)", (source, first, last, self.owner.id))
        claimed = [part for span in theirs for part in without(span, stored)]
        told = [(STORED, stored), (THEIRS, claimed), (MINE, free)]
        return sorted((max(a, start), min(b, stop), state) for state, spans in told for a, b in spans)

    def release(self, fingerprint: str, start: int, stop: int) -> None:
        """Gives back rows that were claimed and will not be asked."""
        with self._commits() as database:
            self._unclaim(database, self._source(fingerprint), start, stop)

    # inside

    def _unclaim(self, database: sqlite3.Connection, source: int, start: int, stop: int) -> None:
        mine = database.execute(
            "SELECT rowid, start, stop FROM claims WHERE source = ? AND owner = ? AND start < ? AND stop > ?",
            (source, self.owner.id, stop, start),
        ).fetchall()
        for place, first, last in mine:
            database.execute("DELETE FROM claims WHERE rowid = ?", (place,))
            for a, b in without((first, last), [(start, stop)]):
                database.execute("INSERT INTO claims VALUES (?, ?, ?, ?)", (source, a, b, self.owner.id))

    def _stored(self, database: sqlite3.Connection, source: int, start: int, stop: int) -> list[Span]:
        return database.execute(
            "SELECT start, stop FROM answers WHERE source = ? AND start < ? AND stop > ? ORDER BY start",
            (source, stop, start),
        ).fetchall()

    def _claimed(self, database: sqlite3.Connection, source: int, start: int, stop: int) -> list[Span]:
        """What living processes have claimed; the claims of dead ones are dropped."""
        owners = database.execute("SELECT id, host, pid, born, beat FROM owners WHERE id != ?", (self.owner.id,))
        gone = [
            owner
            for owner, host, pid, born, beat in owners.fetchall()
            if time.time() - beat > LEASE or not self.owner.sees_alive(owner, host, pid, born)
        ]
        self._forget(database, gone)
        return database.execute(
            "SELECT start, stop FROM claims WHERE source = ? AND owner != ? AND start < ? AND stop > ? ORDER BY start",
            (source, self.owner.id, stop, start),
        ).fetchall()

    def _forget(self, database: sqlite3.Connection, owners: list[str]) -> None:
        for owner in owners:
            database.execute("DELETE FROM claims WHERE owner = ?", (owner,))
            database.execute("DELETE FROM owners WHERE id = ?", (owner,))

    def _source(self, fingerprint: str) -> int:
        if fingerprint not in self._sources:
            if self.write:
                with self._commits() as database:
                    database.execute("INSERT OR IGNORE INTO sources (fingerprint) VALUES (?)", (fingerprint,))
            with self._reasons():
                found = self._database.execute("SELECT id FROM sources WHERE fingerprint = ?", (fingerprint,))
                row = found.fetchone()
            if row is None:
                return -1
            self._sources[fingerprint] = int(row[0])
        return self._sources[fingerprint]

    def _beat(self) -> None:
        while not self._closed.wait(LEASE / 4):
            try:
                with self._commits() as database:
                    database.execute("UPDATE owners SET beat = ? WHERE id = ?", (time.time(), self.owner.id))
            except JournalError:
                pass  # the next answer that is stored meets the same trouble, and says so

    @contextmanager
    def _commits(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is there as a whole, or not at all."""
        with self._reasons():
            due = time.monotonic() - self._synced > SYNC
            self._database.execute(f"PRAGMA synchronous = {'FULL' if due else 'NORMAL'}")
            self._synced = time.monotonic() if due else self._synced
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _reasons(self) -> Iterator[None]:
        """One thread at a time, and errors that say what to do."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise JournalError(self._reason(error)) from error

    def _reason(self, error: sqlite3.Error) -> str:
        said = str(error)
        if "full" in said or "disk I/O" in said:
            hint = "All that was committed is safe: make room and make the same call again, it goes on from there."
        elif "readonly" in said or "unable to open" in said:
            hint = "Wanted a file in a folder that can be written to."
        elif "malformed" in said:
            hint = "The file is damaged; `sqlite3 FILE .recover` may bring back what is left."
        elif "not a database" in said:
            hint = "It is another kind of file, and is left as it is; take another name."
        elif "locked" in said:
            hint = "Another process holds it; try again when that one is through."
        else:
            hint = "All that was committed to it is safe."
        return f"the journal {self.path} cannot be used ({said}). {hint}"

    def _opened(self) -> sqlite3.Connection:
        if self.path.is_dir():
            raise JournalError(f"the journal {self.path} is a folder; wanted a file, such as {self.path / 'run.geex'}.")
        if not self.write and not self.path.exists():
            raise JournalError(f"there is no journal {self.path}; wanted a file that geex.explain(journal=…) wrote.")
        mode = "rwc" if self.write else "ro"
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(address, PATIENCE, isolation_level=None, check_same_thread=False, uri=True)

    def _checked(self) -> None:
        """Refuses what is no journal of this version, before anything is written."""
        database = self._database
        if self.write and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with self._commits():
                if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    for statement in SCHEMA.strip().split(";\n"):
                        database.execute(statement)
                    database.execute(f"PRAGMA application_id = {APPLICATION}")
                    database.execute(f"PRAGMA user_version = {FORMAT}")
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION:
            raise JournalError(f"{self.path} is a database but no journal of geex, and is left as it is.")
        if version != FORMAT:
            raise JournalError(
                f"{self.path} is a journal in format {version} and this version of geex reads format {FORMAT}; it is "
                "left as it is. Go on with the version that wrote it, or take another name."
            )
        pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        logged = self.path.with_name(f"{self.path.name}-wal").exists()
        if not logged and self.path.stat().st_size < pages * size:
            raise JournalError(
                f"{self.path} is cut short: {self.path.stat().st_size} of {pages * size} bytes are left. "
                "`sqlite3 FILE .recover` may bring back what is left; take another name to start anew."
            )


def without(span: Span, taken: list[Span]) -> list[Span]:
    """What of a span is in none of the sorted spans `taken`."""
    free, start = [], span[0]
    for first, last in taken:
        if first > start:
            free.append((start, min(first, span[1])))
        start = max(start, last)
    if start < span[1]:
        free.append((start, span[1]))
    return free
