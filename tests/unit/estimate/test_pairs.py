"""Interactions of an explanation: names, intervals, errors."""

import numpy as np
import pytest

import geex
from geex._estimate.shapley.pairs import Interactions
from tests.helpers import explained
from tests.unit.estimate.test_interactions import naive_pairs
from tests.unit.estimate.test_subset_process import network


def test_interactions_are_exact_when_all_subsets_were_queried():
    found = explained(network(6), np.ones(6), geex.Shapley(), 64).interactions()
    np.testing.assert_allclose(found.values, naive_pairs(network(6), 6), atol=1e-9)
    np.testing.assert_allclose(found.stderr, 0, atol=1e-9)
    assert (found.index, found.order) == ("k-SII", 2)


def test_features_like_the_baseline_have_none():
    found = explained(lambda z: z[:, 0] * z[:, 2] * 1.0, np.array([2.0, 0, 3, 0]), geex.Shapley(), 50).interactions()
    exact = np.zeros((4, 4))
    exact[0, 2] = exact[2, 0] = 6
    np.testing.assert_allclose(found.values, exact, atol=1e-9)


def test_the_strongest_pair_has_the_names_of_its_features():
    columns = ["age", "bmi", "sugar", *(f"other {number}" for number in range(12))]
    run = explained(lambda z: 2 * z[:, 0] * z[:, 2] + z.sum(1), np.ones(15), geex.Shapley(), 200)
    found = run.named(names=columns).interactions()
    first = found.strongest(1)[0]
    assert (first.first, first.second) == ("age", "sugar")
    assert first.low <= 2 + 1e-6
    assert first.high >= 2 - 1e-6
    assert "age × sugar" in repr(found)


def test_several_targets_have_one_each():
    found = explained(
        lambda z: np.stack([z[:, 0] * z[:, 1], z[:, 1] * z[:, 2]], axis=1), np.ones(3), geex.Shapley(), 20, target="all"
    ).interactions()
    assert [round(float(one.values[1, 0]), 9) for one in found] == [1, 0]


def test_baselines_are_averaged():
    def model(z):
        return z[:, 0] * z[:, 1]

    baselines = [np.zeros(2), np.array([0.5, 0.0])]
    found = explained(model, np.ones(2), geex.Shapley(), 20, baseline=baselines).interactions()
    assert found.values[0, 1] == pytest.approx((1 + 0.5) / 2)


def test_noise_of_the_model_is_in_the_errors():
    rng = np.random.default_rng(0)
    with pytest.warns(geex.errors.UnsteadyModel):
        found = geex.explain(
            lambda z: z.sum(1) + 0.5 * rng.normal(size=len(z)), np.ones(8), method=geex.Shapley(), queries=200,
            progress=False,
        ).interactions()  # fmt: skip
    assert found.stderr[0, 1] > 0.02


@pytest.mark.parametrize("method", [geex.Regression(), geex.Presence()])
def test_other_methods_have_none(method):
    with pytest.raises(geex.errors.MethodError) as caught:
        explained(network(5), np.ones(5), method, 100).interactions()
    assert caught.value.code == "no-interactions"


def test_a_loaded_explanation_has_none(tmp_path):
    path = explained(network(5), np.ones(5), geex.Shapley(), 20).save(tmp_path / "run.npz")
    with pytest.raises(geex.errors.MethodError) as caught:
        geex.Explanation.load(path).interactions()
    assert caught.value.code == "no-answers"


def test_intervals_are_around_the_centre():
    found = Interactions(np.zeros((2, 2)), np.full((2, 2), 3.0), np.ones((2, 2)), np.inf)
    low, high = found.interval(0.95)
    assert low[0, 1] == pytest.approx(3 - 1.96, abs=1e-3)
    assert high[0, 1] == pytest.approx(3 + 1.96, abs=1e-3)
