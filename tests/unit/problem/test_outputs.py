"""Targets and scores, on stored answers."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.special import softmax as scipy_softmax

import geex
from geex import errors
from geex._problem.outputs import bounded_log_odds, log_odds, margin, resolved_score, softmax, sure_log_odds
from tests.helpers import explained, raises

RNG = np.random.default_rng(0)
X = RNG.normal(size=6)
W = RNG.normal(size=(6, 4))


def logits(z):
    return z @ W


def test_scores_equal_their_definitions():
    answers = RNG.normal(size=(50, 4))
    np.testing.assert_allclose(softmax(answers), scipy_softmax(answers, axis=1))
    probabilities = scipy_softmax(answers, axis=1)
    np.testing.assert_allclose(log_odds(probabilities), logit(probabilities))
    for row, found in zip(answers, margin(answers), strict=True):
        np.testing.assert_allclose(found, [row[j] - np.delete(row, j).max() for j in range(4)])
    assert (margin(np.array([[2.0, 2.0, 1.0]])) == [[0, 0, -1]]).all()
    assert np.isfinite(log_odds(np.array([[0.0, 1.0]]))).all()


def test_sure_log_odds_know_how_sure_a_model_is():
    """Softmax in float32 gives 1 exactly for a lead of 17 and more; the others still say how much more."""
    leads = np.array([0.0, 5.0, 12.0, 17.0])
    answers = softmax(np.stack([leads, 0 * leads, 0 * leads - 1], axis=1).astype(np.float32))
    exact = leads - np.log1p(np.exp(-1))
    assert answers[-1, 0] == 1
    made = sure_log_odds(answers)[:, 0]
    np.testing.assert_allclose(made, exact, rtol=1e-5)
    ends = sure_log_odds(np.array([[1.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_allclose(ends, [[np.log(1e8), np.log(1e-3)], [0, 0]], rtol=1e-6)


def test_sure_log_odds_of_rounded_chances():
    """Three digits of 0.9993 are 0.999 and nothing else: they still say 0.001, and not that the model is sure."""
    p = np.array([0.6, 0.9, 0.998, 0.999])
    rest = np.array([0.4, 0.1, 0.001, 0.0])
    made = sure_log_odds(np.stack([p, rest, 0 * p], axis=1))[:, 0]
    np.testing.assert_allclose(made, logit(p), rtol=1e-3)
    sums = p[-1] + np.array([0.0, 0.0005, 0.001])  # near 1, and adding up in the end
    beside = [sure_log_odds(np.array([[p[-1], total - p[-1]]]))[0, 0] for total in sums]
    np.testing.assert_allclose(beside, logit(p[-1]), rtol=1e-3)


def test_rounded_chances_are_told_by_their_zeros():
    """Rounded to four digits, 1 − p is 0 or 1e-4 and more: how much less than that it was is not known."""
    chances = softmax(np.array([[12.0, 0.0, -3.0], [1.0, 0.0, 0.5]]))
    assert resolved_score("auto", chances) == "sure_log_odds"
    assert resolved_score("auto", chances.round(4)) == "bounded_log_odds"
    surest = softmax(np.array([[200.0, 0.0, 180.0], [1.0, 0.0, 0.5]], np.float32))
    assert surest[0, 1] == 0
    assert resolved_score("auto", surest) == "sure_log_odds", "nothing is rounded where a chance of 2e-9 is told"
    assert resolved_score("auto", 2 * chances) == resolved_score("auto", chances[:, :1]) == "answer"
    np.testing.assert_allclose(bounded_log_odds(np.array([[1.0, 0.0]])), [[1, -1]] * np.log([999]), rtol=1e-6)


def test_of_labels_alone_the_answer_is_explained():
    """Log-odds of 0 and 1 are the ends of their scale, and no more."""
    labels = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert resolved_score("auto", labels) == "answer"
    assert resolved_score("auto", np.array([[0.0, 1.0, 0.0], [0.7, 0.3, 0.0]])) == "bounded_log_odds"


def test_sure_log_odds_of_answers_that_do_not_add_up():
    """Several labels may hold at once, or only one chance is told: then 1 − p is all that is known."""
    p = np.array([[0.9, 0.8, 0.3]])
    np.testing.assert_allclose(sure_log_odds(p), logit(p))
    np.testing.assert_allclose(sure_log_odds(p[:, :1]), sure_log_odds(p)[:, :1])
    with raises(errors.AnswerError, "answer-not-probabilities"):
        sure_log_odds(np.array([[3.0, -2.0]]))


@pytest.mark.parametrize(
    "score", [None, "softmax", "margin", lambda a: a[:, ::-1]], ids=["none", "softmax", "margin", "function"]
)
def test_the_target_is_the_predicted_output_of_the_score(score):
    explanation = explained(logits, X, geex.GEEX(0.5), score=score)
    output = logits(X[None])[0]
    assert explanation.target == (3 - output.argmax() if callable(score) else output.argmax())


def test_zero_is_a_target():
    explanation = explained(logits, X, geex.GEEX(0.5), target=0)
    assert explanation.target == 0
    assert explanation.output == pytest.approx(logits(X[None])[0, 0])


def test_all_outputs_cost_the_queries_of_one():
    every = explained(logits, X, geex.GEEX(0.5), target="all")
    assert every.values.shape == (4, 6)
    assert every.queries == explained(logits, X, geex.GEEX(0.5)).queries
    for target in range(4):
        single = explained(logits, X, geex.GEEX(0.5), target=target)
        np.testing.assert_array_equal(every.values[target], single.values)
        np.testing.assert_array_equal(every.stderr[target], single.stderr)
        assert every.gap[target] == single.gap
        assert every.gap_stderr[target] == single.gap_stderr


@pytest.mark.parametrize("target", [[2, 0], (2, 0), np.array([2, 0]), [-2, 0]], ids=str)
def test_a_list_keeps_its_order(target):
    explanation = explained(logits, X, geex.GEEX(0.5), target=target)
    assert explanation.target == [2, 0]
    assert explanation.values.shape == (2, 6)


def test_numpy_integers_are_targets():
    assert explained(logits, X, geex.GEEX(0.5), target=np.int64(1)).target == 1
    assert explained(logits, X, geex.GEEX(0.5), target=-1).target == 3


@pytest.mark.parametrize("features", [None, geex.Groups(np.array([0, 0, 1, 1, 2, 2]))])
@pytest.mark.parametrize("score", [None, "softmax", "margin"])
@pytest.mark.parametrize("target", [1, "all", None])
def test_stored_answers_serve_other_questions_with_no_query(target, score, features):
    asked = []

    def model(z):
        asked.append(len(z))
        return logits(z)

    first = explained(model, X, geex.GEEX(0.5), 3001)
    before = len(asked)
    later = geex.estimate(first, target=target, score=score, features=features)
    assert len(asked) == before
    target = first.target if target is None else target
    fresh = explained(logits, X, geex.GEEX(0.5), 3001, target=target, score=score, features=features)
    assert later.values.tobytes() == fresh.values.tobytes()
    assert later.stderr.tobytes() == fresh.stderr.tobytes()
    np.testing.assert_array_equal(later.gap, fresh.gap)


def test_answers_of_one_column_and_of_none():
    flat = explained(lambda z: logits(z)[:, 0], X, geex.GEEX(0.5))
    column = explained(lambda z: logits(z)[:, :1], X, geex.GEEX(0.5), target=0)
    assert flat.values.tobytes() == column.values.tobytes()


def test_what_is_not_named_stays():
    first = explained(logits, X, geex.GEEX(0.5), 301, target=2, score="softmax")
    groups = geex.estimate(first, features=geex.Groups(np.array([0, 0, 1, 1, 2, 2])))
    assert groups.target == 2
    assert groups.output == first.output
    assert geex.estimate(first, score="answer").output == pytest.approx(logits(X[None])[0, 2])


LABELS = ["Bag", "T-shirt", "Coat", "coat"]


def test_outputs_by_their_labels(tmp_path):
    def asked(model=logits, target="t-SHIRT", **settings):
        return explained(model, X, geex.GEEX(0.5), 301, target=target, **settings)

    class Labelled:
        labels = np.array(LABELS)

        def __call__(self, z):
            return logits(z)

    found = asked(labels=LABELS)
    assert found.values.tobytes() == asked(target=1).values.tobytes()
    assert (found.target, found.labels) == (1, LABELS)
    assert "output 1 (T-shirt)" in repr(found)
    assert asked(labels=iter(LABELS), target=None).labels == LABELS
    assert asked(Labelled()).target == 1
    assert asked(Labelled(), target=np.array(["coat", "Bag"])).target == [3, 0]
    assert asked(labels=LABELS, target=["Coat", -4]).target == [2, 0]
    assert geex.explain_batch(logits, [X], target="Bag", labels=LABELS, queries=99, progress=False)[0].target == 0
    assert asked(Labelled(), target=iter(["coat", "Bag"])).target == [3, 0]
    both = geex.explain_batch(logits, [X, X + 1], target=iter([2, 1]), queries=99, progress=False)
    assert [one.target for one in both] == [[2, 1], [2, 1]]
    assert geex.estimate(found, target=iter(["Bag"])).target == [0]
    assert geex.estimate(found, target="Bag").target == 0
    assert geex.estimate(found, target="dog", labels=["a", "b", "c", "dog"]).labels[3] == "dog"
    with raises(errors.TargetError, "target-not-a-label") as caught:
        geex.estimate(found, target="shirt")
    assert "'T-shirt'" in str(caught.value)


@pytest.mark.parametrize("method", [geex.GEEX(0.5), geex.Regression()], ids=str)
def test_labels_of_a_journal(tmp_path, method):
    path = tmp_path / "run.geex"
    for stop in (None, geex.Settled()):  # in one go, and in legs
        explained(logits, X, method, 301, journal=path, target="Bag", labels=LABELS, stop=stop)
        found = geex.estimate(path, target="T-shirt", labels=LABELS)
        assert (found.target, found.labels) == (1, LABELS)
        with raises(errors.TargetError, "target-without-labels"):
            geex.estimate(path, target="T-shirt")


def test_labels_that_are_not_as_many_as_outputs_are_told_after_the_first_call():
    asked = []

    def model(z):
        asked.append(len(z))
        return logits(z)

    model.labels = LABELS[:3]
    for settings in ({"labels": LABELS[:3]}, {"target": "Bag"}):
        asked.clear()
        with raises(errors.InputError, "labels-count"):
            explained(model, X, geex.GEEX(0.5), 301, **settings)
        assert sum(asked) <= 3
    found = explained(model, X, geex.GEEX(0.5), 301)  # a model's own are passed over where nobody asks for them
    assert found.labels is None
    with raises(errors.InputError, "labels-count"):
        geex.estimate(found, labels=LABELS[:3])
