"""Numbers at a fixed seed are a promise: a change here is a breaking change, and the changelog says it."""

import numpy as np
import pytest

import geex
from geex.methods import GE, Interpolated
from tests.helpers import explained

X = np.array([1.0, -2.0, 0.5])


def model(z):
    return np.tanh(z[:, 0] - z[:, 1] * z[:, 2])


GOLDEN = {
    geex.GEEX(sigma=0.5, smooth=None, mirror=True, coupling=None, family=geex.Gaussian(), shared=None, still=False): (
        [0.5980435178420075, 0.12755028960139458, 0.21309309111981514],
        [0.043627901058636766, 0.06590869606638455, 0.018799504885676544],
        0.025340681512599716,
    ),
    geex.GEEX(
        sigma=0.5, smooth=None, mirror=True, coupling="orthogonal", family=geex.Gaussian(), shared=None, still=False
    ): (
        [0.6025460498779007, 0.10412841432075222, 0.22537232280448818],
        [0.04025220108586856, 0.06117507954794674, 0.019015727446352253],
        0.03198079307267576,
    ),
    geex.GEEX(sigma=0.5, smooth=None, mirror=True, coupling=None, family=geex.Laplace(), shared=None, still=False): (
        [0.5683206287367362, 0.13492945121755526, 0.18251088342612554],
        [0.03529079341712457, 0.09082249095478942, 0.020976441909621803],
        0.07826661669539992,
    ),
    Interpolated(sigma=0.5, steps=5, smooth=None, mirror=True, family=geex.Gaussian(), shared=None, still=False): (
        [0.5277801767565761, 0.06981110834890675, 0.21713664598014035],
        [0.04089656756509975, 0.06217245264103351, 0.01895087677141698],
        0.14929964899019377,
    ),
    GE(sigma=0.5): (
        [0.23927251836119848, 0.00576284059106311, 0.3936326422902905],
        [0.029410154442911885, 0.02136689884530916, 0.034185210110048055],
        0.32535957883326483,
    ),
}


@pytest.mark.parametrize("method", GOLDEN, ids=str)
def test_numbers_stay(method):
    values, stderr, gap = GOLDEN[method]
    explanation = explained(model, X, method, 1002, seed=7)
    np.testing.assert_allclose(explanation.values, values, rtol=1e-9)
    np.testing.assert_allclose(explanation.stderr, stderr, rtol=1e-9)
    assert explanation.gap == pytest.approx(gap, rel=1e-9)
