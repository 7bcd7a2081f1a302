"""Cells as numbers, and back in the types of their columns."""

import pickle

import numpy as np
import pandas as pd
import pytest

from geex._problem.table.cells import code, is_missing, plain
from geex._problem.table.columns import TableModel, columns_of
from geex._problem.table.rows import row_of
from geex.errors import BaselineError, ExplicandError, InputError
from tests.helpers import raises

FRAME = pd.DataFrame(
    {
        "age": pd.array([30, None, 50], dtype="Int64"),
        "kids": [1, 2, 3],
        "weight": [70.5, np.nan, 60.0],
        "job": pd.Categorical(["nurse", "miner", None]),
        "zip": pd.Categorical([11, 22, 33]),
        "own": [True, False, True],
        "name": ["Ann", None, "Bob"],
        "since": pd.to_datetime(["2020-01-01", "2021-01-01", None]),
        "identity": [2**60 + 1, 2**60 + 2, 3],
    }
)
ROWS = [row_of("x", FRAME.iloc[[place]]) for place in range(3)]


def same(found, wanted):
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted.reset_index(drop=True), check_freq=False)


@pytest.mark.parametrize("absent", [1, 2])
def test_rows_come_back_with_their_types(absent):
    columns = columns_of(ROWS[:1], [ROWS[absent]], framed=True)
    codes = np.stack([columns.encoded(row) for row in (ROWS[0], ROWS[absent], ROWS[0])])
    assert np.isfinite(codes).all()
    same(columns.decoded(codes), FRAME.iloc[[0, absent, 0]])
    same(columns.decoded(codes[:1]), FRAME.iloc[[0]])


def test_every_mixture_of_two_rows():
    columns = columns_of(ROWS[:1], ROWS[1:2], framed=True)
    x, absent = (columns.encoded(row) for row in ROWS[:2])
    for mask in np.eye(9, dtype=bool):
        found = columns.decoded(np.where(mask, x, absent)[None])
        wanted = [FRAME.iloc[[0 if there else 1], [place]].reset_index(drop=True) for place, there in enumerate(mask)]
        same(found, pd.concat(wanted, axis=1))


def test_codes_depend_on_the_cell_alone():
    alone = columns_of(ROWS[:1], ROWS[1:2], framed=True)
    among = columns_of(ROWS[:1], ROWS[1:], framed=True)
    differ = alone.encoded(ROWS[0]) != among.encoded(ROWS[0])
    assert [column.name for column, one in zip(alone.columns, differ, strict=True) if one] == []
    assert code("a") != code("b")
    assert code(1) == code(1.0) == code(np.int8(1))
    assert code("1") != code(1)
    assert code(None) == code(np.nan) == code(pd.NA) == code(pd.NaT)
    assert 0 <= code("a") < 1


def test_types_of_cells_without_a_frame():
    x, absent = (
        row_of("x", row) for row in ({"a": 3, "b": True, "c": "u", "d": 1}, {"a": 2.5, "b": False, "c": None, "d": 2})
    )
    columns = columns_of([x], [absent], framed=True)
    frame = columns.decoded(np.stack([columns.encoded(x), columns.encoded(absent)]))
    assert frame["a"].tolist() == [3.0, 2.5]
    assert str(frame.dtypes["b"]) == "bool"
    assert frame.dtypes["d"] == np.int64
    assert is_missing(frame["c"].iloc[1])


def test_whole_columns_become_floating_for_a_mean_or_a_missing_value():
    x = row_of("x", FRAME[["kids", "own"]].iloc[[0]])
    for absent in ({"kids": 1.5, "own": 0.25}, {"kids": np.nan, "own": None}):
        columns = columns_of([x], [row_of("x", absent)], framed=True)
        frame = columns.decoded(np.stack([columns.encoded(x)] * 2))
        assert [str(dtype) for dtype in frame.dtypes] == ["float64", "float64"]
        assert frame.iloc[0].tolist() == [1.0, 1.0]


def test_arrays_with_missing_values():
    x, absent = (row_of("x", dict(enumerate(row))) for row in ([1.0, np.nan, 3.0], [np.nan, 2.0, 0.0]))
    columns = columns_of([x], [absent], framed=False, dtype=np.dtype("float32"))
    found = columns.decoded(np.stack([columns.encoded(x), columns.encoded(absent)]))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[1, np.nan, 3], [np.nan, 2, 0]])


def test_a_number_that_is_no_cell():
    columns = columns_of(ROWS[:1], ROWS[1:2], framed=True)
    codes = columns.encoded(ROWS[0])
    codes[3] += 0.1
    with raises(InputError, "query-not-a-cell"):
        columns.decoded(codes[None])
    with raises(InputError, "cell-unknown"):
        columns.encoded(ROWS[2])


@pytest.mark.parametrize(
    ("kind", "reason", "x", "absent"),
    [
        (BaselineError, "baseline-cell-type", {"job": "nurse"}, {"job": 0}),
        (BaselineError, "baseline-cell-type", {"age": 30}, {"age": "old"}),
        (ExplicandError, "x-not-finite", {"age": np.inf}, {"age": 1.0}),
        (BaselineError, "baseline-not-finite", {"age": 1.0}, {"age": -np.inf}),
        (BaselineError, "baseline-not-a-category", FRAME[["job"]].iloc[[0]], {"job": "clerk"}),
    ],
)
def test_cells_that_do_not_suit_their_column(kind, reason, x, absent):
    with raises(kind, reason):
        columns_of([row_of("x", x)], [row_of("baseline", absent)], framed=True)


def test_the_identity_of_a_table_model():
    class Model:
        identity = "one"

    x, absent = ROWS[:2]
    framed = TableModel(Model(), columns_of([x], [absent], framed=True))
    assert framed.identity
    assert framed.identity == TableModel(Model(), columns_of([x], [absent], framed=True)).identity
    assert TableModel(len, columns_of([x], [absent], framed=True)).identity == ""
    assert pickle.loads(pickle.dumps(framed.columns)).names == framed.names


def test_cells_for_files():
    assert plain(np.int64(3)) == 3
    assert plain(np.bool_(True)) is True
    assert np.isnan(plain(pd.NA))
    assert plain(pd.Timestamp("2020-01-01")) == "2020-01-01 00:00:00"
