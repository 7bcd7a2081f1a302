"""geex table, as a person uses it."""

import json
import sys
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import geex
from geex import cli
from geex.cli import main
from geex.cli.errors import message_of

pytest.importorskip("typer")
pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
MODELS = """
import numpy as np
names = None
def row(z):
    return 2 * z[:, 0] - z[:, 1] + z[:, 0] * z[:, 2]
def two(z):
    return np.stack([row(z), -row(z)], axis=1)
def fussy(z):
    if (z[:, 2] == 7.0).any():
        raise ValueError("no sevens")
    return row(z)
calls = 0
def fading(z):
    global calls
    calls += 1
    if calls > 4:
        raise TimeoutError("gone")
    return row(z)
"""
RNG = np.random.default_rng(3)
FRAME = pandas.DataFrame(RNG.normal(size=(8, 3)), columns=["pay", "age", "height"])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    name = f"table_models_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODELS)
    FRAME.assign(id=[f"p{n}" for n in range(8)], label="x").to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "labels.txt").write_text("yes\nno\n")
    yield name
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]


def geex_(capsys, *words):
    errors = [None]
    noting = patch.object(cli, "message_of", lambda error: errors.append(error) or message_of(error))
    with noting, pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return SimpleNamespace(code=end.value.code, out=out, err=err, error=errors[-1])


ROWS = ("rows.csv", "--drop", "label", "--index", "id")


def test_a_table_becomes_parquet_and_csv(here, capsys):
    result = geex_(capsys, "table", f"{here}:row", *ROWS, "-o", "values.parquet", "-o", "values.csv")
    assert result.code == 0, result
    assert "8 rows × 3 columns" in result.out
    assert "wrote values.parquet" in result.out
    found = geex.TableExplanation.read_parquet("values.parquet")
    assert found.index == [f"p{n}" for n in range(8)]
    assert found.index_names == ["id"]
    assert found.columns == ["pay", "age", "height"]
    alike = geex.explain_table(
        lambda z: 2 * z[:, 0] - z[:, 1] + z[:, 0] * z[:, 2], FRAME, baseline=geex.mean(FRAME.to_numpy()), progress=False
    )
    np.testing.assert_allclose(found.values, alike.values, atol=1e-9)
    assert pandas.read_csv("values.csv")["values.age"].tolist() == pytest.approx(found.values[:, 1])


def test_a_parquet_file_is_read_and_json_is_printed(here, capsys):
    FRAME.to_parquet("rows.parquet")
    words = ["--labels", "labels.txt", "-t", "no", "--baseline", "background:5", "-q", 30, "--json"]
    result = geex_(capsys, "table", f"{here}:two", "rows.parquet", *words)
    assert result.code == 0, result
    told = json.loads(result.out)
    assert told["rows"] == 8
    assert {one["column"] for one in told["columns"]} == {"pay", "age", "height"}
    assert told["failed"] == []


def test_a_row_that_fails_is_named(here, capsys):
    FRAME.assign(height=[*FRAME.height[:7], 7.0]).to_csv("sevens.csv", index=False)
    result = geex_(capsys, "table", f"{here}:fussy", "sevens.csv", "--baseline", 0, "-q", 20)
    assert result.code == 0, result
    assert "failed on 1 of 8 rows" in result.err
    assert "row 7: " in result.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((*ROWS, "-o", "values.html"), "suffix-unknown"),
        (("rows.csv", "--index", "id"), "cell-not-a-number"),
        (("rows.csv", "--drop", "label", "--index", "key"), "column-missing"),
        ((*ROWS, "-m", "guided", "-q", 500), "table-method-in-rounds"),
        ((*ROWS, "--score", "best"), "score-unknown"),
        ((*ROWS, "--baseline", "blur"), "table-baseline-rule"),
        ((*ROWS, "-q", 2), "queries-below-least"),
    ],
)
def test_wrong_use(here, capsys, words, code):
    result = geex_(capsys, "table", f"{here}:row", *words)
    assert result.code == 2, result
    assert getattr(result.error, "code", "") == code, result
    assert result.out == ""
    assert len(result.err.splitlines()) <= 3


def test_a_cell_without_a_number_has_a_fix_with_flags(here, capsys):
    frame = FRAME.copy()
    frame.loc[3, "age"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    result = geex_(capsys, "table", f"{here}:row", "gaps.csv")
    assert result.code == 2
    assert result.error.code == "table-not-finite"
    assert "`frame`" not in result.err
    assert "--drop" in result.err


def test_a_run_that_stopped_is_resumed(here, capsys):
    words = ["--journal", "run.geex", "-q", 20, "--batch", 16, "-o", "values.parquet"]
    result = geex_(capsys, "table", f"{here}:fading", *ROWS, *words)
    assert result.code == 1
    assert "geex resume run.geex" in result.err
    sys.modules[here].calls = -1000
    result = geex_(capsys, "resume", "run.geex", "--yes")
    assert result.code == 0, result
    assert sys.modules[here].calls < -1000 + 12  # the first calls were not made again
    assert len(geex.TableExplanation.read_parquet("values.parquet")) == 8
