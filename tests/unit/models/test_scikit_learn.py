"""scikit-learn estimators and pipelines as models."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import geex
from geex.errors import InputError
from tests.helpers import raises

X, Y = load_wine(return_X_y=True)
NAMES = load_wine().target_names


def test_probabilities_first_then_decisions_then_predictions():
    named = NAMES[Y]
    forest = RandomForestClassifier(5, random_state=0).fit(X, named)
    assert np.array_equal(geex.models.sklearn(forest)(X), forest.predict_proba(X))
    assert geex.models.sklearn(forest).labels == tuple(NAMES.tolist())
    ridge = RidgeClassifier().fit(X, Y)
    assert np.array_equal(geex.models.sklearn(ridge)(X), ridge.decision_function(X))
    regression = LinearRegression().fit(X, Y)
    assert np.array_equal(geex.models.sklearn(regression)(X), regression.predict(X))
    assert geex.models.sklearn(regression).labels is None


def test_a_classifier_that_only_predicts_answers_indicators():
    centroid = make_pipeline(StandardScaler(), NearestCentroid()).fit(X, NAMES[Y])
    model = geex.models.sklearn(centroid, "predict")
    answer = model(X)
    assert answer.shape == (len(X), 3)
    assert np.array_equal(NAMES[answer.argmax(axis=1)], centroid.predict(X))
    assert np.array_equal(answer.sum(axis=1), np.ones(len(X)))


def test_labels_of_a_decision_between_two():
    x, y = load_breast_cancer(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SVC()).fit(x, np.where(y, "benign", "malignant"))
    model = geex.models.sklearn(machine)
    assert model.output == "decision_function"
    assert model.labels == ("malignant",)  # positive decisions are for the second class
    assert model(x).shape == (len(x),)
    assert (machine.predict(x) == "malignant").tolist() == (model(x) > 0).tolist()


def test_a_pipeline_of_a_data_frame_gets_its_columns_by_name():
    frame = load_diabetes(as_frame=True)
    columns = ColumnTransformer([("some", StandardScaler(), ["bmi", "bp", "s5"]), ("age", "passthrough", ["age"])])
    pipeline = make_pipeline(columns, LinearRegression()).fit(frame.data, frame.target)
    model = geex.models.sklearn(pipeline)
    assert model.names == tuple(frame.data.columns)
    assert model.shape == (10,)
    rows = frame.data.to_numpy()
    assert np.allclose(model(rows), pipeline.predict(frame.data), rtol=1e-12)
    explanation = geex.explain(
        model, rows[0], baseline=geex.mean(rows), method=geex.Shapley(), queries=300, progress=False
    )
    # additive, so exact: coefficient times difference, and nothing for columns that are not used
    regression = pipeline[-1]
    scaled = columns.transform(frame.data)
    wanted = dict(zip(["bmi", "bp", "s5", "age"], regression.coef_ * (scaled[0] - scaled.mean(axis=0)), strict=True))
    for name, value in zip(model.names, explanation.values, strict=True):
        assert value == pytest.approx(wanted.get(name, 0.0), abs=1e-6)


def test_a_tensor_is_asked_as_numbers():
    torch = pytest.importorskip("torch")
    model = geex.models.sklearn(LogisticRegression(max_iter=5000).fit(X, Y))
    assert np.array_equal(model(torch.as_tensor(X)), model(X))


def test_several_targets_want_a_choice():
    both = MultiOutputClassifier(LogisticRegression(max_iter=5000)).fit(X, np.stack([Y, Y == 0], axis=1))
    with raises(geex.errors.AnswerError, "several-targets"):
        geex.models.sklearn(both)(X)


@pytest.mark.slow
def test_it_can_be_pickled():
    model = geex.models.sklearn(LogisticRegression(max_iter=5000).fit(X, Y), "decision_function")
    assert np.array_equal(pickle.loads(pickle.dumps(model))(X), model(X))


@pytest.mark.parametrize("wrong", [LogisticRegression, 3, StandardScaler()])
def test_what_is_no_predictor(wrong):
    with raises(InputError, "estimator-without-scores"):
        geex.models.sklearn(wrong)


def test_an_output_it_has_not():
    with raises(InputError, "output-unknown"):
        geex.models.sklearn(RidgeClassifier().fit(X, Y), "predict_proba")


@pytest.mark.slow
def test_a_frame_may_be_asked_itself():
    frame = load_wine(as_frame=True).data
    model = geex.models.sklearn(LogisticRegression(max_iter=5000).fit(frame, Y))
    assert isinstance(frame, pd.DataFrame)
    assert np.array_equal(model(frame), model(frame.to_numpy()))


@pytest.mark.parametrize("adapted", [True, False])
def test_rows_with_names_are_put_in_the_order_of_the_columns(adapted):
    data = load_diabetes(as_frame=True)
    forest = RandomForestRegressor(20, random_state=0).fit(data.data, data.target)
    model = (
        geex.models.sklearn(forest) if adapted else lambda z: forest.predict(pd.DataFrame(z, columns=data.data.columns))
    )
    row, mean = data.data.iloc[0], data.data.mean()
    settings = {"method": geex.Shapley(), "queries": 60, "progress": False}
    wanted = geex.explain(model, row, baseline=mean, **settings).values
    assert (geex.explain(model, row, baseline=mean.sort_index(ascending=False), **settings).values == wanted).all()
    assert (geex.explain(model, row, baseline=[mean.sort_index(), mean], **settings).values != 0).any()
    if adapted:
        assert (geex.explain(model, row[::-1], baseline=mean.sort_index(), **settings).values == wanted).all()
        assert (geex.explain(model, row.to_numpy(), baseline=mean[::-1], **settings).values == wanted).all()
        assert (geex.explain(model, row.reset_index(drop=True), baseline=mean, **settings).values == wanted).all()
        with raises(InputError, "x-names"):
            geex.explain(model, data.frame.iloc[0], baseline=mean, **settings)
        several = geex.explain_batch(model, data.data.iloc[:2, ::-1], baseline=mean, **settings)
        assert (several[0].values == wanted).all()
    with raises(InputError, "baseline-names"):
        geex.explain(model, row, baseline=mean.drop("bmi"), **settings)
