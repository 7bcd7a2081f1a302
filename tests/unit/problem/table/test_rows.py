"""Rows of data frames, dictionaries and Polars, in the order of a model's columns."""

import numpy as np
import pandas as pd
import pytest

from geex._problem.table.rows import frame_rows, is_frame, row_of, rows_of
from geex.errors import InputError
from tests.helpers import raises

FRAME = pd.DataFrame(
    {"age": [30, 40], "bmi": [20.5, np.nan], "job": pd.Categorical(["nurse", "miner"]), "own": [True, False]},
    index=[7, 7],
)


def test_a_row_of_a_frame_of_one_row_keeps_the_types_of_its_columns():
    row = row_of("x", FRAME.iloc[[0]])
    assert row.names == ("age", "bmi", "job", "own")
    assert row.cells == (30, 20.5, "nurse", True)
    assert [str(dtype) for dtype in row.dtypes] == ["int64", "float64", "category", "bool"]
    assert not row.numbers
    assert not row.missing
    assert row_of("x", FRAME.iloc[[1]]).missing


def test_a_series_of_mixed_cells_has_no_types_and_one_of_numbers_has():
    mixed = row_of("x", FRAME.iloc[0])
    assert mixed.dtypes == ()
    assert mixed.cells == (30, 20.5, "nurse", True)
    floating = row_of("x", FRAME[["bmi"]].iloc[0])
    assert floating.numbers
    assert floating.array.dtype == np.float64
    assert row_of("x", pd.Series([1.0], ["a"], dtype="float32")).array.dtype == np.float32


def test_a_frame_of_several_rows_is_no_row():
    with raises(InputError, "x-not-one-row"):
        row_of("x", FRAME.loc[7])


@pytest.mark.parametrize("value", [np.ones(3), [1.0, 2.0], 3.0, None, np.ones((1, 3))], ids=str)
def test_what_has_no_names_is_no_row(value):
    assert row_of("x", value) is None


def test_another_order_missing_extra_and_repeated_columns():
    row = row_of("x", {"b": 1, "a": 2})
    assert row.ordered("x", ["a", "b"]).cells == (2, 1)
    for names in (["a"], ["a", "b", "c"], ["a", "c"]):
        with raises(InputError, "x-names"):
            row.ordered("x", names)
    twice = row_of("x", pd.Series([1.0, 2.0], ["a", "a"]))
    with raises(InputError, "x-names"):
        twice.ordered("x", ["a", "b"])


def test_spaces_may_have_become_underscores():
    row = row_of("x", {"blood type": "A", "body mass": 1.0})
    assert row.ordered("x", ["body_mass", "blood_type"]).names == ("body mass", "blood type")


def test_numbered_columns_have_no_order():
    row = row_of("x", pd.Series([1.0, 2.0]))
    assert row.ordered("x", ["a", "b"]).names == ("a", "b")


def test_rows_of_tables():
    assert [row.cells[0] for row in rows_of(FRAME)] == [30, 40]
    assert rows_of(FRAME.iloc[:0]) is None
    assert rows_of([]) is None
    assert rows_of(3.0) is None
    assert len(rows_of(np.ones((2, 3)))) == 2


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"age": [30, 40], "job": ["nurse", None]})
    assert is_frame(frame)
    assert [row.cells for row in frame_rows(frame)] == [(30, "nurse"), (40, None)]
    assert row_of("x", frame[0]).names == ("age", "job")
