"""Bad input gets an error of its own kind that says what was got, what was wanted and the fix."""

import warnings

import numpy as np
import pytest

import geex
from geex import errors
from geex.methods import GE, Interpolated
from tests.helpers import explained, raises

X = np.linspace(0.5, 2.0, 12).reshape(3, 4)


def model(z):
    return np.stack([z.sum((1, 2)), -z.sum((1, 2))], axis=1)


class Counting:
    def __init__(self, answer=model):
        self.rows, self.answer = 0, answer

    def __call__(self, z):
        self.rows += len(z)
        return self.answer(z)


@pytest.mark.parametrize(
    ("kind", "code", "settings"),
    [
        (errors.BaselineError, "baseline-shape", {"baseline": np.zeros((4, 3))}),
        (errors.BaselineError, "baseline-shape", {"baseline": np.zeros(3)}),
        (errors.BaselineError, "baseline-not-real", {"baseline": "zero"}),
        (errors.BaselineError, "baseline-not-finite", {"baseline": np.nan}),
        (errors.BaselineError, "baselines-empty", {"baseline": []}),
        (errors.BaselineError, "baseline-rule-raised", {"baseline": lambda x: 1 / 0}),
        (errors.MethodError, "filter-larger-than-image", {"baseline": geex.blur(5, 1.0)}),
        (errors.MethodError, "filter-larger-than-image", {"method": geex.GEEX(1.0, smooth=(5, 0.7))}),
        (errors.TargetError, "target-without-labels", {"target": "cat"}),
        (errors.TargetError, "target-not-a-label", {"target": "cat", "labels": ["Cat fish", "dog"]}),
        (errors.TargetError, "target-not-a-label", {"target": ["cat"], "labels": ["xy", "zz"]}),
        (errors.TargetError, "target-ambiguous", {"target": "cat", "labels": ["Cat", "CAT"]}),
        (errors.TargetError, "target-unknown", {"target": ["cat", 1.5], "labels": ["cat", "dog"]}),
        (errors.InputError, "labels-not-a-list", {"labels": "cat"}),
        (errors.TargetError, "target-unknown", {"target": 1.5}),
        (errors.TargetError, "target-unknown", {"target": True}),
        (errors.TargetError, "target-unknown", {"target": []}),
        (errors.InputError, "score-unknown", {"score": "logits"}),
        (errors.InputError, "seed-too-small", {"seed": -1}),
        (errors.InputError, "seed-not-whole", {"seed": 1.5}),
        (errors.BudgetError, "queries-too-small", {"queries": 0}),
        (errors.BudgetError, "queries-not-whole", {"queries": 10.5}),
        (errors.BudgetError, "batch-too-small", {"batch": 0}),
        (errors.FeaturesError, "channels-not-an-axis", {"features": geex.Pixels(channels=2)}),
        (errors.FeaturesError, "group-map-shape", {"features": geex.Groups(np.zeros((3, 3), int))}),
        (errors.FeaturesError, "features-not-features", {"features": "pixels"}),
        (errors.MethodError, "method-not-a-method", {"method": geex.GEEX}),
        (errors.MethodError, "method-not-a-method", {"method": "geex"}),
        (errors.MethodError, "shared-not-an-axis", {"method": geex.GEEX(1.0, shared=2)}),
        (errors.BoundsError, "bounds-not-a-range", {"bounds": (1, 0)}),
        (errors.BoundsError, "bounds-not-two", {"bounds": 1}),
        (errors.BoundsError, "outside-the-bounds", {"bounds": (0, 1)}),
        (errors.BoundsError, "bounds-shape", {"bounds": (np.zeros(5), np.ones(5))}),
    ],
)
def test_codes_before_the_first_query(kind, code, settings):
    counting = Counting()
    with raises(kind, code):
        geex.explain(counting, X, **{"progress": False, "method": geex.GEEX(0.5), **settings})
    assert counting.rows == 0
    assert issubclass(kind, errors.GeexError)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"baseline": np.zeros(3)}, "per_channel(values, axis=0)"),
        ({"target": "cat", "labels": ["Cat fish", "dog"]}, "the nearest label is 'Cat fish'"),
        ({"target": ["cat"], "labels": ["xy", "zz"]}, "the labels are 'xy', 'zz'"),
    ],
)
def test_errors_name_the_way_out(settings, text):
    with pytest.raises(errors.InputError) as caught:
        geex.explain(Counting(), X, **{"progress": False, "method": geex.GEEX(0.5), **settings})
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("x", "code"),
    [
        (np.array(["a"]), "x-not-real"),
        (np.array([object()]), "x-not-real"),
        (np.array([1 + 2j]), "x-not-real"),
        (np.array([[1.0, np.nan]]), "x-not-finite"),
        (np.array([np.inf]), "x-not-finite"),
        (np.zeros((0, 3)), "x-empty"),
        (None, "x-not-real"),
    ],
)
def test_explicands(x, code):
    with raises(errors.ExplicandError, code):
        geex.explain(Counting(), x)


