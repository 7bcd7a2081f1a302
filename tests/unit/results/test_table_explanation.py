"""The explanations of a table: rows, importance without what noise adds, files."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import geex
from geex import errors
from geex._results.table.explanation import FailedRow
from geex._results.table.importance import importance, mean_size
from tests.helpers import raises

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
RNG = np.random.default_rng(23)
ROWS = RNG.normal(size=(9, 8))
FRAME = pandas.DataFrame(ROWS, columns=list("abcdefgh"), index=pandas.Index(range(100, 109), name="id"))


def model(z):
    return 3 * z[:, 0] + z[:, 1] * z[:, 2] * z[:, 3]


@pytest.fixture(scope="module")
def found():
    return geex.explain_table(model, FRAME, queries=40, progress=False, labels=["risk"])


def test_a_row_is_an_explanation(found):
    one, other = found[2], found.row(102)
    assert np.array_equal(one.values, found.values[2])
    assert np.array_equal(one.values, other.values)
    assert one.names == list("abcdefgh")
    assert one.output == found.output[2]
    assert one.record is None
    assert "risk" in repr(one)
    assert len(list(found)) == len(found) == 9
    assert np.array_equal(found[-1].values, found.values[8])
    low, high = found.interval()
    assert np.array_equal(one.interval()[0], low[2])
    assert np.array_equal(found.to_frame("high").to_numpy(), high)


def test_unknown_rows(found):
    with pytest.raises(IndexError):
        found[9]
    with raises(errors.InputError, "row-unknown"):
        found.row("nobody")
    with raises(errors.InputError, "kind-unknown"):
        found.to_frame("errors")


def test_parquet_holds_everything(found, tmp_path):
    stored = replace(found, failed=[FailedRow(3, "x", "no answer")], partial=True)
    again = geex.TableExplanation.read_parquet(stored.to_parquet(tmp_path / "values.parquet"))
    for name in ("values", "stderr", "centre", "output", "target", "queries", "freedom", "noise", "numbers", "data"):
        assert getattr(again, name).tobytes() == getattr(found, name).tobytes(), name
        assert getattr(again, name).dtype == getattr(found, name).dtype, name
    for name in ("index", "index_names", "columns", "inputs", "labels", "estimand", "settings", "features", "seconds"):
        assert getattr(again, name) == getattr(found, name), name
    assert again.failed == stored.failed
    assert again.partial
    assert again.to_frame().equals(found.to_frame())


def test_any_library_reads_the_columns(found, tmp_path):
    frame = pandas.read_parquet(found.to_parquet(tmp_path / "values.parquet"))
    assert np.array_equal(frame["values.a"], found.values[:, 0])
    assert frame["index"].tolist() == found.index


def test_csv_has_all_digits(found, tmp_path):
    with open(found.to_csv(tmp_path / "values.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["values.b"]) for row in rows] == found.values[:, 1].tolist()


def test_groups_and_levels_of_the_index_are_stored(tmp_path):
    index = pandas.MultiIndex.from_product([["x", "y", "z"], [1, 2, 3]], names=["site", "visit"])
    groups = geex.Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    table = geex.explain_table(model, FRAME.set_axis(index), queries=40, features=groups, progress=False)
    again = geex.TableExplanation.read_parquet(table.to_parquet(tmp_path / "values.parquet"))
    assert again.to_frame().index.equals(index)
    assert np.array_equal(again.features.map, groups.map)
    assert again.row(("y", 2)).output == table.output[4]


def test_other_files_are_refused(tmp_path, found):
    path = tmp_path / "other.parquet"
    FRAME.to_parquet(path)
    with raises(errors.FileError, "table-unreadable"):
        geex.TableExplanation.read_parquet(path)
    path.write_bytes(b"PAR1 and no more")
    with raises(errors.FileError, "table-unreadable"):
        geex.TableExplanation.read_parquet(path)
    with pytest.raises(FileNotFoundError):
        geex.TableExplanation.read_parquet(tmp_path / "missing.parquet")


def test_a_later_format_is_refused(tmp_path, found):
    import pyarrow.parquet as parquet

    path = found.to_parquet(tmp_path / "values.parquet")
    content = parquet.read_table(path)
    metadata = dict(content.schema.metadata)
    metadata[b"geex"] = json.dumps(json.loads(metadata[b"geex"]) | {"format": "table/99"}).encode()
    parquet.write_table(content.replace_schema_metadata(metadata), path)
    with raises(errors.FileError, "table-unreadable"):
        geex.TableExplanation.read_parquet(path)


def test_the_summary_names_columns_and_what_is_missing(found):
    text = repr(replace(found, partial=True))
    assert "9 rows × 8 columns: risk" in text
    assert text.index("\na ") < text.index("\nb ")
    assert "ended before all rows" in text
    assert "<table>" in found._repr_html_()
    bad = replace(found, columns=["<script>", *found.columns[1:]])
    assert "<script>" not in bad._repr_html_()


def test_one_row_has_an_importance_without_an_interval():
    table = geex.explain_table(model, FRAME.iloc[:1], queries=40, progress=False)
    assert not np.isfinite(table.importance().high).any()
    assert "a" in repr(table)


def test_top_is_sorted(found):
    top = found.top(3)
    assert top.columns[0] == "a"
    assert (np.diff(top.values) <= 0).all()
    assert top.to_frame().shape == (3, 4)
    with raises(errors.InputError, "level-not-a-probability"):
        found.importance(level=2)


def test_noise_adds_nothing_to_an_importance():
    """The mean of |c| grows with noise; the importance does not, for normal values, for constants and for zeros."""
    rows, error = 20_000, 1.0
    values = np.stack([RNG.normal(size=rows), np.full(rows, 1.5), np.zeros(rows), 0.5 + 2 * RNG.normal(size=rows)], 1)
    seen = values + error * RNG.normal(size=values.shape)
    truth = np.abs(values).mean(axis=0)
    assert (np.abs(seen).mean(axis=0) > truth + 0.05).all()
    assert np.abs(mean_size(seen, seen, np.full(seen.shape, error)) - truth).max() < 0.04


def test_values_of_a_fit_count_as_far_as_their_sign_is_sure():
    """Of zeros that a fit draws half way to the truth, two thirds of what noise adds is taken out."""
    noise = RNG.normal(size=(20_000, 1))
    naive, found = np.abs(noise / 2).mean(), mean_size(noise / 2, noise, np.ones(noise.shape))[0]
    assert 0 < found < 0.8 * naive
    large = 8 + noise
    np.testing.assert_allclose(mean_size(large, large + 0.1, np.ones(noise.shape)), large.mean(axis=0))


def test_without_errors_the_importance_is_the_mean_size():
    seen = RNG.normal(size=(50, 4))
    np.testing.assert_allclose(mean_size(seen, seen, np.zeros(seen.shape)), np.abs(seen).mean(axis=0))


@pytest.mark.slow
def test_intervals_of_importance_cover_the_population():
    """Of 400 tables of 60 rows, 95% intervals hold the mean of |v| of the population in 92 to 98%."""
    held, spread = [], np.array([0.3, 1.0, 2.0])
    truth = spread * (2 / np.pi) ** 0.5
    for _ in range(400):
        values = spread * RNG.normal(size=(60, 3))
        errors = RNG.uniform(0.1, 0.6, size=values.shape)
        seen = values + errors * RNG.normal(size=values.shape)
        found = importance("abc", seen, seen, errors, 0.95)
        order = [found.columns.index(name) for name in "abc"]
        held.append((found.low[order] <= truth) & (truth <= found.high[order]))
    share = np.mean(held, axis=0)
    assert (share > 0.92).all(), share
    assert (share < 0.98).all(), share
