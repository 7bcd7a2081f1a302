"""Files of every stored version open, and ask nothing, whatever becomes of the code that wrote them."""

import ast
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import geex
from geex import errors
from geex._stored_names import UnknownName, class_of
from tests.golden_runs import NAMES, ROOT, ROW, Counted, names_and_values, run, scores

SOURCE = Path(geex.__file__).parent


@pytest.fixture
def journal(tmp_path):
    return Path(shutil.copy(ROOT / "journal-1.geex", tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_journal_asks_nothing(name, journal):
    found, rows = run(name, journal)
    kept = geex.Explanation.load(ROOT / f"{name}.npz")
    assert rows == 0
    np.testing.assert_allclose(found.values, kept.values, rtol=1e-6, atol=1e-9)
    # other linear algebra rounds on the scale of the answers, whatever is left of it in an error near 0
    np.testing.assert_allclose(found.stderr, kept.stderr, rtol=1e-6, atol=1e-9 * max(1.0, np.abs(kept.values).max()))
    assert (found.target, found.queries) == (kept.target, kept.queries)


@pytest.mark.parametrize("which", range(len(NAMES)))
def test_every_golden_run_is_estimated_again(which, journal):
    kept = geex.Explanation.load(ROOT / f"{NAMES[which]}.npz")
    found = geex.estimate(journal, which=which)
    np.testing.assert_allclose(found.values, kept.values, rtol=1e-6, atol=1e-9)


def test_stored_names_keep_what_they_take():
    """A change here changes fingerprints: give the class a new version, and write a reader of the old one."""
    wanted = json.loads((ROOT / "names-1.json").read_text())
    found = json.loads(json.dumps(names_and_values()))
    for name, values in wanted.items():
        assert name in found, f"{name} has no class any more"
        assert found[name].items() >= values.items(), name
        added = set(found[name]) - set(values)
        assert all(found[name][one] != "required" for one in added), f"{name}: a new setting needs a default"


RENAMED = {"Noise": "Perturbation", "PresenceMasks": "Showing", "Dense": "Spread", "Subsets": "Coalitions"}
MOVED = {"_plan/noise.py": "_plan/perturbation.py", "_plan/path.py": "_arrays/positions.py"}


@pytest.mark.slow
def test_classes_that_are_renamed_moved_and_extended_ask_nothing(journal, tmp_path):
    """Private classes get other names, modules and one more setting each, in a copy of the source."""
    copy = tmp_path / "src" / "geex"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for old, new in MOVED.items():
        (copy / old).rename(copy / new)
    for path in copy.rglob("*.py"):
        text = path.read_text()
        for old, new in MOVED.items():
            module, moved = (part.removesuffix(".py").replace("/", ".") for part in (old, new))
            text = text.replace(f"geex.{module}", f"geex.{moved}")
        for old, new in RENAMED.items():
            text = re.sub(rf"\b{old}\b", new, text)
        path.write_text(_extended(text))
    assert sum("extra: int = 7" in path.read_text() for path in copy.rglob("*.py")) == len(RENAMED)
    code = (
        "import geex, sys; from tests.golden_runs import NAMES, run; assert geex.__file__.startswith(sys.argv[2]);"
        "print(sum(run(name, sys.argv[1])[1] for name in NAMES))"
    )
    path = os.pathsep.join([str(copy.parent), str(ROOT.parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", code, str(journal), str(copy)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


def _extended(text):
    """The source with one more setting for each class that was renamed."""
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ClassDef) and node.name in RENAMED.values():
            last = max(part.end_lineno for part in node.body if isinstance(part, ast.AnnAssign))
            lines.insert(last, "    extra: int = 7")
    return "\n".join(lines)


@dataclass(frozen=True)
class Handed(geex.Family):
    """A family with a setting that has no stable form."""

    scale: object

    def draw(self, stream, shape):
        return stream.normal(shape)

    def score(self, noise):
        return noise


@dataclass(frozen=True)
class Wide(geex.Family):
    """A user's own family, with a stable value."""

    factor: float = 1.0

    def draw(self, stream, shape):
        return stream.normal(shape)

    def score(self, noise):
        return noise


def test_what_has_no_stable_values_is_refused_before_anything_is_asked(tmp_path):
    model = Counted(scores)
    for unstable in (Handed(object()), Handed(lambda: 1)):
        with pytest.raises(errors.JournalError) as found:
            geex.explain(model, ROW, method=geex.GEEX(0.5, family=unstable), queries=62, journal=tmp_path / "j.geex")
        assert found.value.code == "journal-unstable-values"
    assert model.rows == 0
    geex.explain(model, ROW, method=geex.GEEX(0.5, family=Handed(object())), queries=62, progress=False)
    assert model.rows > 0


def test_a_users_own_family_is_found_again_by_its_values(tmp_path):
    path = tmp_path / "run.geex"
    for factor, rows in ((1.0, 61), (1.0, 2), (2.0, 2 + 58)):
        model = Counted(scores)
        method = geex.GEEX(0.5, family=Wide(factor))
        found = geex.explain(model, ROW, method=method, queries=62, journal=path, progress=False)
        assert model.rows == rows
    again = geex.estimate(path)
    assert again.values.tobytes() == found.values.tobytes()


def test_unknown_names_end_in_an_error_that_gives_the_way_out(tmp_path):
    path, saved = tmp_path / "run.geex", tmp_path / "saved.npz"
    features = geex.Groups(np.arange(5))
    geex.explain(scores, ROW, method=geex.GEEX(0.5), queries=62, journal=path, features=features, progress=False).save(
        saved
    )
    with pytest.raises(errors.JournalError) as found:
        geex.estimate(_of_a_later_version(path))
    assert found.value.code == "journal-unknown-name"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(tmp_path / "other.npz", "w") as new:
        for entry in old.infolist():
            new.writestr(
                entry.filename, old.read(entry).replace("Groups/1".encode("utf-32-le"), "Groups/9".encode("utf-32-le"))
            )
    with pytest.raises(errors.FileError) as found:
        geex.Explanation.load(tmp_path / "other.npz")
    assert found.value.code == "file-unknown-name"


def _of_a_later_version(path):
    """The journal with a method of another version, and no checksum of its settings."""
    connection = sqlite3.connect(path)
    ((settings,),) = connection.execute("SELECT settings FROM runs").fetchall()
    facts = json.loads(settings.replace("GEEX/1", "GEEX/9"))
    del facts["checksum"]
    connection.execute("UPDATE runs SET settings = ?", (json.dumps(facts),))
    connection.commit()
    connection.close()
    return path


def test_a_file_makes_no_other_objects():
    """A crafted file may name a dataclass of any module that is imported: only extensions are made."""
    for name in ("dataclasses:Field", "tests.golden_runs:Counted", "geex._query.limits:Limits", "os:system"):
        with pytest.raises(UnknownName):
            class_of(name)