@pytest.mark.parametrize("sigma", [0, -1.0, np.nan, np.inf, "1", True])
@pytest.mark.parametrize("method", [geex.GEEX, GE, Interpolated])
def test_sigma_when_the_method_is_made(method, sigma):
    with raises(errors.MethodError, "sigma-not-positive"):
        method(sigma=sigma)


@pytest.mark.parametrize(
    "settings",
    [
        {"smooth": 5},
        {"smooth": (4, 0.7)},
        {"smooth": (5, 0.0)},
        {"smooth": (5, 0.7), "family": geex.Laplace()},
        {"coupling": "sobol"},
        {"coupling": "orthogonal", "family": geex.Laplace()},
        {"coupling": "orthogonal", "smooth": (3, 1.0)},
        {"family": "gaussian"},
    ],
    ids=str,
)
def test_settings_when_the_method_is_made(settings):
    with pytest.raises(errors.MethodError):
        geex.GEEX(1.0, **settings)


@pytest.mark.parametrize(("steps", "code"), [(0, "too-small"), (2.5, "not-whole"), (True, "not-whole")])
def test_steps_when_the_method_is_made(steps, code):
    with raises(errors.MethodError, f"steps-{code}"):
        Interpolated(steps=steps)


@pytest.mark.parametrize("target", [2, -3, [0, 5]])
def test_target_out_of_range_is_known_after_two_queries(target):
    counting = Counting()
    with raises(errors.TargetError, "target-out-of-range"):
        explained(counting, X, geex.GEEX(0.5), target=target)
    assert counting.rows == 2


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lambda z: model(z)[:1], "answer-shape"),
        (lambda z: 1.0, "answer-shape"),
        (lambda z: np.zeros((len(z), 2, 2)), "answer-shape"),
        (lambda z: np.zeros((len(z), 0)), "answer-shape"),
        (lambda z: ["cat"] * len(z), "model-answer-not-real"),
        (lambda z: {"scores": 1}, "model-answer-not-real"),
        (lambda z: None, "model-answer-not-real"),
        (lambda z: [[1, 2], [3]], "model-answer-not-an-array"),
        (lambda z: np.where(np.arange(len(z)) == 1, np.nan, 1.0), "answer-not-finite"),
        (lambda z: np.full(len(z), np.inf), "answer-not-finite"),
        (lambda z: model(z) + 1j, "model-answer-not-real"),
    ],
)
def test_answers(answer, code):
    with raises(errors.AnswerError, code):
        explained(answer, X, geex.GEEX(0.5))


def test_the_query_that_was_answered_with_nan_is_on_the_error():
    def sometimes(z):
        return np.where(z[:, 0, 0] < -0.5, np.nan, z.sum((1, 2)))

    with pytest.raises(errors.AnswerError) as caught:
        explained(sometimes, X, geex.GEEX(1.0), batch=100)
    assert caught.value.query.shape == X.shape
    assert caught.value.query[0, 0] < -0.5


def test_a_width_that_changes_from_batch_to_batch():
    calls = []

    def fickle(z):
        calls.append(1)
        return (
            np.ones((len(z), 3 if len(calls) > 2 else 2)) * np.arange(1, 4)[: 3 if len(calls) > 2 else 2] * z[:, :1, 0]
        )

    with raises(errors.AnswerError, "answer-width-changed"):
        explained(fickle, X, geex.GEEX(0.5), batch=50)


def test_a_model_that_raises_shows_its_own_error_and_the_batch():
    def broken(z):
        raise KeyError("no such layer")

    with raises(errors.ModelRaised, "model-raised") as caught:
        explained(broken, X, geex.GEEX(0.5))
    assert "KeyError: 'no such layer'" in str(caught.value)
    assert "(2, 3, 4)" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_batch_axis_in_x_is_pointed_out():
    def images_only(z):
        if z.ndim != 3:
            raise ValueError("expected 3 axes")
        return z.sum((1, 2))

    with raises(errors.ModelRaised, "model-raised") as caught:
        explained(images_only, X[None], geex.GEEX(0.5))
    assert "explain x[0]" in str(caught.value)


def test_keyboard_interrupts_are_not_swallowed():
    def stopped(z):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explained(stopped, X, geex.GEEX(0.5))


@pytest.mark.parametrize("bad", [None, "model", 3])
def test_a_model_must_be_callable(bad):
    with raises(errors.InputError, "model-not-callable"):
        explained(bad, X, geex.GEEX(0.5))


