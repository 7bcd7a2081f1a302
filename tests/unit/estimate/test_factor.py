"""Cholesky factors with a last row that has no noise."""

import numpy as np

from geex._estimate.shapley.factor import factored


def test_the_factor_is_that_of_the_system_with_noise():
    rows = np.random.default_rng(0).normal(size=(6, 9))
    lower = np.tril(factored(rows @ rows.T, 0.5)[0])
    np.testing.assert_allclose(lower @ lower.T, rows @ rows.T + np.diag([0.5] * 5 + [0.0]), atol=1e-9)


def test_a_singular_system_has_a_factor():
    lower = np.tril(factored(np.ones((5, 5)), 0.0)[0])
    np.testing.assert_allclose(lower @ lower.T, np.ones((5, 5)), atol=1e-5)
