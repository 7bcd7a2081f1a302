"""Standard errors are honest: nominal 95% intervals cover 93 to 97%, known to half a percent."""

import numpy as np
import pytest

import geex
from geex.methods import GE, Interpolated
from tests import naive
from tests.helpers import explained

SEEDS = 2000
X = np.array([1.0, -0.6, 1.4])
SLOPE = np.array([0.8, -1.0, 0.6])
SIGMA = 0.7
SPREAD = SIGMA * np.linalg.norm(SLOPE)
SUM = naive.blurred(naive.sigmoid, SLOPE @ X, SPREAD) - naive.blurred(naive.sigmoid, 0.0, SPREAD)
TRUTH = SLOPE * X * SUM / (SLOPE @ X)
RIEMANN = SLOPE * X * np.mean([naive.blurred_slope(naive.sigmoid, j / 8 * (SLOPE @ X), SPREAD) for j in range(1, 9)])
GRADIENT = SLOPE * naive.blurred_slope(naive.sigmoid, SLOPE @ X, SPREAD)


def model(z):
    return naive.sigmoid(z @ SLOPE)


@pytest.mark.parametrize(
    ("method", "truth"),
    [
        (geex.GEEX(SIGMA), TRUTH),
        (geex.GEEX(SIGMA, mirror=False), TRUTH),
        (geex.GEEX(SIGMA, coupling="orthogonal"), TRUTH),
        (Interpolated(SIGMA, steps=8), RIEMANN),
        (GE(SIGMA), GRADIENT),
    ],
    ids=["GEEX", "unmirrored", "orthogonal", "Interpolated", "GE"],
)
@pytest.mark.slow
def test_intervals_cover(method, truth):
    covered, total_covered = np.empty((SEEDS, 3)), np.empty(SEEDS)
    for seed in range(SEEDS):
        explanation = explained(model, X, method, 482, seed=seed)
        covered[seed] = np.abs(explanation.values - truth) <= 1.96 * explanation.stderr
        total_covered[seed] = abs(explanation.values.sum() - truth.sum()) <= 1.96 * explanation.gap_stderr
    per_seed = covered.mean(axis=1)
    assert per_seed.std() / np.sqrt(SEEDS) < 0.005
    assert 0.93 < per_seed.mean() < 0.97, per_seed.mean()
    assert 0.93 < total_covered.mean() < 0.97, total_covered.mean()


@pytest.mark.slow
def test_differencing_neighbours_is_not_too_wide():
    """The stated error is the true deviation over seeds, within 4 standard errors of that deviation (5%)."""
    runs = [explained(model, X, geex.GEEX(SIGMA), 482, seed=seed) for seed in range(800)]
    true = np.std([run.values for run in runs], axis=0)
    stated = np.sqrt(np.mean([run.stderr**2 for run in runs], axis=0))
    assert np.abs(stated / true - 1).max() < 4 / np.sqrt(2 * 800) * 1.2
