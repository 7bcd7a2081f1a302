"""What real services return: the best labels, one label, or numbers on another scale."""

import json
import pickle

import numpy as np
import pytest

import geex
from geex.demo.garments import garments, network
from geex.errors import AnswerError, InputError, ModelError
from geex.models import http, label, link, top
from tests.helpers import raises
from tests.servers import Loopback, Reply

SIDE = 8
REGION = (slice(2, 5), slice(3, 6))


def planted(pictures):
    """Looks at one region only."""
    return 1 / (1 + np.exp(-(pictures[:, *REGION].sum((1, 2)) - 4.5) / 1.5))


def named(pictures):
    return np.where(planted(pictures) > 0.5, "yes", "no").tolist()


def is_found(values):
    """The nine pixels of the region are the nine largest values."""
    places = np.argsort(values.ravel())[::-1][:9]
    truth = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)[REGION].ravel()
    return set(places.tolist()) == set(truth.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_a_label_alone_still_finds_what_decided(seed):
    model = label(named, ["no", "yes"])
    picture = np.ones((SIDE, SIDE))
    for method in (geex.Regression(), geex.Presence(0.5)):
        found = geex.explain(model, picture, method=method, queries=3000, target=1, seed=seed, progress=False)
        assert is_found(found.values), method


def test_a_label_alone_by_the_papers_method():
    model = label(named, ["no", "yes"])
    found = geex.explain(
        model, np.ones((SIDE, SIDE)), method=geex.GEEX(sigma=1.0), queries=6000, target=1, progress=False
    )
    assert is_found(found.values)


def test_labels_are_indicators():
    answer = label(lambda z: ["b", "a", "b"], ["a", "b", "c"])(np.zeros((3, 1)))
    assert answer.tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    assert label(lambda z: np.array([3, 1]), [1, 3])(np.zeros((2, 1))).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("answer", [["d"], [["a"]], [{"label": "a"}], [None], [0.3]])
def test_a_label_that_is_none(answer):
    with raises(AnswerError, "answer-not-a-label"):
        label(lambda z: answer, ["a", "b"])(np.zeros((1, 1)))


@pytest.mark.parametrize(
    "rows",
    [
        [{"cat": 0.7, "dog": 0.2}, {"dog": 0.9}],
        [[("cat", 0.7), ("dog", 0.2)], [("dog", 0.9)]],
        [[["cat", 0.7], ["dog", 0.2]], [["dog", 0.9], ["cow", 0.05]]],
        [[{"label": "cat", "score": 0.7}, {"label": "dog", "score": 0.2}], [{"label": "dog", "score": 0.9}]],
    ],
)
def test_the_best_labels_in_every_form(rows):
    model = top(lambda z: rows, ["dog", "cat", "bird"], floor=0.01)
    assert model(np.zeros((2, 1))).tolist() == [[0.2, 0.7, 0.01], [0.9, 0.01, 0.01]]
    assert model.labels == ("dog", "cat", "bird")


def test_other_names_for_label_and_score():
    rows = [[{"Name": "cat", "Confidence": 70.0}], []]
    model = link(top(lambda z: rows, ["cat", "dog"], keys=("Name", "Confidence")), "percent")
    assert model(np.zeros((2, 1))).tolist() == [[0.7, 0.0], [0.0, 0.0]]
    assert model.labels == ("cat", "dog")


@pytest.mark.parametrize("rows", [["cat"], [3], [[{"name": "cat"}]], [[("cat", "high")]], [None]])
def test_a_list_that_is_none(rows):
    with raises(AnswerError, "answer-not-listed-scores"):
        top(lambda z: rows, ["cat", "dog"])(np.zeros((1, 1)))


def test_top_three_rounded_to_two_places_over_http():
    """Of a real network, behind a service that tells three labels and two decimals: the same pixels come out."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("httpx")
    net = network()
    pictures, _, names = garments()

    def softmax(logits):
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def respond(request):
        entry = json.loads(request.body)["inputs"]
        p = softmax(net(np.array(entry, dtype=np.float32)))
        best = np.argsort(p, axis=1)[:, ::-1][:, :3]
        rows = [
            [{"label": names[k], "score": round(float(row[k]), 2)} for k in places]
            for row, places in zip(p, best, strict=True)
        ]
        return Reply(json.dumps({"answers": rows}).encode())

    settings = {"method": geex.Regression(), "queries": 600, "progress": False, "features": geex.Pixels(0)}
    with Loopback(respond) as server:
        model = top(http(server.url, request={"inputs": "{rows}"}, response="answers"), names)
        assert model.limits.concurrency > 1  # what the service allows is known through the wrapper
        coarse = geex.explain(model, pictures[9], **settings)
    fine = geex.explain(lambda z: softmax(net(z)), pictures[9], **settings)
    assert coarse.target == fine.target
    assert np.corrcoef(coarse.values.ravel(), fine.values.ravel())[0, 1] > 0.99


P = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])


@pytest.mark.parametrize(
    ("of", "answers"),
    [
        ("probability", P),
        ("percent", 100 * P),
        ("log", np.log(P)),
        ("log_odds", np.log(P / (1 - P))),
        ("logits", np.log(P) + np.array([[3.0], [-5.0]])),
    ],
)
def test_every_scale_read_on_every_other(of, answers):
    for to, wanted in {"probability": P, "log": np.log(P), "log_odds": np.log(P / (1 - P))}.items():
        assert np.allclose(link(lambda z: answers, of, to)(P), wanted, atol=1e-12), to


def test_links_at_the_ends_stay_finite():
    assert np.isfinite(link(lambda z: np.array([0.0, 100.0]), "percent", "log_odds")(P)).all()
    assert np.isfinite(link(lambda z: np.array([0.0, 1.0]), "probability", "log")(P)).all()
    with np.errstate(all="raise"):
        assert link(lambda z: np.array([-1e4, 1e4]), "log_odds")(P).tolist() == [0.0, 1.0]


def test_a_link_of_what_is_no_number():
    with pytest.raises(ModelError):
        link(lambda z: ["a", "b"], "percent")(P)


def test_wrappers_can_be_pickled_and_pass_on_what_is_known():
    inner = http("http://127.0.0.1:9", limits=geex.Limits(concurrency=3))
    for model in (top(inner, ["a"]), label(inner, ["a"]), link(inner, "percent")):
        assert pickle.loads(pickle.dumps(model)).limits == inner.limits
    assert top(len, ["a"]).limits == geex.Limits()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: top(len, []), "labels-not-distinct"),
        (lambda: top(len, "abc"), "labels-not-distinct"),
        (lambda: top(len, ["a", "a"]), "labels-not-distinct"),
        (lambda: top(len, ["a"], floor="low"), "floor-not-a-number"),
        (lambda: top(len, ["a"], keys="score"), "keys-not-two"),
        (lambda: label(len, []), "labels-not-distinct"),
        (lambda: link(len, "odds"), "scale-unknown"),
        (lambda: link(len, "percent", "percent"), "scale-unknown"),
    ],
)
def test_settings_that_are_none(make, code):
    with raises(InputError, code):
        make()
