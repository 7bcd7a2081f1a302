"""Errors of regression where they are hard to get: few features of many that matter, photos, smooth models, float32."""

from itertools import pairwise

import numpy as np
import pytest

import geex
from geex._estimate.linear.design import Design
from tests.helpers import explained


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def six(z):
    """Six features of many decide."""
    return sigmoid(2 * (z[:, :6].sum(1) - 3))


def within(count, of, level=0.95):
    """Whether `count` of `of` independent intervals is what the level says (z = 4)."""
    return abs(count / of - level) < 4 * np.sqrt(level * (1 - level) / of)


@pytest.mark.slow
def test_shapley_intervals_where_few_features_of_many_matter():
    true, runs = (sigmoid(6) - sigmoid(-6)) / 6, 60
    singly = together = 0
    for seed in range(runs):
        found = explained(six, np.ones(60), geex.Shapley(), 500, seed=seed)
        assert found.gap == pytest.approx(0, abs=1e-9)
        low, high = found.interval()
        singly += int(((low <= true) & (true <= high))[0])
        region = found.region(np.arange(60) < 6)
        together += region.low <= 6 * true <= region.high
        assert region.centre == pytest.approx((region.low + region.high) / 2)
    assert within(singly, runs)
    assert within(together, runs)


@pytest.mark.parametrize(("count", "queries"), [(4, 14), (6, 18)])
def test_intervals_of_few_features_whose_masks_repeat(count, queries, monkeypatch):
    """Draws that repeat others leave nothing over: looking at λ again makes no interval narrow that should not be."""
    weights, x = np.random.default_rng(0).normal(size=(count, 8)), np.random.default_rng(count).normal(size=count)

    def model(z):
        return np.tanh(z @ weights).sum(1)

    masks = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    true = (2 * masks - 1).T @ model(masks * x) / 2 ** (count - 1)

    def covered():
        found = [explained(model, x, geex.Regression(), queries, seed=seed).interval() for seed in range(150)]
        return np.mean([(low <= true) & (true <= high) for low, high in found])

    again = covered()
    monkeypatch.setattr("geex._estimate.linear.noise_refit.REFIT_STEPS", 0)
    assert again > covered() - 0.02


@pytest.mark.parametrize(("queries", "seed"), [(26, 39), (26, 0), (40, 110)])
def test_values_add_up_where_draws_are_hardly_more_than_features(queries, seed):
    x = np.random.default_rng(10).normal(size=10) + 1.5
    found = explained(lambda z: z.prod(1) + z[:, 0], x, geex.Shapley(), queries, seed=seed)
    assert abs(found.gap) < 1e-6
    assert found.centre.sum() == pytest.approx(found.output - found.base_value, abs=1e-4)
    assert np.abs(found.centre).max() < 1e4
    assert np.abs(found.values).max() < 1e4


def test_an_exact_part_does_not_make_errors_certain():
    """Shapley values against a baseline that differs in one feature are exact; those against the other are not."""
    x, weights = np.random.default_rng(4).normal(size=9), np.random.default_rng(1).normal(size=9)
    near = x.copy()
    near[0] += 1
    settings = {"method": geex.Shapley(), "queries": 100, "progress": False}

    def model(z):
        return np.tanh(z @ weights)

    both = geex.explain(model, x, baseline=[np.zeros(9), near], **settings)
    assert np.isfinite(both.freedom)
    assert geex.explain(model, x, baseline=near, **settings).freedom == np.inf


@pytest.mark.slow
def test_intervals_of_pixels_on_knots():
    """More than 112² pixels are carried by knots, and the model has a value for every pixel of its own."""
    shape = (120, 110)
    slope = np.zeros(shape)
    slope[40:60, 30:60] = np.random.default_rng(0).normal(1, 1, (20, 30)) / 600
    box, runs, pixels = slope != 0, 8, []
    together = 0
    for seed in range(runs):
        found = explained(lambda z: (z * slope).sum((1, 2)), np.ones(shape), geex.Regression(), 300, seed=seed)
        low, high = found.interval()
        pixels.append(((low <= slope) & (slope <= high))[box].mean())
        region = found.region(box)
        together += region.low <= slope.sum() <= region.high
    assert 0.92 < np.mean(pixels) < 0.98
    assert within(together, runs)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("method", [geex.Regression(), geex.Shapley()], ids=lambda method: type(method).__name__)
def test_linear_models_of_many_features_are_recovered(method, kind):
    """More features than draws that the prior is chosen by, and little more than twice as many draws as features."""
    rng = np.random.default_rng(1)
    slope, x = rng.normal(size=300), rng.normal(size=300).astype(kind)
    found = explained(lambda z: z.astype(float) @ slope, x, method, 1300)
    np.testing.assert_allclose(found.values, slope * x, atol=1e-6 * np.abs(slope * x).max())
    assert found.stderr.max() < 1e-6


