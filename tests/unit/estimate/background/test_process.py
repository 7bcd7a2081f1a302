"""The process over pairs, beside slow twins that go through all subsets and rows."""

from itertools import combinations

import numpy as np
import pytest

import geex
from geex._estimate.background.process import (
    Pairs,
    RowProcess,
    kernel,
    mean_prior_covariance,
    value_covariance,
)
from geex._estimate.background.similarity import similarities
from geex._estimate.shapley.subset_process import Hyperparameters

THETA = np.array([0.3, 0.1, 0.2, 0.05])
ROWS = 3


@pytest.fixture
def likeness():
    rng = np.random.default_rng(0)
    return similarities(rng.normal(size=4), rng.normal(size=(ROWS, 4)), geex.Elements(), (0, 1, 2, 3)).mixed(0.5)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(1)
    return Pairs(rng.choice([-1.0, 1.0], size=(6, 4)), rng.integers(ROWS, size=6))


def odd():
    return [list(part) for size in (1, 3) for part in combinations(range(4), size)]


def covariance_of_coefficients(subset, likeness, row, other):
    return np.prod([THETA[k] * likeness[k, row, other] for k in subset])


def test_the_kernel_sums_over_odd_subsets(pairs, likeness):
    wanted = np.zeros((6, 6))
    for i, j in np.ndindex(6, 6):
        for subset in odd():
            signs = np.prod(pairs.contrasts[i, subset]) * np.prod(pairs.contrasts[j, subset])
            wanted[i, j] += signs * covariance_of_coefficients(subset, likeness, pairs.rows[i], pairs.rows[j])
    assert kernel(pairs, pairs, THETA, likeness) == pytest.approx(wanted, abs=1e-12)


def test_values_are_means_over_rows_of_shared_coefficients(pairs, likeness):
    rows, wanted = np.array([0, 2]), np.zeros((4, 6))
    for row in rows:
        for i in range(6):
            for subset in odd():
                own = covariance_of_coefficients(subset, likeness, row, pairs.rows[i])
                for k in subset:
                    wanted[k, i] += np.prod(pairs.contrasts[i, subset]) * own / len(subset) / len(rows)
    assert value_covariance(pairs, THETA, likeness, rows) == pytest.approx(wanted, abs=1e-9)


def test_the_prior_covariance_of_values_is_a_mean_over_pairs_of_rows(likeness):
    rows, wanted = np.arange(ROWS), np.zeros((4, 4))
    for row, other in np.ndindex(ROWS, ROWS):
        for subset in odd():
            own = covariance_of_coefficients(subset, likeness, row, other) / len(subset) ** 2
            wanted[np.ix_(subset, subset)] += own / ROWS**2
    assert mean_prior_covariance(THETA, likeness, rows) == pytest.approx(wanted, abs=1e-6)


def test_values_add_up_to_the_mean_of_the_wholes(pairs, likeness):
    rng = np.random.default_rng(2)
    differences, wholes = rng.normal(size=6), rng.normal(size=ROWS)
    process = RowProcess(pairs, differences, wholes, likeness, np.arange(ROWS), Hyperparameters(THETA, 1e-3, 0.0))
    assert process.values.sum() == pytest.approx(wholes.mean(), abs=1e-12)


def test_leave_one_out_residuals_are_those_of_fits_without_each_draw(likeness):
    rng = np.random.default_rng(3)
    codes = np.array([1, 2, 4, 8, 3, 5])
    pairs = Pairs(2.0 * (codes[:, None] >> np.arange(4) & 1) - 1, np.array([0, 1, 2, 0, 1, 2]))
    differences, wholes, one = rng.normal(size=6), rng.normal(size=ROWS), Hyperparameters(THETA, 0.01, 0.0)
    process = RowProcess(pairs, differences, wholes, likeness, np.arange(ROWS), one)
    for left_out in range(6):
        others = np.delete(np.arange(6), left_out)
        without = RowProcess(pairs.some(others), differences[others], wholes, likeness, np.arange(ROWS), one)
        predicted = without.predicted(pairs.some(np.array([left_out])))[0]
        assert process.residuals[left_out] == pytest.approx(differences[left_out] - predicted, rel=1e-6)


def test_similarity_is_a_covariance_that_vanishes_where_a_row_has_the_value_of_x():
    x, background = np.array([0.5, 2.0]), np.array([[0.5, 1.0], [0.1, 3.0], [0.9, 2.0], [0.7, -1.0]])
    found = similarities(x, background, geex.Elements(), (0, 1)).mixed(0.5)
    assert (np.linalg.eigvalsh(found) > -1e-12).all()
    assert not found[0, 0].any()
    assert not found[1, 2].any()
    assert np.mean(np.diagonal(found, axis1=1, axis2=2), axis=1) == pytest.approx([1, 1])


def test_similarity_of_a_group_is_the_mean_of_its_elements():
    rng = np.random.default_rng(4)
    x, background = rng.normal(size=3), rng.normal(size=(5, 3))
    alone = similarities(x, background, geex.Elements(), (0, 1, 2)).mixed(0.5)
    grouped = similarities(x, background, geex.Groups([0, 0, 1]), (0, 1)).mixed(0.5)
    assert grouped[0] == pytest.approx((alone[0] + alone[1]) / 2)
    assert grouped[1] == pytest.approx(alone[2])
