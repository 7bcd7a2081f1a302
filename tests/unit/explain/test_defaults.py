"""What is done where nothing is asked for."""

import numpy as np
import pytest

import geex
from geex.errors import BudgetError
from tests.games import glove, model_of, shapley
from tests.helpers import explained, raises


def ask(x, **settings):
    return geex.explain(lambda z: z.reshape(len(z), -1).sum(1) + 1, x, progress=False, **settings)


@pytest.mark.parametrize(
    ("shape", "method", "values"),
    [
        ((5,), "Shapley()", (5,)),
        ((28, 28), "Guided()", (28, 28)),
        ((1, 28, 28), "Guided()", (28, 28)),
        ((3, 20, 30), "Guided()", (20, 30)),
        ((20, 30, 3), "Guided()", (20, 30)),
        ((3, 74, 76), "Guided()", (74, 76)),
        ((75, 75), "Guided(explore=0.5, first=100)", (75, 75)),
        ((80, 100, 3), "Guided(explore=0.5, first=100)", (80, 100)),
        ((4, 5, 3), "Shapley()", (4, 5, 3)),
        ((6, 12, 12), "Shapley()", (6, 12, 12)),
        ((2, 3, 4, 5), "Shapley()", (2, 3, 4, 5)),
    ],
)
def test_the_kind_of_input_decides(shape, method, values):
    found = ask(np.ones(shape), queries=60)
    assert str(found.settings.method) == method
    assert found.values.shape == values


@pytest.mark.parametrize("shape", [(1, 3, 20, 30), (1, 20, 30, 3), (1, 1, 28, 28), (1, 28, 28, 1), (1, 4, 8, 8)])
@pytest.mark.parametrize("method", [None, geex.GEEX()], ids=str)
def test_an_image_in_a_batch_of_one_is_told_before_the_first_query(shape, method):
    asked = []
    with raises(geex.errors.ExplicandError, "x-in-a-batch-of-one"):
        geex.explain(asked.append, np.ones(shape), method=method)
    with raises(geex.errors.ExplicandError, "x-in-a-batch-of-one"):
        geex.explain_batch(asked.append, [np.ones(shape)], method=method)
    assert not asked
    assert ask(np.ones(shape), queries=60, features=geex.Elements()).values.shape == shape


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 9, 9), (9, 9, 1), (1, 5, 5, 5), (1, 3, 4, 5), (2, 3, 10, 10)])
def test_what_looks_like_no_batch_is_explained(shape):
    ask(np.ones(shape), queries=60)


def test_a_row_in_a_batch_of_one_is_warned_of():
    for call in (ask, lambda x, **settings: geex.explain_batch(lambda z: z.sum((1, 2)), [x], progress=False)[0]):
        with pytest.warns(geex.errors.BatchOfOne, match=r"\(n, 1, 30\)"):
            found = call(np.ones((1, 30)), queries=60)
        assert str(found.settings.method) == "Shapley()"
        assert found.values.shape == (1, 30)
    ask(np.ones((1, 30)), queries=60, features=geex.Elements())


@pytest.mark.parametrize(
    ("shape", "channels", "told"),
    [
        ((28, 28), 0, r"28 entries along axis 0.*values have shape \(28,\).*geex.Elements\(\)"),
        ((24, 32, 3), 0, r"values have shape \(32, 3\).*features=geex.Pixels\(channels=-1\)"),
        ((3, 24, 32), -1, r"values have shape \(3, 24\).*features=geex.Pixels\(channels=0\)"),
    ],
)
def test_a_side_that_was_named_as_channels_is_warned_of(shape, channels, told):
    with pytest.warns(geex.errors.ManyChannels, match=told) as caught:
        ask(np.ones(shape), queries=60, features=geex.Pixels(channels=channels))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("shape", "channels"), [((3, 24, 32), 0), ((24, 32, 3), 2), ((60, 20, 20), 0), ((16, 20), 0), ((20, 200), 0)]
)
def test_channels_may_be_many_where_no_image_has_them_elsewhere(shape, channels):
    ask(np.ones(shape), queries=60, features=geex.Pixels(channels=channels))


