"""A journal mixes no two models, as far as they can be told apart, and knows each of them again."""

import datetime
import json
import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

import geex
from geex._problem.digest import digest
from geex._problem.model_identity import identity
from geex.models import http, label, link, row, sklearn, text, top
from tests.servers import Loopback, Reply
from tests.unit.models.test_onnx import linear

ROWS = np.random.default_rng(0).normal(size=(40, 4))
X = ROWS[0]
OTHER = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from geex._problem.model_identity import identity
from geex.models import sklearn, text
rows = np.random.default_rng(0).normal(size=(40, 4))
print(identity(sklearn(LogisticRegression().fit(rows, rows[:, 0] > 0))), identity(text(len, "three small words")))
"""


def fitted(column):
    return LogisticRegression().fit(ROWS, ROWS[:, column] > 0)


def weighing(weights):
    """A model that counts what it is asked, and says who it is."""

    class Weighing:
        asked = 0
        identity = str(weights)

        def __call__(self, z):
            self.asked += len(z)
            return np.asarray(z) @ weights

    return Weighing()


def explained(model, x, path):
    return geex.explain(model, x, method=geex.Shapley(), queries=30, journal=path, progress=False, target=0)


class Counting:
    """Texts to scores, by two words."""

    def __init__(self):
        self.asked = 0

    def __call__(self, texts):
        self.asked += len(texts)
        return np.array([float(text.count("good")) - text.count("bad") for text in texts])


def test_texts_of_as_many_words_share_a_journal(tmp_path):
    path, model = tmp_path / "run.geex", Counting()
    good, bad = text(model, "good film here"), text(model, "a bad one")
    assert good.x.tolist() == bad.x.tolist()
    first, second = explained(good, good.x, path), explained(bad, bad.x, path)
    assert np.allclose(first.values, [1, 0, 0])
    assert np.allclose(second.values, [0, -1, 0])
    asked = model.asked
    assert np.allclose(explained(good, good.x, path).values, [1, 0, 0])
    assert model.asked == asked + 2, "x and the baseline, to compare"
    stored = geex.estimate(path, which=0)
    assert np.allclose(stored.values, [0, -1, 0])
    assert stored.names == ["a", "bad", "one"]
    assert np.allclose(geex.estimate(path).values, [1, 0, 0])  # asked last


def test_rows_with_other_cells_share_a_journal(tmp_path):
    def model(frame):
        return frame["a"].to_numpy() * 2.0 + frame["b"].to_numpy()

    for a in (1.0, 5.0):
        shown = row(model, {"a": a, "b": 1.0}, {"a": 0.0, "b": 0.0})
        assert np.allclose(explained(shown, shown.x, tmp_path / "run.geex").values, [2 * a, 1])


def test_a_model_that_changed_is_asked_and_the_old_one_is_known_again(tmp_path):
    path, old, new = tmp_path / "run.geex", weighing(np.arange(4.0)), weighing(np.ones(4))
    assert np.allclose(explained(old, X, path).values, X * np.arange(4))
    assert np.allclose(explained(new, X, path).values, X)
    assert new.asked == old.asked
    again = weighing(np.arange(4.0))
    assert np.allclose(explained(again, X, path).values, X * np.arange(4))
    assert again.asked == 2, "x and the baseline, to compare"


def test_an_estimator_that_was_fitted_anew(tmp_path):
    estimator = fitted(0)
    path, model = tmp_path / "run.geex", sklearn(estimator)
    before = explained(model, X, path).values
    estimator.fit(ROWS, ROWS[:, 1] > 0)
    after = explained(model, X, path).values
    assert np.abs(before).argmax() == 0
    assert np.abs(after).argmax() == 1


def test_a_graph_that_was_written_anew(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_bytes(linear())
    model = geex.models.onnx(file)
    first = identity(model)
    assert first == identity(geex.models.onnx(str(file)))
    assert first != identity(geex.models.onnx(file, output="scores"))
    file.write_bytes(linear(batch=3))
    assert identity(model) != first
    file.unlink()
    assert identity(model) == ""


def test_services_are_told_apart_by_address_request_and_response_and_by_no_secret():
    one = http("https://user:pass@one.example/v2/models/cats?key=1", headers={"Authorization": "a"})
    secret = http("https://one.example/v2/models/cats?key=2", headers={"Authorization": "b"}, timeout=3)
    assert identity(one) == identity(secret)
    others = [
        http(f"https://{address}")
        for address in (
            "one.example/v2/models/dogs",
            "one.example/v2/models/cats?version=2",
            "two.example/v2/models/cats",
            "one.example:8443/v2/models/cats",
        )
    ]
    named = [
        http("https://one.example/v2/models/cats", **settings)
        for settings in ({"output": "scores"}, {"input": "pixels"}, {"datatype": "FP16"})
    ]
    plain = [
        http("https://one.example/v2/models/cats", request=request, response=response)
        for request in ({"rows": "{rows}"}, {"rows": "{rows}", "top": 3})
        for response in ("scores", "logits", len, lambda body: body["a"], lambda body: body["b"])
    ]
    found = [identity(model) for model in (one, *others, *named, *plain)]
    assert len(set(found)) == len(found)


def test_another_path_of_one_server_is_another_model(tmp_path):
    def respond(request):
        rows = np.array(json.loads(request.body)["rows"])
        scores = rows.sum(1) * (2 if request.path == "/twice" else 1)
        return Reply(json.dumps({"scores": scores.tolist()}).encode())

    with Loopback(respond) as server:
        for name, factor in (("/once", 1), ("/twice", 2)):
            model = http(server.url + name, request={"rows": "{rows}"}, response="scores")
            assert np.allclose(explained(model, X, tmp_path / "run.geex").values, factor * X)


def test_what_answers_are_read_as_is_part_of_it():
    model = weighing(np.ones(4))
    readings = [
        top(model, list("ab")),
        top(model, list("ba")),
        top(model, list("ab"), floor=0.1),
        label(model, list("ab")),
        link(model, "percent"),
        link(model, "log"),
        link(weighing(np.zeros(4)), "log"),
    ]
    assert len({identity(reading) for reading in readings}) == len(readings)


def test_nothing_is_known_of_a_plain_function():
    assert identity(lambda z: z) == ""
    assert identity(Failing()) == ""


class Failing:
    @property
    def identity(self):
        raise RuntimeError("not now")


def test_weights_in_a_file_beside_the_graph(tmp_path):
    onnx = pytest.importorskip("onnx")
    file, found = tmp_path / "model.onnx", []
    for factor in (1, 2, 1):
        model = onnx.load_from_string(linear())
        weights = onnx.numpy_helper.to_array(model.graph.initializer[0]) * factor
        model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "weights"))
        (tmp_path / "model.bin").unlink(missing_ok=True)
        onnx.save(model, file, save_as_external_data=True, location="model.bin", size_threshold=0)
        found.append(identity(geex.models.onnx(file)))
    assert found[0] == found[2] != found[1]


def test_cells_of_any_type():
    cells = [
        pd.Timestamp("2024-01-01"),
        pd.Timestamp("2024-01-02"),
        datetime.date(2024, 1, 1),
        datetime.date(2024, 1, 2),
        Decimal("1"),
        Decimal("2"),
        {1},
        {2},
        pd.Interval(0, 1),
        pd.Interval(0, 2),
        float("nan"),
        None,
        "1",
        1,
    ]
    found = [identity(row(len, {"a": cell}, {"a": 0})) for cell in cells]
    found += [identity(row(len, {"a": 0}, {"a": cell})) for cell in cells]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        SVC(),
        KNeighborsClassifier(3),
        HistGradientBoostingClassifier(max_iter=3),
        ExtraTreesClassifier(3, random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_estimator_is_known_again_after_it_was_asked_and_loaded(estimator):
    estimator.fit(ROWS, ROWS[:, 0] > 0)
    known = identity(sklearn(estimator))
    loaded = pickle.loads(pickle.dumps(estimator))
    sklearn(estimator)(ROWS[:5])
    assert identity(sklearn(estimator)) == identity(sklearn(loaded)) == known
    estimator.fit(ROWS, ROWS[:, 1] > 0)
    assert identity(sklearn(estimator)) != known


def test_a_pipeline_of_texts_is_known_again():
    pipeline = make_pipeline(TfidfVectorizer(), FunctionTransformer(lambda z: z), LogisticRegression())
    pipeline.fit(["a lovely film", "a dull film"], [0, 1])
    known = identity(text(pipeline, "a film"))
    pipeline.predict_proba(["a lovely film"])
    assert identity(text(pipeline, "a film")) == known
    assert identity(text(pipeline, "the film")) != known
    del pipeline.steps[1]
    assert identity(text(pipeline, "a film")) != known


def test_no_text_of_a_model_is_in_the_journal(tmp_path):
    model = weighing(np.ones(4))
    model.identity = "hunter2-secret \udc80"
    explained(model, X, tmp_path / "run.geex")
    assert b"hunter2" not in (tmp_path / "run.geex").read_bytes()


def test_groups_along_other_axes_are_other_questions(tmp_path):
    x, labels = np.arange(64.0).reshape(4, 4, 4), np.arange(16).reshape(4, 4) % 3
    found = [
        geex.explain(
            lambda z: z[:, 0].sum((1, 2)),
            x,
            method=geex.Shapley(),
            features=geex.Groups(labels, channels=axis),
            queries=30,
            journal=tmp_path / "run.geex",
            progress=False,
        ).values
        for axis in (0, 2)
    ]
    assert not np.allclose(*found)


@pytest.mark.parametrize(
    "parts",
    [
        [1, 1.0, True, "1", b"1", None, (1,), [1], {1: 1}, (1, 1), ((1,), 1), ("ab",), ("a", "b"), {1, 2}, {1, 3}],
        [{"a": {"b": 1}, "c": 2}, {"a": {"b": 1, "c": 2}}, np.float64, np.float32, len, sum],
        [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.array(["a", None]), np.array(["b", None])],
    ],
    ids=["values", "holders", "arrays"],
)
def test_digests_tell_parts_apart(parts):
    assert len({digest(part) for part in parts}) == len(parts)


@pytest.mark.slow
def test_the_same_in_another_process():
    here = [identity(sklearn(fitted(0))), identity(text(len, "three small words"))]
    assert subprocess.run([sys.executable, "-c", OTHER], capture_output=True, text=True).stdout.split() == here
