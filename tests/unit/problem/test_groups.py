"""Groups of columns by their names."""

import numpy as np
import pandas as pd
import pytest

import geex
from geex.errors import FeaturesError
from tests.helpers import raises

X = pd.Series({"age": 2.0, "sex": 1.0, "bmi": 3.0})


def model(z):
    return z[:, 0] * z[:, 2] + z[:, 1]


def test_columns_by_name_and_the_others_alone():
    found = geex.explain(model, X, features=geex.Groups({"body": ["bmi", "age"]}), progress=False)
    assert found.names == ["body", "sex"]
    np.testing.assert_allclose(found.values, [6.0, 1.0])
    assert found.region(["body"]).value == pytest.approx(6.0)
    assert "body" in str(found)


def test_the_same_groups_by_number():
    named = geex.explain(model, X, features=geex.Groups({"body": ["bmi", "age"]}), progress=False)
    numbered = geex.explain(model, X, features=geex.Groups([0, 1, 0]), progress=False)
    assert (named.values == numbered.values).all()
    assert numbered.names == ["group 0", "group 1"]


def test_as_many_groups_as_columns_get_no_names_of_columns():
    """Groups in another order than the columns, one column each."""
    found = geex.explain(model, X, features=geex.Groups([2, 1, 0]), progress=False)
    assert found.names == ["group 0", "group 1", "group 2"]


def test_groups_of_an_explanation_that_is_estimated_again(tmp_path):
    journal = tmp_path / "run.geex"
    method = geex.GEEX(0.5)
    found = geex.explain(model, X, method=method, queries=200, progress=False, journal=journal)
    again = geex.estimate(found, features=geex.Groups({"body": ["age", "bmi"]}))
    assert again.names == ["body", "sex"]
    np.testing.assert_allclose(again.values, [found.values[0] + found.values[2], found.values[1]])


def test_they_are_saved_and_stored(tmp_path):
    groups = geex.Groups({"body": ["bmi", "age"]})
    journal = tmp_path / "run.geex"
    found = geex.explain(model, X, features=groups, progress=False, journal=journal)
    kept = geex.Explanation.load(found.save(tmp_path / "found.npz"))
    assert kept.features == found.features
    assert kept.names == ["body", "sex"]
    assert geex.estimate(journal).names == ["body", "sex"]
    assert found.features != geex.Groups([0, 1, 0])


def test_prefixes():
    names = ["age", "job_nurse", "job_type_a", "job_miner", "job_type_b"]
    groups = geex.Groups.by_prefix(names, ["job", "job_type"])
    assert groups.names() == ["age", "job", "job_type"]
    assert groups.map.tolist() == [0, 1, 2, 1, 2]


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("group-not-a-list", lambda: geex.Groups({"body": "age"})),
        ("group-not-a-list", lambda: geex.Groups({"body": []})),
        ("group-columns-repeat", lambda: geex.Groups({"body": ["age"], "mind": ["age"]})),
        ("groups-empty", lambda: geex.Groups({})),
        ("group-names-count", lambda: geex.Groups([0, 1], group_names=("a",))),
        ("group-of-unknown-column", lambda: geex.Groups({"body": ["height"]}).of_columns(["age"])),
        ("group-named-as-a-column", lambda: geex.Groups({"sex": ["age"]}).of_columns(["age", "sex"])),
        ("prefix-without-columns", lambda: geex.Groups.by_prefix(["age"], ["job"])),
        ("groups-without-columns", lambda: geex.explain(model, X.to_numpy(), features=geex.Groups({"b": ["age"]}))),
    ],
)
def test_groups_that_cannot_be(code, make):
    with raises(FeaturesError, code):
        make()
