"""Games of the number of players that show, beside sums over all subsets."""

from itertools import product

import numpy as np
import pytest

import geex
from geex._estimate.shapley.size_component import size_kernel, size_value_covariance
from geex._estimate.shapley.subset_process import Hyperparameters, SubsetProcess, select_hyperparameters
from tests.games import shapley
from tests.helpers import explained
from tests.unit.estimate.test_subset_process import masks_of, network


@pytest.mark.parametrize("q", [4, 5])
def test_covariances_are_those_of_functions_of_the_number_of_players(q):
    """Of odd steps at every size, of which the kernel is a sum, the values are those of all subsets."""
    rows = np.array(list(product((-1.0, 1.0), repeat=q)))
    found = size_kernel(rows, rows)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    np.testing.assert_array_equal(found, -size_kernel(rows, -rows))
    for place, row in enumerate(rows):
        game = {tuple(other): value / 2 for other, value in zip(rows, found[place], strict=True)}
        exact = shapley(lambda s, game=game: game[tuple(2.0 * np.isin(np.arange(q), list(s)) - 1)], q)
        np.testing.assert_allclose(exact, np.full(q, size_value_covariance(row[None])[0, 0]), atol=1e-12)


def test_the_posterior_with_a_part_by_size_adds_up():
    contrasts, rng = 2.0 * masks_of(5, 9) - 1, np.random.default_rng(0)
    both = Hyperparameters(np.full(5, 0.2), 0.2, 0.0, 0.7, 1.0)
    process = SubsetProcess(contrasts, rng.normal(size=9), 1.3, both)
    system = both.kernel(process._rows, process._rows) + np.diag([0.2] * 9 + [0.0])
    solved = np.linalg.solve(system, process._answers)
    np.testing.assert_allclose(process.values, both.value_covariance(process._rows) @ solved, atol=1e-9)
    assert process.values.sum() == pytest.approx(1.3)
    np.testing.assert_allclose(process.covariance.sum(axis=1), 0, atol=1e-7)


def test_the_values_of_a_vote_are_exact_from_few_queries():
    """Without the part by size, the squared error was more than the squared values."""
    q = 21
    found = explained(lambda z: (z.sum(axis=1) > q / 2) * 1.0, np.ones(q), geex.Shapley(), 100)
    np.testing.assert_allclose(found.values, np.full(q, 1 / q), atol=1e-9)


def test_a_game_that_is_no_vote_has_no_part_by_size():
    model = network(12)
    masks = masks_of(12, 100)
    differences = model(masks) - model(~masks)
    whole = model(np.ones((1, 12))) - model(np.zeros((1, 12)))
    assert select_hyperparameters(2.0 * masks - 1, differences[:, None], whole)[0].by_size == 0
