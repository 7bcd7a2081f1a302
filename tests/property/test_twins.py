"""Every estimator against its slow twin, on the same draws: equal to rounding."""

import numpy as np
import pytest

import geex
from geex._arrays.arrays import largest
from geex._arrays.gaussian_filter import Kernel, room, smooth
from geex._arrays.random_stream import Stream
from geex.methods import GE, Interpolated
from tests import naive
from tests.helpers import explained, plan_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(2, 3))
MIX = RNG.normal(size=(6, 6))


def model(z):
    flat = z.reshape(len(z), 6)
    return np.tanh(np.einsum("ni,ij,nj->n", flat, MIX, flat) / 6)


@pytest.mark.parametrize("family", ["Gaussian", "Laplace", "Logistic"])
@pytest.mark.parametrize("mirror", [True, False])
def test_geex(family, mirror):
    method = geex.GEEX(0.6, mirror=mirror, family=getattr(geex, family)())
    plan, count = plan_of(X, method, 300)
    fast = explained(model, X, method, 300).values
    np.testing.assert_allclose(fast, naive.geex(model, plan, count, family), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("coupling", [None, "orthogonal"])
def test_standard_errors(coupling):
    method = geex.GEEX(0.6, coupling=coupling)
    plan, count = plan_of(X, method, 1000)
    assert plan.search.block == (1 if coupling is None else 6)
    fast = explained(model, X, method, 1000).stderr
    np.testing.assert_allclose(fast, naive.stderr(model, plan, count), rtol=1e-9)


def test_ge():
    plan, count = plan_of(X, GE(0.6), 300)
    fast = explained(model, X, GE(0.6), 300).values
    np.testing.assert_allclose(fast, naive.ge(model, plan, count), rtol=1e-9)


def test_interpolated():
    method = Interpolated(0.6, steps=7)
    plan, count = plan_of(X, method, 300)
    assert count % 14 == 0
    fast = explained(model, X, method, 300).values
    np.testing.assert_allclose(fast, naive.interpolated(model, plan, count, 7), rtol=1e-9)


def test_smoothing():
    kernel = Kernel(5, 0.7)
    noise = Stream(0, (1,), np.zeros(1)).normal(room((9, 11), (0, 1), kernel))
    np.testing.assert_allclose(smooth(noise, (0, 1), kernel), naive.smoothed(noise, 5, 0.7), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Kernel(5, 0.7), Kernel(3, 2.0)])
def test_smoothed_noise_has_full_amplitude_at_the_border(kernel):
    """Variance 1 at every pixel, corners included: z < 4.5 for 63 pixels of 40,000 draws."""
    noise = Stream(5, (1,), np.zeros(1)).normal((40000, *room((7, 9), (0, 1), kernel)))
    variance = smooth(noise, (1, 2), kernel).var(axis=0)
    assert np.abs((variance - 1) / np.sqrt(2 / 40000)).max() < 4.5


def test_smoothed_estimand_is_the_gradient_mixed_by_the_noise_covariance():
    """E[f ε]/σ² = C ∇J for a linear model, C the covariance of smoothed noise."""
    slope = RNG.normal(size=(6, 7))
    x = np.ones((6, 7))
    w = np.exp(-0.5 * (np.arange(-1, 2) / 0.8) ** 2)
    taps = w / np.linalg.norm(w)
    covariance = {axis: np.zeros((n, n)) for axis, n in enumerate((6, 7))}
    for axis, n in enumerate((6, 7)):
        toeplitz = np.zeros((n, n + 2))
        for i in range(n):
            toeplitz[i, i : i + 3] = taps
        covariance[axis] = toeplitz @ toeplitz.T
    truth = covariance[0] @ slope @ covariance[1]
    explanation = explained(lambda z: (z * slope).sum((1, 2)), x, geex.GEEX(0.5, smooth=(3, 0.8)), 40002)
    assert np.abs((explanation.values - truth) / explanation.stderr).max() < 4.5
    assert not explanation.estimand.adds_up


@pytest.mark.parametrize("share", [1e-9, 0.1, 0.35, 0.5, 1.0])
def test_the_largest_are_the_first_in_order(share):
    values = RNG.integers(0, 4, (5, 8)).astype(float)  # many are equal
    values[0, 0] = -np.inf
    wanted = np.zeros(values.size, bool)
    wanted[np.argsort(-values.ravel(), kind="stable")[: max(1, round(share * values.size))]] = True
    np.testing.assert_array_equal(largest(values, share), wanted.reshape(values.shape))


@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_what_is_no_number_is_not_among_the_largest(share):
    values = np.array([np.nan, 3.0, np.nan, 1.0, 2.0, np.nan])
    wanted = {0.01: [1], 0.5: [1, 3, 4], 1.0: range(6)}[share]
    np.testing.assert_array_equal(np.flatnonzero(largest(values, share)), wanted)
    assert largest(np.full(10, np.nan), share).sum() == max(1, round(10 * share))
