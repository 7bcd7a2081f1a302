"""The file of a journal: an SQLite database that is refused where it is not one, and tells its troubles in words.

While it is open it has a write-ahead log beside it, but for network file systems, which have no memory to share. What
is committed outlives its process at once; a power cut may take the last SYNC seconds, and harms nothing else.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geex._journal.process_owner import on_network
from geex.errors import JournalError

APPLICATION = 0x67656578  # "geex"
FORMAT = 1
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


class Database:
    """The file at `path`. Opened to write, it is made where there is none; opened to read, it is not changed."""

    def __init__(self, path: Path, write: bool) -> None:
        self.path, self.write = path, write
        self.lock = threading.RLock()
        self._synced = 0.0
        with self.reasons():
            self.connection = self._opened()
            try:
                self._checked()
                if write and not on_network(path):
                    self._log()
            except BaseException:
                self.connection.close()
                raise

    def close(self) -> None:
        """Makes one plain file of it again, where nobody else has it open."""
        with self.lock:
            if self.write:
                try:
                    self.connection.execute("PRAGMA busy_timeout = 0")
                    self.connection.execute("PRAGMA journal_mode = DELETE")
                except sqlite3.Error:
                    pass  # the log stays beside it, and is read with it
            self.connection.close()

    @contextmanager
    def commits(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is there as a whole, or not at all."""
        with self.reasons():
            due = time.monotonic() - self._synced > SYNC
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if due else 'NORMAL'}")
            self._synced = time.monotonic() if due else self._synced
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reasons(self) -> Iterator[None]:
        """One thread at a time, and errors that say what to do."""
        with self.lock:
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
        return sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)

    def _log(self) -> None:
        """Turns to a write-ahead log. SQLite does not wait for others that open or close it just then: we do."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _checked(self) -> None:
        """Refuses what is no journal of this version, before anything is written."""
        database = self.connection
        if self.write and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with self.commits():
                if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    for statement in SCHEMA.strip().split(";\n"):
                        database.execute(statement)
                    database.execute(f"PRAGMA application_id = {APPLICATION}")
                    database.execute(f"PRAGMA user_version = {FORMAT}")
        if not self.write and not self.path.stat().st_size:
            raise JournalError(f"{self.path} is empty: nothing was asked yet. Try again when the run has begun.")
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
