"""geex in place of shap.Explainer, beside shap's exact values."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import geex
from geex.errors import BaselineError, InputError
from geex.interop.shap import Explainer
from tests.helpers import raises

DIABETES = load_diabetes(as_frame=True).data.iloc[:, :6]
TARGET = load_diabetes().target
FOREST = RandomForestRegressor(10, max_depth=4, random_state=0).fit(DIABETES, TARGET)
BACKGROUND, ROWS = DIABETES.iloc[:4], DIABETES.iloc[10:13]


def test_explanations_without_the_package():
    found = Explainer(FOREST, BACKGROUND).explanations(ROWS)
    assert len(found) == 3
    assert found[0].names == list(DIABETES.columns)
    np.testing.assert_allclose([one.base_value for one in found], FOREST.predict(BACKGROUND).mean())
    np.testing.assert_allclose([one.output[0] for one in found], FOREST.predict(ROWS))


def test_wrong_arguments():
    with raises(BaselineError, "background-shape"):
        Explainer(FOREST, BACKGROUND.iloc[:0])
    with raises(InputError, "max-evals-unknown"):
        Explainer(FOREST, BACKGROUND).explanations(ROWS, max_evals="many")


def exact(model, background, rows):
    """shap's exact values, which shap computes with arrays in place of data frames."""
    shap = pytest.importorskip("shap")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shap.explainers.Exact(model, shap.maskers.Independent(background, max_samples=100))(rows)


@pytest.mark.parametrize("model", [FOREST, FOREST.predict], ids=["estimator", "method"])
def test_the_values_of_shap(model):
    wanted = exact(FOREST.predict, BACKGROUND, ROWS)
    found = Explainer(model, BACKGROUND)(ROWS, max_evals=100)
    assert type(found) is type(wanted)
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-6)
    np.testing.assert_allclose(found.base_values, wanted.base_values)
    np.testing.assert_array_equal(found.data, wanted.data)
    assert list(found.feature_names) == list(wanted.feature_names)
    assert found.error_std.shape == found.lower_bounds.shape == found.values.shape


def test_fewer_queries_than_subsets_have_errors():
    wanted = exact(FOREST.predict, BACKGROUND, ROWS)
    found = Explainer(FOREST, BACKGROUND, queries=90)(ROWS)
    assert (found.error_std > 0).any()
    deviation = np.abs(found.values - wanted.values) / np.maximum(found.error_std, 1e-9)
    assert np.median(deviation) < 4


def test_arrays_and_several_outputs():
    wine = load_wine()
    rows = wine.data[:, :5]
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, wine.target)
    wanted = exact(forest.predict_proba, rows[[0, 60, 130]], rows[5:7])
    found = Explainer(forest.predict_proba, rows[[0, 60, 130]], output_names=["a", "b", "c"])(rows[5:7])
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-6)
    np.testing.assert_allclose(found.base_values, wanted.base_values)
    assert found[:, :, "b"].values.shape == (2, 5)
    one = Explainer(forest, rows[60:61])(rows[5:7], outputs=1)
    assert one.values.shape == (2, 5)


def test_plots_of_shap():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    shap = pytest.importorskip("shap")
    pyplot.switch_backend("agg")
    found = Explainer(FOREST, BACKGROUND)(ROWS, max_evals=64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's own, of matplotlib and NumPy
        shap.plots.waterfall(found[0], show=False)
        shap.plots.bar(found, show=False)
        shap.plots.beeswarm(found, show=False)
        shap.plots.waterfall(geex.explain(FOREST, ROWS.iloc[0], baseline=DIABETES.mean(), progress=False).to_shap())
    pyplot.close("all")


def test_words_in_the_background():
    frame = pd.DataFrame({"job": ["nurse", "miner", "clerk"], "hours": [8, 7, 6]})

    def pay(rows):
        return (rows["hours"] * (rows["job"] == "nurse")).to_numpy(float)

    found = Explainer(pay, frame).explanations(frame.iloc[:1])[0]
    np.testing.assert_allclose(found.values.sum(), 8 - 8 / 3)
