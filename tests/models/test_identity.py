"""A journal mixes no two models, as far as they can be told apart, and knows each of them again."""

import json
import operator
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import geex
from geex.identity import digest, identity
from geex.models import http, label, link, row, sklearn, text, top
from tests.models.test_onnx import linear
from tests.servers import Loopback, Reply

ROWS = np.random.default_rng(0).normal(size=(40, 4))
X = ROWS[0]
OTHER = """
import numpy as np, torch
from sklearn.linear_model import LogisticRegression
from geex.identity import identity
from geex.models import sklearn, text
rows = np.random.default_rng(0).normal(size=(40, 4))
torch.manual_seed(0)
print(identity(torch.nn.Linear(4, 3)), identity(sklearn(LogisticRegression().fit(rows, rows[:, 0] > 0))),
      identity(text(len, "three small words")))
"""


def fitted(column):
    return LogisticRegression().fit(ROWS, ROWS[:, column] > 0)


def weighing(weights):
    """A model that counts what it is asked, with a state."""

    class Weighing:
        asked = 0

        def state_dict(self):
            return {"weights": weights}

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
    assert model.asked == asked
    assert np.allclose(geex.estimate(path, which=0).values, [1, 0, 0])
    assert np.allclose(geex.estimate(path).values, [0, -1, 0])


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
    assert again.asked == 0


def test_an_estimator_that_was_fitted_anew(tmp_path):
    estimator = fitted(0)
    path, model = tmp_path / "run.geex", sklearn(estimator)
    before = explained(model, X, path).values
    estimator.fit(ROWS, ROWS[:, 1] > 0)
    after = explained(model, X, path).values
    assert np.abs(before).argmax() == 0
    assert np.abs(after).argmax() == 1


def test_weights_that_were_changed_in_place(tmp_path):
    path, module = tmp_path / "run.geex", torch.nn.Linear(4, 1, bias=False)
    for model in (module, geex.models.torch(module)):
        for weight in (1.0, 2.0):
            with torch.no_grad():
                module.weight.fill_(weight)
            assert np.allclose(explained(model, torch.tensor(X, dtype=torch.float32), path).values, weight * X)


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


def test_services_are_told_apart_by_path_request_and_response_and_by_no_secret():
    one = http("https://user:pass@one.example/v2/models/cats?key=1", headers={"Authorization": "a"})
    moved = http("http://127.0.0.1:1234/v2/models/cats?key=2", headers={"Authorization": "b"})
    assert identity(one) == identity(moved)
    dogs = http("https://one.example/v2/models/dogs")
    named = http("https://one.example/v2/models/cats", output="scores")
    plain = [
        http("https://one.example/v2/models/cats", request=request, response=response)
        for request in ({"rows": "{rows}"}, {"rows": "{rows}", "top": 3})
        for response in ("scores", "logits", len)
    ]
    found = [identity(model) for model in (one, dogs, named, *plain)]
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
    module = torch.nn.Linear(4, 2)
    outputs = ["logits", "softmax", operator.itemgetter(0), operator.itemgetter(1), torch.sigmoid]
    assert len({identity(geex.models.torch(module, output)) for output in outputs}) == len(outputs)


def test_nothing_is_known_of_a_plain_function():
    assert identity(lambda z: z) == ""
    assert identity(torch.nn.Linear) == ""
    estimator = fitted(0)
    estimator.note = lambda: None  # cannot be pickled
    assert identity(sklearn(estimator)) == ""


def test_limits_are_no_part_of_it():
    model = http("https://one.example/v2/models/cats")
    assert identity(model) == identity(replace(model, limits=geex.Limits(), timeout=3.0))


@pytest.mark.parametrize(
    "parts",
    [
        [1, 1.0, True, "1", b"1", None, (1,), [1], {1: 1}, (1, 1), ((1,), 1), ("ab",), ("a", "b")],
        [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.array(["a", None]), np.array(["b", None])],
        [torch.zeros(2), torch.zeros(2, dtype=torch.bfloat16), torch.zeros(()), torch.ones(2, dtype=torch.bfloat16)],
    ],
    ids=["values", "arrays", "tensors"],
)
def test_digests_tell_parts_apart(parts):
    assert len({digest(part) for part in parts}) == len(parts)


def test_the_same_in_another_process():
    torch.manual_seed(0)
    here = [identity(torch.nn.Linear(4, 3)), identity(sklearn(fitted(0))), identity(text(len, "three small words"))]
    assert subprocess.run([sys.executable, "-c", OTHER], capture_output=True, text=True).stdout.split() == here
