"""The file of a journal: an SQLite database.

While it is open it has a write-ahead log beside it, except on network file systems, which cannot share memory. What is
committed outlives its process at once. A power cut may lose the last SYNC seconds, and damages nothing.

The file may come from a stranger. It must have the tables of SCHEMA and nothing else (no view, no trigger), SQLite runs
no function for its schema, and no statement takes more steps than the size of the file explains.
"""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geex._journal.process_owner import on_network
from geex.errors import JournalError

# SQLite's application id of a journal: "geex" in ASCII.
APPLICATION = 0x67656578
# The version of SCHEMA.
FORMAT = 1
# Seconds to wait for a file that another process has locked.
PATIENCE = 60.0
# Seconds between writes that wait for the disk: a wait for every answer would slow fast models down.
SYNC = 1.0

# The tables. `place` keeps each row's answer once; `born` and `beat` tell whether an owner is alive.
SCHEMA = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, key TEXT UNIQUE, settings TEXT, arrays BLOB);
CREATE TABLE sources (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE);
CREATE TABLE answers (source INTEGER, start INTEGER, stop INTEGER, width INTEGER, checksum INTEGER, data BLOB);
CREATE UNIQUE INDEX place ON answers (source, start);
CREATE TABLE owners (id TEXT PRIMARY KEY, host TEXT, pid INTEGER, born TEXT, beat REAL);
CREATE TABLE claims (source INTEGER, start INTEGER, stop INTEGER, owner TEXT);
"""

# A statement may take so many steps of SQLite, and so many more for each byte of the file: a scan takes less than one.
STEPS, STEPS_PER_BYTE = 10**6, 100
# Steps between two looks at their number.
SCANNED = 10**5

# What the file has: tables and indices, without those that SQLite makes for keys.
ENTRIES = "SELECT type, name, sql FROM sqlite_master WHERE name NOT GLOB 'sqlite_autoindex_*'"
# So many of them are read at most.
MOST_SEEN = 20

# Words in errors of SQLite (which gives no codes for all of them), the code of the JournalError, and its fix.
REASONS = (
    (
        ("full", "disk I/O"),
        "journal-disk-full",
        "Make room and make the same call again: it continues from the answers that were committed.",
    ),
    (("readonly", "unable to open"), "journal-not-writable", "Use a file in a folder that can be written to."),
    (
        ("malformed", "interrupted", "overflow"),
        "journal-damaged",
        "The file is damaged; `sqlite3 FILE .recover` may restore part of it.",
    ),
    (("not a database",), "journal-other-file", "It is another kind of file, and was not changed. Use another name."),
    (("locked",), "journal-locked", "Another process holds it. Try again when that process has ended."),
)
# The code and the fix for all other errors of SQLite.
OTHER_REASON = ("journal-unusable", "The answers that were committed to it are safe.")


class Database:
    """The file at `path`. Opened to write, it is created if missing; opened to read, it is not changed."""

    def __init__(self, path: Path, write: bool) -> None:
        self.path, self.write = path, write
        self.lock = threading.RLock()
        self._synced = 0.0
        self._steps = 0
        with self.translated_errors():
            self.connection = self._opened()
            try:
                self._checked()
                if write and not on_network(path):
                    self._log()
            except BaseException:
                self.connection.close()
                raise

    def close(self) -> None:
        """Close the file, and merge its log into it unless another process has it open."""
        with self.lock:
            if self.write:
                try:
                    self.connection.execute("PRAGMA busy_timeout = 0")
                    self.connection.execute("PRAGMA journal_mode = DELETE")
                except sqlite3.Error:
                    pass  # another process has it open: the log stays, and is read with the file
            self.connection.close()

    @contextmanager
    def commits(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, which is committed as a whole or not at all."""
        with self.translated_errors():
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
    def translated_errors(self) -> Iterator[None]:
        """Let one thread in at a time, and raise errors of SQLite as JournalError."""
        with self.lock:
            self._steps = 0
            try:
                yield
            except (sqlite3.Error, OverflowError) as error:
                raise self._translated(error) from error

    def _translated(self, error: Exception) -> JournalError:
        text = str(error)
        code, fix = next((found for words, *found in REASONS if any(word in text for word in words)), OTHER_REASON)
        return JournalError(f"The journal {self.path} cannot be used ({text}). {fix}", code=code)

    def _opened(self) -> sqlite3.Connection:
        if self.path.is_dir():
            raise JournalError(
                f"`journal` must be a file; {self.path} is a folder. Use a file in it, such as "
                f"{self.path / 'run.geex'}.",
                code="journal-is-a-folder",
            )
        if not self.write and not self.path.exists():
            raise JournalError(
                f"The journal {self.path} does not exist.",
                code="journal-missing",
                fix="Pass a file that geex.explain(journal=…) wrote.",
            )
        if self.write:
            with suppress(OSError):  # SQLite raises its own error then
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        mode = "rw" if self.write else "ro"
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        opened = sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
        opened.execute("PRAGMA trusted_schema = OFF")
        opened.set_progress_handler(self._endless, SCANNED)
        return opened

    def _endless(self) -> bool:
        """Return whether a statement has taken more steps than the file can explain: SQLite interrupts it then."""
        self._steps += SCANNED
        if self._steps <= STEPS:
            return False
        return self._steps > STEPS + STEPS_PER_BYTE * sum(path.stat().st_size for path in self._files())

    def _files(self) -> list[Path]:
        names = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return [path for path in names if path.exists()]

    def _log(self) -> None:
        """Switch to a write-ahead log.

        SQLite itself does not wait for processes that open or close the file just then.
        """
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
        """Create the tables in an empty file. Raise JournalError if the file is not a journal of this version."""
        database = self.connection
        if self.write and not _tables(database):
            with self.commits():
                if not _tables(database):  # another process may have created them meanwhile
                    for statement in SCHEMA.strip().split(";\n"):
                        database.execute(statement)
                    database.execute(f"PRAGMA application_id = {APPLICATION}")
                    database.execute(f"PRAGMA user_version = {FORMAT}")
        if not self.write and not self.path.stat().st_size:
            raise JournalError(
                f"The journal {self.path} is empty. Try again when the run has begun.", code="journal-empty"
            )
        self._check_format()
        self._check_schema()
        self._check_size()

    def _check_format(self) -> None:
        application, version = (self._pragma(name) for name in ("application_id", "user_version"))
        if application != APPLICATION:
            raise JournalError(
                f"{self.path} is a database but not a journal of geex, and was not changed. Use another name.",
                code="journal-other-database",
            )
        if version != FORMAT:
            raise JournalError(
                f"{self.path} is a journal in format {version}; this version of geex reads format {FORMAT}. Use the "
                "version that wrote it, or another name. The file was not changed.",
                code="journal-format",
            )

    def _check_schema(self) -> None:
        """Raise JournalError if the file has more or other than the tables and the index of a journal."""
        found = {
            (kind, name, _spaced(sql)) for kind, name, sql in self.connection.execute(f"{ENTRIES} LIMIT {MOST_SEEN}")
        }
        if found != _entries():
            raise JournalError(
                f"{self.path} has other tables than a journal of geex, and was not changed. Use another name.",
                code="journal-other-tables",
            )

    def _check_size(self) -> None:
        """Raise JournalError if the file is shorter than its pages, with no log that may hold the rest."""
        size, found = self._pragma("page_count") * self._pragma("page_size"), self.path.stat().st_size
        logged = self.path.with_name(f"{self.path.name}-wal").exists()
        if not logged and found < size:
            raise JournalError(
                f"The journal {self.path} is cut short: {found} of {size} bytes are left. `sqlite3 FILE .recover` may "
                "restore part of it; use another name to start anew.",
                code="journal-cut-short",
            )

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])


def _tables(database: sqlite3.Connection) -> int:
    """Return how many tables the file has."""
    return int(database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _entries() -> set[tuple[str, str, str]]:
    """Return type, name and statement of all that a journal has."""
    found = set()
    for statement in SCHEMA.strip().rstrip(";").split(";\n"):
        match = re.match(r"CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)", statement)
        assert match is not None
        found.add((match[1].lower(), match[2], _spaced(statement)))
    return found


def _spaced(statement: object) -> str:
    """Return a statement with single spaces; "" where there is none."""
    return " ".join(statement.split()) if isinstance(statement, str) else ""
