"""Files that a stranger made end in errors of geex: no other error, no endless loop, and no wrong number."""

import io
import json
import random
import shutil
import sqlite3
import warnings
import zipfile

import numpy as np
import pytest

import geex
from geex._journal.database import Database
from geex.errors import FileError, GeexError, JournalError
from tests.helpers import raises

X = np.linspace(-1, 1, 12).reshape(3, 4)
# What stands in place of a fact.
VALUES = [None, True, -1, 0, 1e308, float("nan"), 10**30, "x", "\x1b[2J", [], [1], {}, {"tuple": [1, 2]}, 2**63, -3.5]
VALUES += [{"kind": "GEEX/1", "with": {}}, {"kind": "Elements/1", "with": {}}, {"array": "explicand"}, {"array": "no"}]
VALUES += [{"bytes": "zz"}, {"dict": 3}, {"kind": 3, "with": 4}, {"function": "os:system"}, {"kind": "os:system"}]


def model(z):
    return np.stack([z.sum((1, 2)), z[:, 0].sum(1)], axis=1)


def places(node, at=()):
    """The place of each part of a JSON value."""
    yield at
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, part in entries:
        yield from places(part, (*at, key))


def changed(node, at, value):
    if not at:
        return value
    made = json.loads(json.dumps(node))
    part = made
    for key in at[:-1]:
        part = part[key]
    part[at[-1]] = value
    return made


def arrays_of(content):
    """The arrays with one of them replaced."""
    for name, array in content.items():
        others = [array.ravel()[:1], np.zeros(0), array[None], np.zeros((2, 3)), np.array(3), np.array("2020", "M8[Y]")]
        others += [np.zeros(3, dtype=[("a", "f8")]), np.full(array.shape, "a"), np.full(array.shape, np.nan)]
        for other in others:
            yield {**content, name: other}
        yield {key: kept for key, kept in content.items() if key != name}