def test_little_to_explain_is_a_warning():
    with pytest.warns(errors.LittleToExplain):
        explanation = explained(lambda z: np.full(len(z), 3.0), X, geex.GEEX(0.5))
    assert (explanation.values == 0).all()
    assert (explanation.stderr == 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explained(lambda z: z.sum((1, 2)), X, geex.GEEX(0.5))


@pytest.mark.parametrize("queries", [6, 7, 8, 100, 101])
def test_the_budget_is_never_exceeded(queries):
    counting = Counting()
    explanation = explained(counting, X, geex.GEEX(0.5), queries)
    assert counting.rows == explanation.queries <= queries


def test_scores_that_do_not_go_with_the_answer():
    with raises(errors.AnswerError, "answer-not-probabilities"):
        explained(model, X, geex.GEEX(0.5), score="log_odds")
    with raises(errors.AnswerError, "score-needs-outputs"):
        explained(lambda z: z.sum((1, 2)), X, geex.GEEX(0.5), score="softmax")
    with raises(errors.InputError, "score-shape"):
        explained(model, X, geex.GEEX(0.5), score=lambda a: a[:1])
    with raises(errors.InputError, "score-not-finite"):
        explained(model, X, geex.GEEX(0.5), score=lambda a: a * np.nan)


def test_explaining_no_explicands():
    with pytest.raises(errors.ExplicandError):
        geex.explain_batch(model, [])


@pytest.mark.parametrize("method", ["regression", geex.Regression, 3])
def test_estimates_by_what_is_no_method(method):
    found = explained(model, X, geex.GEEX(0.5), 100)
    with pytest.raises(errors.MethodError) as raised:
        geex.estimate(found, method=method)
    assert raised.value.code == "method-not-a-method"


@pytest.mark.parametrize("path", [3.5, [], b"x", "a\0b"])
def test_paths_that_are_none(path):
    with raises(errors.InputError, "journal-not-a-path"):
        explained(model, X, geex.GEEX(0.5), 100, journal=path)
    with raises(errors.FileError, "path-not-a-path"):
        geex.Explanation.load(path)


def test_names_that_are_none():
    found = explained(model, X, geex.GEEX(0.5), 100)
    with raises(errors.InputError, "labels-not-a-list"):
        found.named(labels=5)
    with raises(errors.InputError, "names-not-a-list"):
        found.named(names=5)


def test_settings_that_are_neither_true_nor_false():
    with raises(errors.MethodError, "complete-not-boolean"):
        geex.Regression(complete="a")
    with raises(errors.FeaturesError, "line-not-boolean"):
        geex.Elements(line=1)


def test_an_estimator_is_a_model():
    class Estimator:
        def predict(self, rows):
            return rows[:, 0]

    found = explained(Estimator(), np.ones(3), geex.Shapley(), 100)
    assert found.values.tolist() == [1.0, 0.0, 0.0]


def test_what_to_do_with_a_text():
    with raises(errors.ExplicandError, "x-not-real") as caught:
        geex.explain(lambda z: z, "a text", progress=False)
    assert "geex.models.text(model, text)" in str(caught.value)


def test_what_to_do_with_a_module():
    torch = pytest.importorskip("torch")
    with raises(errors.InputError, "module-needs-tensors"):
        geex.explain(torch.nn.Linear(3, 2), np.ones(3), progress=False)


def test_a_list_of_numbers_is_a_row_or_several_baselines():
    with raises(errors.BaselineError, "baseline-ambiguous"):
        geex.explain(lambda z: z.sum(1), [1.0, 2.0, 3.0], baseline=[0.5, 1.0, 2.0], progress=False)
    found = geex.explain(lambda z: z.sum(1), [1.0, 2.0, 3.0], baseline=[0.5, 1.0], progress=False)
    np.testing.assert_allclose(found.values, [0.25, 1.25, 2.25])


def test_a_method_of_a_journal_is_checked(tmp_path):
    explained(lambda z: z.sum(1), np.ones(3), geex.Shapley(), 10, journal=tmp_path / "run.geex")
    for wrong in ("x", geex.Shapley):
        with pytest.raises(errors.MethodError) as raised:
            geex.estimate(tmp_path / "run.geex", method=wrong)
        assert raised.value.code == "method-not-a-method"


@pytest.mark.parametrize("method", [geex.Regression(), geex.Presence(alpha=0.5)], ids=["Regression", "Presence"])
def test_what_no_draw_met_is_not_known_to_be_nothing(method):
    """An AND of six: 47 draws may well meet none of it, and its values, 1/32, lie within the intervals."""
    found = explained(lambda z: (z[:, :6] > 0).all(1) * 1.0, np.ones(8), method, 96)
    assert not found.values.any()
    low, high = found.interval()
    assert (high > 1 / 32).all()
    assert (low < 0).all()
    assert found.region(np.ones(8, bool)).high > 0
    same = explained(lambda z: (z[:, :6] > 0).all(1) * 1.0, np.append(np.ones(8), 0.0), method, 96)
    assert same.stderr[8] == 0 < same.stderr[7]