def test_settings_are_kept():
    x = np.ones((3, 10, 12))
    assert ask(x, queries=50, features=geex.Elements(channels=0)).values.shape == x.shape
    assert ask(x, queries=50, method=geex.GEEX()).values.shape == x.shape
    assert ask(x, queries=50, features=geex.Groups(np.arange(10 * 12).reshape(10, 12) // 20)).values.shape == (6,)
    assert ask(np.ones(4)).queries <= 1000


def chances(z):
    p = 1 / (1 + np.exp(-z.mean((1, 2)) * 4))
    return np.stack([p, 1 - p], axis=1)


def test_chances_are_explained_as_log_odds():
    x = np.ones((9, 9))
    found = geex.explain(chances, x, queries=80, progress=False)
    assert found.settings.score == "sure_log_odds"
    assert found.output == pytest.approx(4)
    assert found.base_value == pytest.approx(0)
    plain = geex.explain(chances, x, queries=80, progress=False, score="answer")
    assert plain.output == pytest.approx(1 / (1 + np.exp(-4)))
    logits = geex.explain(lambda z: 3 * chances(z), x, queries=80, progress=False)
    assert logits.settings.score == "answer"
    one = geex.explain(lambda z: chances(z)[:, 0], x, queries=80, progress=False)
    assert one.settings.score == "answer"


def test_few_features_are_exact():
    """Every subset is asked, each once; a dummy gets nothing, and the values add up."""
    asked = []

    def model(z):
        asked.append(z.copy())
        return model_of(glove, 6)(z)

    found = explained(model, np.ones(6), geex.Shapley(), 66)
    np.testing.assert_allclose(found.values, shapley(glove, 6), atol=1e-12)
    assert found.gap == pytest.approx(0, abs=1e-12)
    assert (found.stderr == 0).all()
    assert found.queries == 2 + 62
    assert len(np.unique(np.concatenate(asked), axis=0)) == 64
    assert found.estimand.exact
    region = found.region(np.arange(6) < 2)
    assert region.value == pytest.approx(shapley(glove, 6)[:2].sum())
    assert region.stderr == 0


@pytest.mark.parametrize("features", [2, 3, 6])
def test_as_many_queries_as_there_are_subsets_are_enough(features):
    """The second question about x, which tells whether the model is steady, is left out for it."""
    model, x = model_of(glove, features), np.ones(features)
    found = geex.explain(model, x, method=geex.Shapley(), queries=2**features, progress=False)
    np.testing.assert_allclose(found.values, shapley(glove, features), atol=1e-12)
    assert found.queries == 2**features
    assert found.estimand.exact
    assert geex.explain(model, x, method=geex.Shapley(), queries=100, progress=False).queries == 2**features + 1


def test_two_features_need_four_queries():
    with raises(BudgetError, "queries-below-least"):
        geex.explain(lambda z: z.sum(1), np.ones(2), method=geex.Shapley(), queries=3, progress=False)


def test_only_features_that_differ_are_played_with():
    x = np.zeros(40)
    x[[3, 17, 30]] = 1, 2, 3
    found = explained(lambda z: z[:, 3] * z[:, 17] + z[:, 30], x, geex.Shapley(), 100)
    assert found.queries == 2 + 6
    np.testing.assert_allclose(found.values[[3, 17, 30]], [1, 1, 3])
    assert np.count_nonzero(found.values) == 3


def test_one_feature_gets_everything_and_costs_nothing():
    found = explained(lambda z: z[:, 0] ** 2, np.array([3.0]), geex.Shapley(), 100)
    assert found.values[0] == pytest.approx(9)
    assert found.queries == 2
    row = np.zeros(30)
    row[4] = 2
    assert explained(lambda z: z.sum(1) ** 2, row, geex.Shapley(), 100, stop=geex.Precise()).queries == 2


def test_features_that_show_are_those_of_x_to_the_bit():
    """x̊ + m (x − x̊) is not x in floating point, and a category or a threshold would see that."""
    x, baseline = np.array([0.1, 1.0, 2.0]), np.array([0.7, 0.0, 0.0])
    found = explained(lambda z: (z[:, 0] == 0.1) * 1.0, x, geex.Shapley(), 50, baseline=baseline)
    np.testing.assert_allclose(found.values, [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("queries", [40, 120])
@pytest.mark.slow
def test_intervals_of_sampled_shapley_values_cover(queries):
    """At least 93% over 100 seeds and 12 features, at budgets that do not pay for every subset."""
    weights = np.random.default_rng(1).normal(size=12)

    def model(z):
        return np.tanh(z @ weights) + z[:, 0] * z[:, 1]

    true = explained(model, np.ones(12), geex.Shapley(), 5000).values
    covered = []
    for seed in range(100):
        low, high = explained(model, np.ones(12), geex.Shapley(), queries, seed=seed).interval()
        covered.append(((low <= true) & (true <= high)).mean())
    assert np.mean(covered) >= 0.93


def test_what_masks_never_saw_has_an_error():
    """f is 1 at x alone: no mask shows it, the sum says that it is there, the errors that nobody knows where."""
    found = explained(lambda z: z.prod(1), np.ones(20), geex.Shapley(), 1000)
    assert np.abs(found.values - 0.05).max() < 4 * found.stderr.max()
    assert found.values.sum() == pytest.approx(1)


@pytest.mark.parametrize("side", [20, 21, 22])
def test_linear_images_in_float32(side):
    """As many draws as pixels, a model without noise: values are the pixels, and errors are not 0."""
    x = np.random.default_rng(0).random((side, side)).astype(np.float32)
    found = geex.explain(lambda z: z.sum((1, 2)), x, progress=False)
    assert np.abs(found.values - x).max() < 0.05
    assert (found.stderr > 0).all()


def test_long_lines_need_little_memory():
    assert ask(np.ones(30_000, np.float32), queries=40).values.shape == (30_000,)
