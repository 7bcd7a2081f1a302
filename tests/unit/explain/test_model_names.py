"""Names of features come from the model, else from the row, else from the baseline."""

import numpy as np
import pandas as pd
import pytest

import geex
from geex.errors import BaselineError, ExplicandError
from tests.helpers import raises

TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=["age", "income", "debt"])


def model(z):
    return z @ np.array([1.0, 2.0, 3.0])


def named(x, baseline, function=model, **settings):
    return geex.explain(function, x, baseline=baseline, queries=60, progress=False, **settings)


@pytest.mark.parametrize(
    ("x", "baseline"),
    [
        (TABLE.iloc[0], 0.0),
        (TABLE.iloc[0], TABLE),
        (TABLE.iloc[0], TABLE.mean()),
        (TABLE.iloc[0].to_numpy(), TABLE),
        (TABLE.iloc[0].to_numpy(), TABLE.mean()),
        (TABLE.iloc[0].to_numpy(), geex.background(TABLE)),
    ],
)
def test_a_plain_function_gets_the_names_of_the_row_or_of_the_baseline(x, baseline):
    found = named(x, baseline)
    assert found.names == ["age", "income", "debt"]
    assert "feature 0" not in str(found)
    assert found.region(["income"]).value == pytest.approx(found.values[1])


@pytest.mark.parametrize(
    ("x", "baseline"),
    [
        (TABLE.to_numpy()[0], geex.background(TABLE.to_numpy())),
        (pd.Series(TABLE.to_numpy()[0]), 0.0),
        (pd.Series(TABLE.to_numpy()[0]), pd.DataFrame(TABLE.to_numpy())),
    ],
)
def test_numbered_columns_are_no_names(x, baseline):
    assert named(x, baseline).names is None


def test_the_names_of_the_model_come_first():
    class Named:
        names = ("debt", "income", "age")

        def __call__(self, z):
            return model(z)

    assert named(TABLE.iloc[0], TABLE, Named()).names == ["debt", "income", "age"]


def test_names_that_are_not_one_for_each_feature_are_left_out():
    assert named(TABLE.iloc[0], 0.0, features=geex.Groups(np.array([0, 0, 1]))).names is None


def test_the_journal_keeps_the_names(tmp_path):
    named(TABLE.iloc[0], TABLE, journal=tmp_path / "run.geex")
    assert geex.estimate(tmp_path / "run.geex").names == ["age", "income", "debt"]


def test_a_batch_gets_the_names_of_its_table():
    found = geex.explain_batch(model, TABLE[:2], baseline=TABLE, queries=60, progress=False)
    assert [one.names for one in found] == [["age", "income", "debt"]] * 2


def test_a_table_is_no_input():
    with raises(ExplicandError, "x-a-table"):
        named(TABLE[:1], 0.0)


def test_rows_as_a_baseline_get_the_advice_to_make_them_a_background():
    with raises(BaselineError, "baseline-shape") as caught:
        named(TABLE.to_numpy()[0], TABLE.to_numpy())
    assert "geex.background(rows)" in str(caught.value)


def test_the_baseline_is_named_by_what_it_is():
    assert "baseline a row of 3 columns" in str(named(TABLE.iloc[0], TABLE.mean()))
