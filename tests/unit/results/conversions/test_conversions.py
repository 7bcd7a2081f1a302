"""An explanation as a data frame, and as an explanation of shap."""

import numpy as np
import pandas as pd
import pytest

import geex
from geex.errors import InputError, MissingPackage
from tests.helpers import raises

X = pd.Series({"age": 2.0, "bmi": 3.0})


def two(z):
    return np.stack([z[:, 0] * z[:, 1], z[:, 0]], axis=1)


def test_a_frame_of_one_output():
    found = geex.explain(two, X, target=0, method=geex.GEEX(0.5), queries=100, progress=False)
    frame = found.to_frame(level=0.9)
    assert frame.columns.tolist() == ["feature", "value", "stderr", "low", "high", "data", "baseline"]
    assert frame["feature"].tolist() == ["age", "bmi"]
    assert frame["data"].tolist() == [2.0, 3.0]
    assert frame["baseline"].tolist() == [0.0, 0.0]
    low, high = found.interval(0.9)
    for name, array in {"value": found.values, "stderr": found.stderr, "low": low, "high": high}.items():
        assert frame[name].tolist() == array.tolist()
    with pytest.raises(InputError):
        found.to_frame(level=2)


def test_a_frame_of_several_outputs_is_long():
    found = geex.explain(two, X, target="all", labels=["both", "first"], progress=False)
    frame = found.to_frame()
    assert frame["output"].tolist() == ["both", "both", "first", "first"]
    assert frame["feature"].tolist() == ["age", "bmi"] * 2
    assert frame["value"].tolist() == [3.0, 3.0, 2.0, 0.0]
    assert frame["data"].tolist() == [2.0, 3.0] * 2


def test_cells_and_groups():
    def pay(rows):
        return (rows["hours"] * (rows["job"] == "nurse")).to_numpy(float)

    row, absent = {"hours": 8, "job": "nurse"}, {"hours": 0, "job": None}
    frame = geex.explain(pay, row, baseline=absent, progress=False).to_frame()
    assert frame["data"].tolist() == [8, "nurse"]
    assert frame["baseline"].tolist()[0] == 0
    assert pd.isna(frame["baseline"].tolist()[1])
    old = geex.models.row(pay, row, absent)
    assert geex.explain(old, old.x, progress=False).to_frame()["data"].tolist() == [8, "nurse"]
    groups = geex.explain(two, X, target=0, features=geex.Groups({"all": ["age", "bmi"]}), progress=False).to_frame()
    assert "data" not in groups
    assert groups["feature"].tolist() == ["all"]


def test_an_image_has_a_row_for_each_pixel():
    image = np.arange(18.0).reshape(2, 3, 3)
    found = geex.explain(lambda z: z.sum((1, 2, 3)), image, features=geex.Pixels(channels=0), progress=False)
    frame = found.to_frame()
    assert frame["feature"].tolist()[:2] == ["feature 0,0", "feature 0,1"]
    assert len(frame) == 9


def test_shap_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    with raises(MissingPackage, "shap-missing"):
        geex.explain(two, X, target=0, progress=False).to_shap()


def test_an_explanation_of_shap():
    shap = pytest.importorskip("shap")
    found = geex.explain(two, X, target=0, method=geex.GEEX(0.5), queries=100, progress=False)
    made = found.to_shap()
    assert isinstance(made, shap.Explanation)
    assert made.values.tolist() == found.values.tolist()
    assert made.error_std.tolist() == found.stderr.tolist()
    assert made.lower_bounds.tolist() == found.interval()[0].tolist()
    assert made.upper_bounds.tolist() == found.interval()[1].tolist()
    assert made.base_values == found.base_value
    assert made.data.tolist() == [2.0, 3.0]
    assert list(made.feature_names) == ["age", "bmi"]


def test_several_outputs_of_shap():
    pytest.importorskip("shap")
    found = geex.explain(two, X, target="all", labels=["both", "first"], progress=False)
    made = found.to_shap()
    assert made.shape == (2, 2)
    assert made[:, "first"].values.tolist() == found.values[1].tolist()
    assert list(made.output_names) == ["both", "first"]
    np.testing.assert_array_equal(made.base_values, found.base_value)
