"""Targets and scores, on stored answers."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.special import softmax as scipy_softmax

import geex
from geex.outputs import log_odds, margin, softmax
from tests.helpers import explained

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


@pytest.mark.parametrize("score", [None, "softmax", "margin", lambda a: a[:, ::-1]], ids=str)
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
