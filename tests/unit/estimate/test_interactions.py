"""Interactions of pairs, beside slow twins that go through all subsets."""

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest

from geex._estimate.shapley.even_process import PairProcess, even_kernel
from geex._estimate.shapley.interactions import _steps, _unasked, estimate_pairs, prior_variance
from tests.unit.estimate.test_subset_process import masks_of, network, signs

THETA = np.array([0.3, 0.1, 0.5, 0.05, 0.2])


def naive_pairs(model, q):
    """The definition: second differences over all subsets of the other players."""
    found = np.zeros((q, q))

    def f(subset):
        return float(model(np.isin(np.arange(q), list(subset))[None].astype(float))[0])

    for j, k in combinations(range(q), 2):
        others = [player for player in range(q) if player not in (j, k)]
        for size in range(q - 1):
            share = factorial(size) * factorial(q - size - 2) / factorial(q - 1)
            for s in combinations(others, size):
                found[j, k] += share * (f([*s, j, k]) - f([*s, j]) - f([*s, k]) + f(s))
    return found + found.T


def queried(model, q, draws, seed=0):
    masks = masks_of(q, draws, seed) * 1.0
    ends = model(np.ones((1, q)))[0] + model(np.zeros((1, q)))[0]
    return 2 * masks - 1, model(masks) + model(1 - masks), float(ends)


def test_covariances_are_those_of_all_even_subsets():
    q, rows = 5, np.array(list(product((-1.0, 1.0), repeat=5)))
    subsets = [list(part) for size in (0, 2, 4) for part in combinations(range(q), size)]
    spread = np.array([np.prod(THETA[subset]) for subset in subsets])
    waves = np.stack([signs(rows, subset) for subset in subsets])
    np.testing.assert_allclose(even_kernel(rows, rows, THETA), (waves.T * spread) @ waves, atol=1e-12)
    process = PairProcess(rows, np.zeros(len(rows)), THETA, 0.1)
    for j, k in combinations(range(q), 2):
        shares = np.array([2 / (len(subset) - 1) if {j, k} <= set(subset) else 0 for subset in subsets])
        np.testing.assert_allclose(process.covariance(j)[:, k], (shares * spread) @ waves, atol=1e-12)
        np.testing.assert_allclose(prior_variance(THETA)[j, k], shares**2 @ spread, rtol=1e-6)


def test_the_fit_is_the_posterior_mean_and_what_it_leaves_out_is_left_out():
    contrasts, sums, _ = queried(network(5), 5, 9)
    process = PairProcess(contrasts, sums, THETA, 0.2)
    fewer = PairProcess(contrasts[1:], sums[1:], THETA, 0.2)
    assert process.residuals[0] == pytest.approx(sums[0] - fewer.predicted(contrasts[:1])[0])
    for j in range(5):
        slopes = process.slopes(process.covariance(j))
        np.testing.assert_allclose(process.values[j], np.where(np.arange(5) == j, 0, sums @ slopes), atol=1e-9)
        off = np.arange(5) != j
        np.testing.assert_allclose(
            (process.values[j] - slopes[0] * process.residuals[0])[off], fewer.values[j][off], atol=1e-9
        )


@pytest.mark.parametrize("q", [2, 3, 6, 7])
def test_all_subsets_give_exact_interactions(q):
    model = network(q)
    contrasts, sums, ends = queried(model, q, 2 ** (q - 1) - 1)
    found = estimate_pairs(contrasts, sums, ends)
    np.testing.assert_allclose(found.values, naive_pairs(model, q), atol=1e-9)
    assert not found.stderr.any()


@pytest.mark.parametrize("q", [5, 6])
def test_weights_of_draws_are_those_of_the_definition(q):
    """With all subsets, Σ b a is the interaction less the part of the two ends."""
    model = network(q)
    contrasts, sums, ends = queried(model, q, 2 ** (q - 1) - 1)
    assert not _unasked(contrasts).any()
    found = np.stack([sums @ _steps(contrasts).of(player) for player in range(q)]) + ends / (q - 1)
    off = ~np.eye(q, dtype=bool)
    np.testing.assert_allclose(found[off], naive_pairs(model, q)[off], atol=1e-9)


def test_a_sum_of_products_is_found_from_few_queries():
    q = 16
    found = estimate_pairs(*queried(lambda z: 3 * z[:, 0] * z[:, 5] - z[:, 2] * z[:, 7] + z.sum(1), q, 150))
    exact = np.zeros((q, q))
    exact[0, 5] = exact[5, 0] = 3
    exact[2, 7] = exact[7, 2] = -1
    np.testing.assert_allclose(found.values, exact, atol=1e-3)


def test_a_sum_has_no_interactions():
    found = estimate_pairs(*queried(lambda z: z @ np.arange(8.0), 8, 60))
    np.testing.assert_allclose(found.values, 0, atol=1e-9)


@pytest.mark.parametrize("draws", [60, 150])
@pytest.mark.slow
def test_intervals_cover_what_they_promise(draws):
    from scipy.special import stdtrit

    q, held = 9, []
    for seed in range(16):
        model = network(q, seed)
        found = estimate_pairs(*queried(model, q, draws, seed))
        within = np.abs(found.centre - naive_pairs(model, q)) <= stdtrit(found.freedom, 0.975) * found.stderr
        held.append(within[~np.eye(q, dtype=bool)].mean())
    assert np.mean(held) > 0.93


@pytest.mark.slow
def test_draws_that_are_not_fitted_correct_the_fit(monkeypatch):
    model, q = network(10), 10
    exact = naive_pairs(model, q)
    monkeypatch.setattr("geex._estimate.shapley.interactions.FITTED_SUMS", 80)
    found = estimate_pairs(*queried(model, q, 400))
    assert np.mean(np.abs(found.values - exact) <= 3 * found.stderr + np.eye(q)) > 0.97
