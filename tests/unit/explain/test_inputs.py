"""Real rows: words, categories, missing values and estimators as they are, against all subsets."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import geex
from geex.errors import BaselineError, ExplicandError, InputError, MethodError
from tests.helpers import raises

RANDOM = np.random.default_rng(0)
COUNT = 200
FRAME = pd.DataFrame(
    {
        "body mass": np.where(RANDOM.random(COUNT) < 0.2, np.nan, RANDOM.normal(size=COUNT)),
        "job": pd.Categorical(RANDOM.choice(["nurse", "miner", "clerk"], COUNT)),
        "kids": RANDOM.integers(0, 4, COUNT),
        "own": RANDOM.random(COUNT) < 0.5,
        "zip": pd.Categorical(RANDOM.choice([11, 22, 33], COUNT)),
    },
    index=[7] * COUNT,
)
ILL = ((FRAME["body mass"] > 0).to_numpy() ^ (FRAME["job"] == "miner").to_numpy() ^ FRAME["own"].to_numpy()).astype(int)
# two rows that differ in every column, one of them with a missing value
MISSING = np.flatnonzero(FRAME["body mass"].isna())[0]
OTHER = next(
    place
    for place in range(COUNT)
    if pd.notna(FRAME["body mass"].iloc[place])
    and all(FRAME.iloc[place, 1:].to_numpy() != FRAME.iloc[MISSING, 1:].to_numpy())
)
X, ABSENT = FRAME.iloc[[OTHER]], FRAME.iloc[[MISSING]]


def boosted():
    return HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype").fit(FRAME, ILL)


def pipeline():
    columns = ColumnTransformer(
        [("words", OneHotEncoder(), ["job", "zip"]), ("kids", OneHotEncoder(), ["kids", "own"])]
    )
    return make_pipeline(columns, LogisticRegression()).fit(FRAME, ILL)


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=10, verbose=-1).fit(FRAME, ILL)


def catboost():
    kind = pytest.importorskip("catboost").CatBoostClassifier
    settings = {"iterations": 10, "verbose": 0, "cat_features": ["job", "kids", "zip"], "allow_writing_files": False}
    return kind(**settings).fit(FRAME, ILL)


def xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=5, enable_categorical=True).fit(FRAME, ILL)


def every_subset(estimator):
    """Shapley values from all subsets, by frames whose columns are those of x or of the baseline."""
    count = FRAME.shape[1]

    def score(shown):
        parts = [(X if place in shown else ABSENT).iloc[:, [place]] for place in range(count)]
        return estimator.predict_proba(pd.concat(parts, axis=1))[0, 1]

    values = np.zeros(count)
    for player in range(count):
        others = [place for place in range(count) if place != player]
        for size in range(count):
            weight = factorial(size) * factorial(count - size - 1) / factorial(count)
            for subset in map(set, combinations(others, size)):
                values[player] += weight * (score(subset | {player}) - score(subset))
    return values


ROWS = {
    "frame": lambda frame: frame,
    "series": lambda frame: frame.iloc[0],
    "dictionary": lambda frame: frame.iloc[0].to_dict(),
    "other order": lambda frame: frame[list(frame.columns[::-1])],
}


@pytest.mark.parametrize("make", [boosted, pipeline, lightgbm, catboost, xgboost], ids=lambda make: make.__name__)
def test_estimators_as_they_are(make):
    estimator = make()
    wanted = every_subset(estimator)
    assert np.abs(wanted).max() > 0.01
    for kind, as_row in ROWS.items():
        for absent in (ABSENT, ABSENT.iloc[0]):
            if make is xgboost and kind in ("series", "dictionary") and absent is not ABSENT:
                continue  # no argument has the types of the columns
            found = geex.explain(estimator, as_row(X), baseline=absent, target=1, progress=False)
            np.testing.assert_allclose(found.values, wanted, atol=1e-7, err_msg=kind)
            assert [name.replace("_", " ") for name in found.names] == list(FRAME.columns)


def test_a_categorical_column_whose_type_is_unknown():
    with raises(InputError, "column-not-categorical"):
        geex.explain(xgboost(), X.iloc[0], baseline=ABSENT.iloc[0], progress=False)


def test_a_batch_of_rows_of_a_frame():
    estimator = boosted()
    several = geex.explain_batch(estimator, FRAME.iloc[[OTHER, 3]], baseline=ABSENT, target=1, progress=False)
    alone = geex.explain(estimator, X, baseline=ABSENT, target=1, progress=False)
    assert (several[0].values == alone.values).all()
    assert several[1].cells.values[1] == FRAME["job"].iloc[3]


def test_a_function_receives_frames_for_words_and_arrays_for_numbers():
    received = []

    def model(rows):
        received.append(type(rows).__name__)
        return np.asarray(rows)[:, 0].astype(float)

    settings = {"progress": False, "queries": 20}
    geex.explain(model, {"hours": 8, "job": "nurse"}, baseline={"hours": 1, "job": "clerk"}, **settings)
    assert set(received) == {"DataFrame"}
    received.clear()
    geex.explain(model, {"hours": 8, "own": True}, baseline={"own": False, "hours": 1}, **settings)
    geex.explain(model, pd.Series({"hours": 8.0, "age": 30.0}), **settings)
    assert set(received) == {"ndarray"}


def test_missing_values_in_arrays():
    """A missing value in x, in the baseline and in both, in the type of x."""

    def model(rows):
        assert rows.dtype == np.float32
        return np.where(np.isnan(rows), 10.0, rows) @ [1.0, 2.0, 3.0]

    x = np.array([1.0, np.nan, np.nan], np.float32)
    found = geex.explain(model, x, baseline=np.array([np.nan, 1.0, np.nan]), progress=False)
    assert found.values.tolist() == [-9.0, 18.0, 0.0]
    assert geex.explain(model, x, progress=False).values.tolist() == [1.0, 20.0, 30.0]
    assert geex.explain(model, x, baseline=[0.0, np.nan], progress=False).values.tolist() == [-4.0, 10.0, 15.0]
    filled = geex.explain(model, x, baseline=lambda row: np.nan_to_num(row), progress=False)
    assert filled.values.tolist() == [0.0, 20.0, 30.0]


def test_missing_values_in_tensors():
    torch = pytest.importorskip("torch")
    found = geex.explain(lambda z: torch.nan_to_num(z, 7.0).sum(1), torch.tensor([1.0, torch.nan]), progress=False)
    assert found.values.tolist() == [1.0, 7.0]


def test_missing_values_and_words_need_a_method_that_shows_and_hides():
    with raises(MethodError, "method-adds-noise"):
        geex.explain(lambda z: z.sum(1), np.array([1.0, np.nan]), method=geex.GEEX(0.5), progress=False)
    with raises(MethodError, "method-adds-noise"):
        geex.explain(boosted(), X, baseline=ABSENT, method=geex.GEEX(0.5), target=1, progress=False)


@pytest.mark.parametrize(
    "method", [geex.Presence(), geex.Presence(alpha=0.5), geex.Regression(geex.Presence(0.5))], ids=str
)
def test_other_methods_that_show_and_hide(method):
    estimator = boosted()
    found = geex.explain(estimator, X, baseline=ABSENT, target=1, method=method, queries=600, progress=False)
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("make", [boosted, pipeline], ids=lambda make: make.__name__)
def test_an_estimator_of_a_frame_needs_a_baseline(make):
    with raises(BaselineError, "baseline-missing") as caught:
        geex.explain(make(), X, progress=False)
    assert "geex.mean(X)" in str(caught.value)


def test_an_estimator_of_an_array_does_not():
    line = LinearRegression(fit_intercept=False).fit(np.eye(3), [1.0, 2.0, 3.0])
    found = geex.explain(line, np.ones(3), progress=False)
    np.testing.assert_allclose(found.values, line.coef_, atol=1e-12)


def test_words_need_a_baseline():
    with raises(BaselineError, "baseline-missing"):
        geex.explain(lambda rows: np.ones(len(rows)), {"job": "nurse"}, progress=False)
    with raises(BaselineError, "baseline-cell-type"):
        geex.explain(lambda rows: np.ones(len(rows)), {"job": "nurse"}, baseline=0.0, progress=False)


def test_whole_columns_stay_whole():
    """A pipeline whose encoder refuses 2.0 in place of 2 as a category of texts."""
    words = FRAME[["kids", "own"]]
    received = []

    class Spy(LinearRegression):
        def predict(self, rows):
            received.append([str(dtype) for dtype in rows.dtypes])
            return super().predict(rows)

    spy = Spy().fit(words, ILL)
    geex.explain(spy, words.iloc[[0]], baseline={"kids": 9, "own": False}, progress=False)
    assert received == [["int64", "bool"]] * len(received)
    received.clear()
    geex.explain(spy, words.iloc[[0]], baseline=geex.mean(words), progress=False)
    assert received == [["float64", "float64"]] * len(received)


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "string"])
def test_nullable_columns(kind):
    cells = {"Int64": [3, None], "Float64": [2.5, None], "boolean": [True, None], "string": ["a", None]}[kind]
    frame = pd.DataFrame({"a": pd.array(cells, dtype=kind), "b": [1.0, 2.0]})

    def model(rows):
        assert str(rows.dtypes["a"]) == kind
        return rows["a"].isna().to_numpy(float) + rows["b"].to_numpy()

    model.frames = True
    found = geex.explain(model, frame.iloc[[0]], baseline=frame.iloc[[1]], progress=False)
    np.testing.assert_allclose(found.values, [-1.0, -1.0])


def test_dates():
    frame = pd.DataFrame({"since": pd.to_datetime(["2020-01-01", "2020-01-11"]), "b": [1.0, 2.0]})

    def days(rows):
        return (rows["since"] - pd.Timestamp("2020-01-01")).dt.days.to_numpy(float)

    found = geex.explain(days, frame.iloc[[1]], baseline=frame.iloc[[0]], progress=False)
    assert found.values.tolist() == [10.0, 0.0]


@pytest.mark.parametrize(
    ("kind", "code", "x", "baseline"),
    [
        (InputError, "x-names", X.drop(columns="job"), ABSENT),
        (InputError, "x-names", X.assign(extra=1), ABSENT),
        (InputError, "baseline-names", X, ABSENT.drop(columns="job")),
        (InputError, "x-not-one-row", FRAME.iloc[:2], ABSENT),
        (InputError, "x-not-one-row", FRAME.iloc[:0], ABSENT),
        (ExplicandError, "x-not-a-row", np.ones((2, 3)), ABSENT),
    ],
)
def test_rows_that_do_not_match(kind, code, x, baseline):
    with raises(kind, code):
        geex.explain(boosted(), x, baseline=baseline, progress=False)


def test_the_cells_are_kept(tmp_path):
    estimator, journal = boosted(), tmp_path / "run.geex"
    found = geex.explain(estimator, X, baseline=ABSENT, target=1, progress=False, journal=journal)
    assert found.cells.values[1:] == (X["job"].iloc[0], *X.iloc[0, 2:4].tolist(), X["zip"].iloc[0])
    assert np.isnan(found.cells.absent[0])
    for kept in (geex.Explanation.load(found.save(tmp_path / "found.npz")), geex.estimate(journal)):
        assert kept.cells.names == found.cells.names
        assert kept.cells.values == found.cells.values
        assert (kept.values == found.values).all()
    calls = []
    estimator.predict_proba = lambda rows: calls.append(len(rows))
    again = geex.explain(
        geex.models.sklearn(boosted()),
        X,
        baseline=ABSENT,
        target=1,
        progress=False,
        journal=journal,
        limits=geex.Limits(compare=False),
    )
    assert (again.values == found.values).all()


def test_a_report_and_a_curve_of_a_row(tmp_path):
    pytest.importorskip("matplotlib")
    found = geex.explain(boosted(), X, baseline=ABSENT, target=1, progress=False)
    page = found.report(tmp_path / "row.html", model=boosted()).read_text()
    assert str(X["job"].iloc[0]) in page
    curve = geex.evaluate.deletion(boosted(), X, found)
    direct = boosted().predict_proba(ABSENT)[0, 1]
    assert curve.curve[-1] == pytest.approx(direct)
    wrong = FRAME.iloc[
        [next(n for n in range(COUNT) if FRAME["job"].iloc[n] not in (X["job"].iloc[0], ABSENT["job"].iloc[0]))]
    ]
    with raises(InputError, "cell-unknown"):
        geex.evaluate.deletion(boosted(), wrong, found)


@pytest.mark.slow
def test_workers_receive_rows():
    estimator = boosted()
    alone = geex.explain(estimator, X, baseline=ABSENT, target=1, progress=False)
    for where in ({"run": geex.run.processes(2)}, {"limits": geex.Limits(concurrency=2)}):
        apart = geex.explain(estimator, X, baseline=ABSENT, target=1, progress=False, batch=4, **where)
        assert (alone.values == apart.values).all()


def test_numbers_of_a_frame_have_names_and_change_no_number():
    data = FRAME[["kids"]].astype(float).assign(mass=FRAME["body mass"].fillna(0.0))
    forest = RandomForestRegressor(5, random_state=0).fit(data, ILL)
    x, mean = data.iloc[0], geex.mean(data)
    assert mean.index.tolist() == ["kids", "mass"]
    named = geex.explain(forest, x, baseline=mean[::-1], progress=False)
    plain = geex.explain(geex.models.sklearn(forest), x.to_numpy(), baseline=mean.to_numpy(), progress=False)
    assert (named.values == plain.values).all()
    assert geex.explain(lambda z: z.sum(1), x, progress=False).names == ["kids", "mass"]
    scaled = make_pipeline(StandardScaler(), LinearRegression()).fit(data, ILL)
    assert geex.explain(scaled, data.iloc[[0]], baseline=mean, method=geex.GEEX(0.5), progress=False).names


def test_means_skip_missing_values():
    np.testing.assert_array_equal(geex.mean([[1.0, np.nan], [3.0, np.nan]]), [2.0, np.nan])
    with raises(BaselineError, "data-not-real"):
        geex.mean(FRAME)
    with raises(BaselineError, "data-empty"):
        geex.mean(FRAME[["kids"]].iloc[:0])


BACKGROUND = FRAME.iloc[[0, 1, 2, MISSING]]


@pytest.mark.parametrize("make", [boosted, lightgbm, catboost], ids=lambda make: make.__name__)
def test_a_background_of_words_and_missing_values(make):
    """The mean over the rows of the background of the values against each."""
    estimator = make()
    settings = {"target": 1, "progress": False}
    each = [geex.explain(estimator, X, baseline=BACKGROUND.iloc[[row]], **settings).values for row in range(4)]
    for background in (BACKGROUND, geex.background(BACKGROUND)):
        found = geex.explain(estimator, X, baseline=background, queries=400, **settings)
        np.testing.assert_allclose(found.values, np.mean(each, axis=0), atol=1e-6)
        assert found.cells.absent == ()
    assert "background of 4 rows" in str(found)


def test_a_background_of_missing_values_in_arrays():
    def model(rows):
        return np.where(np.isnan(rows), 10.0, rows) @ [1.0, 2.0]

    rows = np.array([[np.nan, 1.0], [3.0, np.nan]])
    found = geex.explain(model, np.array([1.0, 2.0]), baseline=geex.background(rows), progress=False)
    np.testing.assert_allclose(found.values, [1 - 6.5, 2 * (2 - 5.5)])
    whole = geex.explain(model, np.array([1.0, np.nan]), baseline=geex.background(np.ones((2, 2))), progress=False)
    np.testing.assert_allclose(whole.values, [0.0, 18.0])


@pytest.mark.filterwarnings("ignore::geex.errors.LittleToExplain")
def test_x_is_every_row_of_the_background():
    found = geex.explain(boosted(), X, baseline=geex.background(pd.concat([X, X])), target=1, progress=False)
    assert not found.values.any()
    plain = geex.explain(lambda z: z.sum(1), np.ones(3), baseline=geex.background(np.ones((4, 3))), progress=False)
    assert not plain.values.any()


def test_backgrounds_that_do_not_match():
    with raises(BaselineError, "background-columns"):
        geex.explain(boosted(), X, baseline=BACKGROUND.drop(columns="job"), progress=False)
    with raises(BaselineError, "background-shape"):
        geex.explain(boosted(), X, baseline=FRAME.iloc[:0], progress=False)
