"""Trees are chosen for steps, and never for what the process fits."""

import numpy as np
import pytest

import geex
from geex._estimate.shapley.subset_process import select_hyperparameters
from geex._estimate.shapley.surrogate_selection import select_fit
from tests.helpers import explained
from tests.unit.estimate.test_subset_process import network
from tests.unit.estimate.test_tree_surrogate import conjunction, given


def fit(model, q, draws):
    answers = given(model, q, draws)
    plain = select_hyperparameters(
        answers.contrasts, (answers.shown - answers.hidden)[:, None], np.array([answers.whole])
    )[0]
    return select_fit(answers, plain)


@pytest.mark.parametrize("draws", [30, 100])
def test_a_network_has_no_trees(draws):
    assert fit(network(12), 12, draws).trees is None


def test_an_and_has_trees():
    found = fit(conjunction([1, 4, 7, 9]), 20, 200)
    np.testing.assert_allclose(found.values(20), np.isin(np.arange(20), [1, 4, 7, 9]) / 4, atol=1e-9)


def test_few_draws_have_no_trees():
    assert fit(conjunction([1, 4]), 12, 15).trees is None


def test_a_constant_game_is_fitted():
    assert not fit(lambda z: np.zeros(len(z)), 8, 40).values(8).any()


def test_a_fit_is_selected_once_for_values_errors_and_regions(monkeypatch):
    """Values, errors and sums over regions come from estimates of their own, which shared nothing."""
    calls = []

    def counted(*arguments):
        calls.append(1)
        return select_hyperparameters(*arguments)

    monkeypatch.setattr("geex._estimate.shapley.subset_process_errors.select_hyperparameters", counted)
    found = explained(network(10), np.ones(10), geex.Shapley(), 100, limits=geex.Limits())
    assert found.stderr.all()
    assert len(calls) == 1
