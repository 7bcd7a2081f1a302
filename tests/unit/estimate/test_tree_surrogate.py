"""Trees over subsets: their values are those of all subsets, and their errors those of draws that were left out."""

import numpy as np
import pytest

import geex
from geex._estimate.shapley.tree_surrogate import BOOSTED, FOLDS, SINGLE, Growth, SubsetAnswers, fit_trees, leaf_values
from tests.games import shapley
from tests.helpers import explained
from tests.unit.estimate.test_subset_process import masks_of, network


def given(model, q, draws):
    masks = masks_of(q, draws)
    none, full = model(np.zeros((1, q)))[0], model(np.ones((1, q)))[0]
    return SubsetAnswers(2.0 * masks - 1, model(masks) - none, model(~masks) - none, full - none, np.ones(draws))


def conjunction(players):
    return lambda z: np.all(np.asarray(z)[:, players] > 0.5, axis=1) * 1.0


def naive_tree(paths, values, q):
    """The game of one tree, followed from its root, with the values of all subsets."""

    def game(subset):
        place = 0
        for players in paths:
            place = 2 * place + (players[place] in subset)
        return values[place]

    return shapley(game, q)


def test_values_of_leaves_are_those_of_all_subsets():
    """Players come again on some paths, and some nodes are not split (player q)."""
    q, depth, rng = 5, 4, np.random.default_rng(0)
    paths = [rng.integers(0, q + 1, (3, 2**level)) for level in range(depth)]
    values = rng.normal(size=(3, 2**depth))
    exact = sum(naive_tree([own[tree] for own in paths], values[tree], q) for tree in range(3))
    np.testing.assert_allclose(leaf_values(paths, values, q), exact, atol=1e-12)


@pytest.mark.parametrize("growth", [SINGLE, BOOSTED, Growth(2, 3, 0.5, 1.0)])
def test_a_prediction_does_not_use_its_own_fold(growth):
    """Other answers in a fold change the predictions of all others, and none of its own."""
    model = network(8)
    first = given(model, 8, 60)
    fold = np.arange(60) % FOLDS
    other = SubsetAnswers(
        first.contrasts, first.shown + 3 * (fold == 2), first.hidden - (fold == 2), first.whole, first.shares
    )
    growth = Growth(growth.depth, 2, growth.rate, growth.shrunk)
    one, two = fit_trees(first, growth, np.inf), fit_trees(other, growth, np.inf)
    if one.values.any() and two.values.any():
        same = np.isclose(one.predicted, two.predicted, atol=1e-12)
        assert same[fold == 2].all()
        assert not same[fold != 2].all()


def test_an_and_is_found_exactly():
    model = conjunction([1, 4, 7])
    found = fit_trees(given(model, 12, 120), SINGLE, np.inf)
    assert found.error < 1e-20
    np.testing.assert_allclose(found.values, np.isin(np.arange(12), [1, 4, 7]) / 3, atol=1e-9)


def test_draws_that_no_tree_is_grown_from_are_predicted(monkeypatch):
    monkeypatch.setattr("geex._estimate.shapley.tree_surrogate.GROWN", 100)
    answers = given(conjunction([0, 3]), 10, 300)
    found = fit_trees(answers, SINGLE, np.inf)
    np.testing.assert_allclose(found.predicted, answers.shown - answers.hidden, atol=1e-9)


def test_a_constant_game_has_no_tree():
    found = fit_trees(given(lambda z: np.full(len(z), 3.0), 6, 30), BOOSTED, np.inf)
    assert found.error == 0
    assert not found.values.any()


def test_a_step_beside_a_sum_is_estimated_better_with_trees():
    """Three columns together, four columns together, and a small sum of all: the process alone is off by 1e-3."""
    slope = np.linspace(-0.02, 0.02, 20)
    steps = conjunction([0, 5, 9]), conjunction([2, 5, 11, 17])

    def model(z):
        return steps[0](z) + steps[1](z) + z @ slope

    exact = slope + np.isin(np.arange(20), [0, 5, 9]) / 3 + np.isin(np.arange(20), [2, 5, 11, 17]) / 4
    found = explained(model, np.ones(20), geex.Shapley(), 400)
    low, high = found.interval()
    assert np.sum((found.values - exact) ** 2) < 1e-4 * np.sum(exact**2)
    assert np.mean((low <= exact) & (exact <= high)) >= 0.9
