"""The axioms that the paper proves, as tests. Statistical ones are in units of standard error, at a fixed seed."""

import numpy as np
import pytest

import geex
from geex.methods import Interpolated
from tests import naive
from tests.helpers import explained

RNG = np.random.default_rng(11)
X = RNG.normal(size=8)
A, B = RNG.normal(size=(2, 8))
METHODS = [
    geex.GEEX(0.5),
    geex.GEEX(0.5, mirror=False),
    geex.GEEX(0.5, coupling="orthogonal"),
    geex.GEEX(0.5, family=geex.Laplace()),
    Interpolated(0.5, steps=5),
]
methods = pytest.mark.parametrize("method", METHODS, ids=str)


def f1(z):
    return np.tanh(z @ A)


def f2(z):
    return np.sin(z @ B) + z[:, 0] ** 2


@methods
def test_linearity_is_exact_at_a_fixed_seed(method):
    both = explained(lambda z: 3 * f1(z) - 2 * f2(z), X, method).values
    apart = 3 * explained(f1, X, method).values - 2 * explained(f2, X, method).values
    np.testing.assert_allclose(both, apart, rtol=1e-9, atol=1e-12)


@methods
def test_implementation_invariance_to_the_byte(method):
    one = explained(lambda z: 2 * f1(z), X, method)
    other = explained(lambda z: f1(z) + f1(z), X, method)
    assert one.values.tobytes() == other.values.tobytes()
    assert one.stderr.tobytes() == other.stderr.tobytes()


@methods
def test_missingness_is_exactly_zero(method):
    baseline = X.copy()
    baseline[[1, 5]] += 1.0
    explanation = explained(f2, X, method, baseline=baseline)
    absent = [0, 2, 3, 4, 6, 7]
    assert (explanation.values[absent] == 0).all()
    assert (explanation.stderr[absent] == 0).all()
    assert (explanation.values[[1, 5]] != 0).all()


@methods
def test_sensitivity(method):
    """x and x̊ differ in one feature, and the model tells them apart: z > 5."""
    baseline = X.copy()
    baseline[3] -= 2.0
    explanation = explained(lambda z: naive.sigmoid(2 * z[:, 3]) + 0.1 * z[:, 1], X, method, 4002, baseline=baseline)
    assert abs(explanation.values[3]) > 5 * explanation.stderr[3]


@methods
def test_insensitivity(method):
    """Features that the model does not look at are zero within their error: z < 4 for four of them."""
    explanation = explained(lambda z: f2(z * (np.arange(8) < 4)), X, method, 4002)
    assert np.abs(explanation.values[4:] / explanation.stderr[4:]).max() < 4


def test_completeness_of_the_blurred_model():
    """Σξ → J(x) − J(x̊): the gap is the blur within gap_stderr (z < 4), and more than the noise alone."""
    sigma = 1.5
    spread = sigma * np.linalg.norm(A)
    difference = naive.sigmoid(X @ A) - 0.5
    blurred = naive.blurred(naive.sigmoid, X @ A, spread) - 0.5
    explanation = explained(lambda z: naive.sigmoid(z @ A), X, geex.GEEX(sigma), 200002)
    assert abs(explanation.gap - (difference - blurred)) < 4 * explanation.gap_stderr
    assert abs(explanation.gap) > 6 * explanation.gap_stderr
    assert explanation.output - explanation.base_value - explanation.values.sum() == pytest.approx(explanation.gap)


def test_the_blur_vanishes_with_sigma():
    explanation = explained(lambda z: naive.sigmoid(z @ A), X, geex.GEEX(0.05), 200002)
    assert abs(explanation.gap) < 4 * explanation.gap_stderr
    assert explanation.gap_stderr < 0.01


def test_still_leaves_what_does_not_differ_unperturbed():
    baseline = X.copy()
    baseline[:4] = 0.0

    def model(z):
        assert (z[:, 4:] == X[4:]).all()
        return f1(z)

    explanation = explained(model, X, geex.GEEX(0.5, still=True), baseline=baseline)
    assert (explanation.values[4:] == 0).all()