@pytest.mark.parametrize(("shape", "queries", "seed"), [((490,), 1000, 0), ((8, 8), 133, 10), ((10, 10), 207, 3)])
def test_errors_of_float32_are_those_of_float64(shape, queries, seed):
    """About as many draws as features: the fit all but goes through them."""
    rng = np.random.default_rng(seed)
    x, slope = rng.random(shape) + 0.1, rng.normal(size=shape)

    def model(z):
        flat = z.reshape(len(z), -1).astype(float)
        return np.tanh(flat @ slope.ravel() / 5) + 0.3 * flat[:, 0] * flat[:, 1]

    wide, narrow = (
        geex.explain(model, x.astype(kind), queries=queries, seed=seed, progress=False)
        for kind in (np.float64, np.float32)
    )
    assert narrow.stderr.max() < 3 * wide.stderr.max()
    assert narrow.gap_stderr < 3 * wide.gap_stderr + 1e-7  # the rounding of float32


@pytest.mark.slow
def test_values_of_wide_tables_do_not_hang_on_the_seed():
    """As many draws as features: a noise that was chosen on a quarter of them would now and then be far too small."""
    rng = np.random.default_rng(0)
    x, slope = rng.random(490) + 0.1, rng.normal(size=490) / 5
    found = [explained(lambda z: np.tanh(z @ slope), x, geex.Shapley(), 1000, seed=seed) for seed in range(6)]
    spread = np.std([one.values for one in found], axis=0, ddof=1).mean()
    assert spread < 1.5 * np.mean([one.stderr.mean() for one in found])
    assert max(one.stderr.mean() for one in found) < 2 * min(one.stderr.mean() for one in found)


@pytest.mark.parametrize("method", [geex.Shapley(), geex.Regression(geex.GEEX())], ids=str)
def test_the_error_of_a_small_output_beside_a_large_one(method):
    slope = np.linspace(-1, 1, 12)

    def model(z):
        answers = np.tanh(z.astype(float) @ slope + z[:, 0] * z[:, 1])
        return np.stack([answers, 1e-26 * answers], axis=1)

    found = explained(model, np.ones(12, np.float32), method, 203, target="all")
    np.testing.assert_allclose(found.stderr[1], 1e-26 * found.stderr[0], rtol=1e-3)


@pytest.mark.slow
def test_a_fit_that_goes_through_all_draws_has_errors_that_can_be_used():
    """A smooth model with hardly any noise: what is left over is little, not of one degree of freedom."""
    x = np.clip(np.random.default_rng(3).normal(0.6, 0.25, (28, 28)), 0, 1)
    part = np.zeros((28, 28), bool)
    part[10:16, 14:22] = True

    def model(z):
        chance = sigmoid(20 * (z[:, part].mean(1) - 0.35))
        return np.stack([1 - chance, chance], axis=1)

    widths = []
    for queries in (100, 200, 300, 1000, 1500):
        found = geex.explain(model, x, queries=queries, progress=False)
        assert found.freedom > 5
        region = found.region(part)
        widths.append(region.high - region.low)
    assert all(later < 2 * earlier for earlier, later in pairwise(widths))
    assert widths[-1] < widths[0] / 4


def test_features_that_no_draw_tells_apart_have_no_error_of_zero():
    """An exact fit to six draws in which two of four features always show together: which of them it is is open."""
    slope = np.array([1.0, 2, 3, 4])
    found = explained(lambda z: z @ slope, np.ones(4), geex.Regression(), 15, seed=2)
    assert np.abs(found.values - slope).max() > 1
    low, high = found.interval(0.95)
    assert ((low < slope) & (slope < high)).all()
    told = explained(lambda z: z @ slope, np.ones(4), geex.Regression(), 203, seed=2)
    assert told.stderr.max() < 1e-6


@pytest.mark.parametrize(("draws", "kind"), [(11, np.float64), (200, np.float32)])
def test_what_counts_of_a_draw_in_its_own_fit_is_no_rounding(draws, kind):
    """Hardly more draws than features: what is left of 1 is divided by."""
    contrasts = np.random.default_rng(0).choice([-1, 1], (draws, 10)).astype(np.float32)
    design = Design(contrasts, np.linspace(0.5, 2, 10))
    spread = np.linalg.inv(design.gram() + 1e-6 * np.eye(10))
    found, exact = design.explained_by_many(spread), design.explained(spread)
    assert found.dtype == kind
    np.testing.assert_allclose(1 - design.used(found), 1 - design.used(exact), rtol=1e-5)
