"""Presence masks: exact values of small games, smooth fields, and what the values are called."""

import numpy as np
import pytest

import geex
from geex.errors import MethodError
from tests.games import banzhaf, glove, model_of, shapley
from tests.helpers import assert_within, explained, plan_of, raises

MODEL = model_of(glove, 6)
ONES = np.ones(6)


def test_spread_masks_give_shapley_values():
    """z < 4, the dummy included; and the sum is f(x) − f(x̊) within its error."""
    explanation = explained(MODEL, ONES, geex.Presence(), 40002)
    assert_within(explanation.values, explanation.stderr, shapley(glove, 6))
    assert abs(explanation.gap) < 4 * explanation.gap_stderr
    assert explanation.estimand.quantity is geex.Quantity.SHAPLEY


def test_even_masks_give_banzhaf_values():
    explanation = explained(MODEL, ONES, geex.Presence(alpha=0.5), 40002)
    assert_within(explanation.values, explanation.stderr, banzhaf(glove, 6))
    assert explanation.estimand.quantity is geex.Quantity.BANZHAF


@pytest.mark.parametrize("alpha", [None, 0.5, 0.2])
def test_the_scale_is_that_of_a_linear_model(alpha):
    slope, x, base = np.array([1.0, -2.0, 0.5]), np.array([2.0, 1.0, -1.0]), np.array([0.5, -1.0, 0.0])
    explanation = explained(lambda z: z @ slope, x, geex.Presence(alpha), 20002, baseline=base)
    assert_within(explanation.values, explanation.stderr, slope * (x - base))


def test_missingness_is_exact():
    x = np.array([1.0, 0.0, 2.0])
    explanation = explained(lambda z: z.sum(1) ** 2, x, geex.Presence(0.5), 202)
    assert explanation.values[1] == explanation.stderr[1] == 0


@pytest.mark.parametrize("features", [geex.Pixels(channels=0), geex.Groups(np.array([[0, 0, 1, 2]] * 3))], ids=str)
def test_features_come_and_go_whole(features):
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    plan, _ = plan_of(x, geex.Presence(), 202, features=features)
    shown = plan.chunk(0).queries() == x
    index = features.index(x.shape)
    for feature in range(index.max() + 1):
        of_feature = shown[:, index == feature]
        assert (of_feature == of_feature[:, :1]).all()
    pairs = shown.reshape(-1, 2, *x.shape)
    assert (pairs[:, 0] != pairs[:, 1]).all()


def test_smooth_fields_have_deviation_one_everywhere_and_the_stated_width():
    """Variance within z < 4.5 at every place, corners included; correlation exp(−Δ²/2w²) within 0.05."""
    from geex._arrays.random_stream import Stream
    from geex._plan.presence_masks import smooth_fields

    fields = smooth_fields(Stream(0, (9,), np.zeros(1)), (12, 15), (0, 1), np.full(4000, 2.0))
    assert np.abs((fields.var(axis=0) - 1) / np.sqrt(2 / 4000)).max() < 4.5
    for distance in (1, 2, 4):
        correlation = np.mean(fields[:, :, :-distance] * fields[:, :, distance:])
        assert correlation == pytest.approx(np.exp(-(distance**2) / 8), abs=0.05)


def test_smooth_masks_show_the_share_alpha_and_take_turns():
    x = np.ones((1, 20, 20))
    plan, _ = plan_of(x, geex.Presence(alpha=0.3, widths=(1.0, 4.0)), 4002, features=geex.Pixels(channels=0))
    masks = np.concatenate([plan.chunk(i).draws.noise for i in range(4)])
    assert masks.mean() == pytest.approx(0.3, abs=0.02)
    edges = np.abs(np.diff(masks.reshape(-1, 20, 20), axis=2)).mean((1, 2))
    fine = np.arange(len(masks)) // 2 % 2 == 0
    assert edges[fine].mean() > 2 * edges[~fine].mean()
    assert plan.chunk(1).queries().tobytes() == plan.chunk(1).queries().tobytes()


@pytest.mark.parametrize(
    "settings", [{"alpha": 0}, {"alpha": 1.0}, {"alpha": "half"}, {"widths": -1}, {"widths": ("a",)}]
)
def test_settings(settings):
    with pytest.raises(MethodError):
        geex.Presence(**settings)


def test_smooth_masks_want_neighbours():
    with raises(MethodError, "features-without-neighbours"):
        explained(lambda z: z.sum(1), np.ones(5), geex.Presence(widths=2.0), 20)
    explained(lambda z: z.sum(1), np.ones(5), geex.Presence(widths=2.0), 20, features=geex.Elements(line=True))


def test_single_precision_is_finite_whatever_the_seed():
    for seed in range(60):
        explanation = explained(lambda z: z.sum(1), np.ones(4, np.float32), geex.Presence(), 5000, seed=seed)
        assert np.isfinite(explanation.values).all()
        assert np.abs((explanation.values - 1) / explanation.stderr).max() < 5


@pytest.mark.parametrize("alpha", [1e-50, 1e-9, 1 - 1e-8])
def test_shares_that_the_type_of_x_cannot_hold_are_refused(alpha):
    def never(z):
        raise AssertionError("nothing is asked")

    with raises(MethodError, "alpha-below-resolution"):
        explained(never, np.ones(6, np.float32), geex.Presence(alpha), 40)
    for near in (2.0**-22, 1 - 2.0**-22):
        assert np.isfinite(explained(MODEL, np.ones(6, np.float32), geex.Presence(near), 40).values).all()
    assert np.isfinite(explained(MODEL, ONES, geex.Presence(1 - 1e-8), 40).values).all()
