"""The right scale: closed forms of what every method, family and σ estimates."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

import geex
from geex.methods import GE, Interpolated
from tests import naive
from tests.helpers import assert_within, explained

X = np.array([1.2, -0.7, 2.0, 0.4])
BASE = np.array([-0.5, 0.3, 0.1, 0.0])
A = np.array([[1.0, 0.4, 0, 0], [0.4, -0.5, 0.2, 0], [0, 0.2, 0.3, -0.6], [0, 0, -0.6, 0.8]])
SLOPE = np.array([0.9, -1.1, 0.5, 0.3])
FAMILIES = [geex.Gaussian(), geex.Laplace(), geex.Logistic()]
SIGMAS = [0.1, 1.0, 3.0]


def linear(z):
    return z @ SLOPE + 0.7


def quadratic(z):
    return np.einsum("ni,ij,nj->n", z, A, z)


def product(z):
    return z[:, 0] * z[:, 1] + z[:, 2] * z[:, 3]


def product_gradient(z):
    return np.array([z[1], z[0], z[3], z[2]])


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize(
    ("model", "truth"),
    [
        (linear, SLOPE * (X - BASE)),
        (quadratic, (X - BASE) * (A @ (X + BASE))),
        (product, (X - BASE) * product_gradient((X + BASE) / 2)),
    ],
    ids=["linear", "quadratic", "product"],
)
def test_geex_has_the_scale_of_the_path_integral(model, truth, family, sigma):
    """z < 4.5 over 27 settings × 4 features."""
    method = geex.GEEX(sigma=sigma, family=family)
    explanation = explained(model, X, method, 20002, baseline=BASE, seed=1)
    assert_within(explanation.values, explanation.stderr, truth, z=4.5)
    assert abs(explanation.gap) < 4.5 * explanation.gap_stderr


@pytest.mark.parametrize("settings", [{"mirror": False}, {"coupling": "orthogonal"}], ids=str)
def test_geex_unmirrored_and_coupled(settings):
    method = geex.GEEX(sigma=0.8, **settings)
    explanation = explained(quadratic, X, method, 40002, baseline=BASE)
    assert_within(explanation.values, explanation.stderr, (X - BASE) * (A @ (X + BASE)))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: type(f).__name__)
def test_ge_is_the_gradient_at_the_explicand(family):
    method = GE(sigma=0.5, family=family)
    explanation = explained(quadratic, X, method, 20002, baseline=BASE)
    assert_within(explanation.values, explanation.stderr, 2 * A @ X)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_interpolated_is_the_right_riemann_sum(steps):
    """Not the integral: its own bias of order 1/s is part of the estimand."""
    points = BASE + np.arange(1, steps + 1)[:, None] / steps * (X - BASE)
    truth = (X - BASE) * np.mean(2 * points @ A, axis=0)
    explanation = explained(quadratic, X, Interpolated(sigma=0.5, steps=steps), 20002, baseline=BASE)
    assert_within(explanation.values, explanation.stderr, truth)
    assert explanation.estimand.quantity is geex.Quantity.RIEMANN_SUM


@pytest.mark.parametrize("family", ["Gaussian", "Laplace", "Logistic"])
@pytest.mark.parametrize(("sigma", "known"), [(0.3, 0.828), (1.0, 0.775), (2.0, 0.646)])
def test_the_sum_is_that_of_the_blurred_sigmoid(sigma, known, family):
    """Σξ → J(x) − J(x̊), not f(x) − f(x̊) = 0.833."""
    truth = naive.blurred(naive.sigmoid, 2.0, sigma, family) - naive.blurred(naive.sigmoid, -3.0, sigma, family)
    if family == "Gaussian":
        assert truth == pytest.approx(known, abs=5e-4)
    method = geex.GEEX(sigma=sigma, family=getattr(geex, family)())
    explanation = explained(lambda z: naive.sigmoid(z[:, 0]), np.array([2.0]), method, 100002, baseline=-3.0)
    assert_within(explanation.values, explanation.stderr, truth)
    blur = naive.sigmoid(2.0) - naive.sigmoid(-3.0) - truth
    assert_within(explanation.gap, explanation.gap_stderr, blur)


def test_interpolated_sigmoid_against_its_riemann_sum_of_the_blur():
    steps, sigma = 5, 0.5
    points = -3 + 5 * np.arange(1, steps + 1) / steps
    truth = 5 / steps * sum(naive.blurred_slope(naive.sigmoid, at, sigma) for at in points)
    method = Interpolated(sigma=sigma, steps=steps)
    explanation = explained(lambda z: naive.sigmoid(z[:, 0]), np.array([2.0]), method, 100002, baseline=-3.0)
    assert_within(explanation.values, explanation.stderr, truth)


@dataclass(frozen=True)
class HyperbolicSecant(geex.Family):
    """π(ε) = ½ sech(πε/2): a fourth family."""

    def draw(self, stream, shape):
        u = stream.uniform(shape)
        return 2 / np.pi * np.log(np.tan(np.pi / 2 * u))

    def score(self, noise):
        return np.pi / 2 * np.tanh(np.pi / 2 * noise)


def test_a_fourth_family_is_ten_lines():
    explanation = explained(quadratic, X, geex.GEEX(0.7, family=HyperbolicSecant()), 20002, baseline=BASE)
    assert_within(explanation.values, explanation.stderr, (X - BASE) * (A @ (X + BASE)))
    assert explanation.estimand.blurred.family == "HyperbolicSecant"


def test_a_ridge_function_shares_by_slope():
    """f = sigmoid(a·z): ξ_k = a_k (x_k − x̊_k) · (J(x) − J(x̊)) / (a·(x − x̊))."""
    sigma = 0.7
    spread = sigma * np.linalg.norm(SLOPE)
    ends = [naive.blurred(naive.sigmoid, SLOPE @ end, spread) for end in (X, BASE)]
    truth = SLOPE * (X - BASE) * (ends[0] - ends[1]) / (SLOPE @ (X - BASE))
    explanation = explained(lambda z: naive.sigmoid(z @ SLOPE), X, geex.GEEX(sigma), 100002, baseline=BASE)
    assert_within(explanation.values, explanation.stderr, truth)


def test_clipping_to_bounds_keeps_the_weight():
    """f = z clipped to [−1, 1] on the way in: the sum is that of J, the clipped model blurred, by its closed form."""
    sigma = 0.8

    def clipped_mean(at):
        low, high = (-1 - at) / sigma, (1 - at) / sigma
        inside = at * (norm.cdf(high) - norm.cdf(low)) + sigma * (norm.pdf(low) - norm.pdf(high))
        return inside - norm.cdf(low) + 1 - norm.cdf(high)

    truth = clipped_mean(0.9) - clipped_mean(0.0)
    method = geex.GEEX(sigma)
    explanation = explained(lambda z: z[:, 0], np.array([0.9]), method, 40002, bounds=(-1.0, 1.0))
    assert_within(explanation.values, explanation.stderr, truth)


def test_shared_noise_sums_the_gradients_of_channels():
    """One noise value for both elements: E[f ε_g]/σ² is the sum of the two slopes."""
    x = np.array([[1.0], [2.0]])
    explanation = explained(lambda z: 3 * z[:, 0, 0] - z[:, 1, 0], x, geex.GEEX(0.5, shared=0), 20002)
    assert_within(explanation.values, explanation.stderr, (3 - 1) * x)
    assert not explanation.estimand.adds_up


def test_several_baselines_are_averaged():
    bases = [BASE, 0.0, np.ones(4)]
    explanation = explained(quadratic, X, geex.GEEX(0.5), 60004, baseline=bases)
    arrays = [np.broadcast_to(base, 4) for base in bases]
    truth = np.mean([(X - base) * (A @ (X + base)) for base in arrays], axis=0)
    assert_within(explanation.values, explanation.stderr, truth)
    assert explanation.base_value == pytest.approx(np.mean([quadratic(base[None])[0] for base in arrays]))
    assert abs(explanation.gap) < 4 * explanation.gap_stderr


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_scores_of_any_size_keep_their_errors(scale):
    """In float32 the squares of such terms would vanish or overflow."""
    x = X.astype(np.float32)
    plain = explained(lambda z: quadratic(z.astype(float)), x, geex.GEEX(0.5), 2002)
    scaled = explained(lambda z: scale * quadratic(z.astype(float)), x, geex.GEEX(0.5), 2002)
    np.testing.assert_allclose(scaled.values, scale * plain.values, rtol=1e-6)
    np.testing.assert_allclose(scaled.stderr, scale * plain.stderr, rtol=1e-6)
    assert scaled.gap_stderr == pytest.approx(scale * plain.gap_stderr)