def use(found, folder):
    """Everything that shows an explanation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        repr(found)
        found._repr_html_()
        found.report(folder / "o.html")
        found.plot()
        found.interval()
        found.region(np.ones(found.values.shape[-len(X.shape) :], bool) if found.names else found.values[:] == 0)
        geex.Explanation.load(found.save(folder / "o.npz"))


def attempt(make, folder):
    """Make and use an explanation; whether that ended in an error of geex."""
    try:
        use(make(), folder)
    except GeexError:
        return True
    return False


def saved(folder, target):
    found = geex.explain(model, X, queries=62, target=target, labels=["a", "b"], progress=False)
    return found.named(names=list("abcdefghijkl")).save(folder / "e.npz")


@pytest.mark.slow
@pytest.mark.parametrize("target", [0, "all"])
def test_a_saved_explanation_with_any_other_fact_or_array(tmp_path, target):
    with np.load(saved(tmp_path, target)) as file:
        content = {name: file[name] for name in file.files}
    facts, draws = json.loads(str(content["facts"])), random.Random(7)

    def load():
        return geex.Explanation.load(tmp_path / "x.npz")

    refused = 0
    for at in places(facts):
        for value in draws.sample(VALUES, 4):
            np.savez(tmp_path / "x.npz", **{**content, "facts": np.array(json.dumps(changed(facts, at, value)))})
            refused += attempt(load, tmp_path)
    for other in arrays_of(content):
        np.savez(tmp_path / "x.npz", **other)
        refused += attempt(load, tmp_path)
    assert refused > 200


def edited(source, path, statement, *values):
    shutil.copy(source, path)
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()
    return path


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "run.geex"
    stop = geex.Precise(tolerance=1e-9)
    geex.explain(model, X, method=geex.GEEX(0.5), queries=62, journal=path, progress=False, stop=stop)
    return path


def run_of(journal):
    connection = sqlite3.connect(journal)
    ((settings, arrays),) = connection.execute("SELECT settings, arrays FROM runs").fetchall()
    connection.close()
    facts = json.loads(settings)
    del facts["checksum"]  # whoever makes a file can compute it, too
    with np.load(io.BytesIO(arrays)) as file:
        return facts, {name: file[name] for name in file.files}


@pytest.mark.slow
def test_a_journal_with_any_other_setting_or_array(journal, tmp_path):
    facts, content = run_of(journal)
    path, draws = tmp_path / "x.geex", random.Random(8)

    def load():
        return geex.estimate(path)

    refused = 0
    for at in places(facts):
        for value in draws.sample(VALUES, 4):
            edited(journal, path, "UPDATE runs SET settings = ?", json.dumps(changed(facts, at, value)))
            refused += attempt(load, tmp_path)
    for other in arrays_of(content):
        file = io.BytesIO()
        np.savez(file, **other)
        edited(journal, path, "UPDATE runs SET arrays = ?", file.getvalue())
        refused += attempt(load, tmp_path)
    assert refused > 100


COLUMNS = [("runs", "settings"), ("runs", "arrays"), ("sources", "fingerprint")]
COLUMNS += [("answers", name) for name in ("source", "start", "stop", "width", "checksum", "data")]


@pytest.mark.parametrize("value", [None, -1, 0, 2**62, 2**63 - 1, -(2**63), "x", b"x", 1.5, 1e300], ids=repr)
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_journal_with_any_other_cell(journal, tmp_path, table, column, value):
    """Damaged cells are refused, or their answers are not found: none is taken for the answer to another row."""
    whole, path = geex.estimate(journal), tmp_path / "x.geex"
    statement = f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})"
    try:
        edited(journal, path, statement, value)
    except sqlite3.IntegrityError:
        return  # SQLite refuses two answers to one row
    try:
        found = geex.estimate(path)
    except GeexError:
        return
    assert found.partial or found.values.tobytes() == whole.values.tobytes()


def test_answers_that_are_moved_to_other_rows_are_damage(journal, tmp_path):
    """The checksum is of the answers and of what they answer."""
    path = edited(journal, tmp_path / "x.geex", "DELETE FROM claims")
    connection = sqlite3.connect(path)
    sources = [source for (source,) in connection.execute("SELECT DISTINCT source FROM answers ORDER BY source")]
    assert len(sources) == 2, "the ends, and the plan"
    connection.execute("UPDATE answers SET source = source + 10")
    swapped = (sources[0] + 10, *sources[::-1])
    connection.execute("UPDATE answers SET source = CASE source WHEN ? THEN ? ELSE ? END", swapped)
    connection.commit()
    connection.close()
    with pytest.raises(JournalError):
        geex.estimate(path)


def test_settings_that_are_damaged_are_not_another_question(journal, tmp_path):
    path = edited(
        journal,
        tmp_path / "x.geex",
        "UPDATE runs SET settings = replace(settings, '\"target\": null', '\"target\": 1')",
    )
    with raises(JournalError, "journal-damaged-run"):
        geex.estimate(path)


# Tables that a journal does not have.
ENDLESS = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT "
SCHEMAS = {
    "endless runs": [
        "ALTER TABLE runs RENAME TO old",
        f"CREATE VIEW runs AS {ENDLESS} i AS id, '' AS settings, '' AS arrays FROM n",
    ],
    "endless answers": [
        "ALTER TABLE answers RENAME TO old",
        f"CREATE VIEW answers AS {ENDLESS} 1 AS source, i AS start, i + 1 AS stop, 1 AS width, 0 AS checksum, "
        "'' AS data FROM n",
    ],
    "a view beside": ["CREATE VIEW more AS SELECT 1"],
    "a trigger": ["CREATE TRIGGER t AFTER INSERT ON claims BEGIN DELETE FROM answers; END"],
    "an index": ["CREATE INDEX more ON answers (start)"],
    "a table beside": ["CREATE TABLE more (x)"],
    "a table less": ["DROP TABLE claims"],
    "a computed column": ["ALTER TABLE answers ADD COLUMN more AS (abs(start))"],
    "other columns": ["ALTER TABLE runs RENAME COLUMN settings TO things"],
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_other_tables_are_refused_and_nothing_is_asked(journal, name):
    connection = sqlite3.connect(journal)
    for statement in SCHEMAS[name]:
        connection.execute(statement)
    connection.commit()
    connection.close()
    before, asked = journal.read_bytes(), []
    with raises(JournalError, "journal-other-tables"):
        geex.estimate(journal)
    with raises(JournalError, "journal-other-tables"):
        geex.explain(lambda z: asked.append(z) or model(z), X, queries=62, journal=journal, progress=False)
    assert not asked
    assert journal.read_bytes() == before


def test_a_statement_without_end_is_interrupted(journal):
    """A damaged tree of pages may have far more rows than the file has bytes."""
    database = Database(journal, write=False)
    with raises(JournalError, "journal-damaged"), database.translated_errors():
        database.connection.execute(f"{ENDLESS} max(i) FROM n").fetchone()
    with database.translated_errors():
        assert database.connection.execute("SELECT count(*) FROM answers").fetchone()[0] > 0
    assert database.connection.execute("PRAGMA trusted_schema").fetchone()[0] == 0
    database.close()


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\x03\x04" + b"\x00" * 40, b"\x93NUMPY\x01\x00", b"SQLite format 3\x00"]
)
def test_what_is_hardly_a_file(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(FileError):
        geex.Explanation.load(path)
    with pytest.raises(JournalError):
        geex.estimate(path)


def test_an_array_that_fits_in_no_memory(tmp_path):
    """A header of an .npy file may claim any shape."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }".ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    whole = saved(tmp_path, 0)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(tmp_path / "x.npz", "w") as new:
        for entry in old.infolist():
            new.writestr(entry.filename, content if entry.filename == "values.npy" else old.read(entry))
    with raises(FileError, "file-damaged"):
        geex.Explanation.load(tmp_path / "x.npz")
