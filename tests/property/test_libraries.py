"""NumPy and PyTorch: the same values within standard error, in the library of the explicand."""

import numpy as np
import pytest

import geex
from geex.methods import GE, Interpolated
from tests.helpers import explained

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(2)
X = RNG.normal(size=(3, 6, 5))
W = RNG.normal(size=(3, 6, 5))
MAP = RNG.integers(0, 4, size=(6, 5))
FEATURES = [geex.Elements(), geex.Pixels(channels=0), geex.Groups(MAP)]
METHODS = [
    geex.GEEX(0.5),
    geex.GEEX(0.5, coupling="orthogonal"),
    geex.GEEX(0.5, smooth=(3, 0.8)),
    geex.GEEX(0.5, family=geex.Laplace()),
    geex.GEEX(0.5, family=geex.Logistic(), shared=0),
    Interpolated(0.5),
    GE(0.5),
]


def model(z):
    """The same formula for either library."""
    slope = torch.from_numpy(W) if isinstance(z, torch.Tensor) else W
    t = (z * slope).sum((1, 2, 3))
    return t / 5 + 0.1 * (z[:, 0] * z[:, 1]).sum((1, 2))


@pytest.mark.parametrize("features", FEATURES, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_numpy_and_torch_agree(method, features):
    """z < 4.5 for up to 90 features."""
    one = explained(model, X, method, 10002, features=features)
    other = explained(model, torch.from_numpy(X), method, 10002, features=features)
    assert isinstance(one.values, np.ndarray)
    assert isinstance(other.values, torch.Tensor)
    assert other.values.dtype == torch.float64
    z = (one.values - other.values.numpy()) / np.hypot(one.stderr, other.stderr.numpy())
    assert np.abs(z).max() < 4.5
    assert one.values.shape == features.shape(X.shape)


def test_a_module_leaves_no_graph_and_sees_its_own_type():
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(90, 3))
    explanation = explained(net, torch.from_numpy(X).float(), geex.GEEX(0.5), 202)
    assert not explanation.values.requires_grad
    x = torch.from_numpy(X).float().requires_grad_()
    assert not explained(net, x, geex.GEEX(0.5), 202).values.requires_grad


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_what_the_model_gets(dtype):
    seen = set()

    def half(z):
        seen.add(z.dtype)
        return model(z.double())

    explanation = explained(half, torch.from_numpy(X).to(dtype), geex.GEEX(0.5), 2002)
    assert seen == {dtype}
    reference = explained(model, X, geex.GEEX(0.5), 2002)
    z = (explanation.values.numpy() - reference.values) / np.hypot(explanation.stderr.numpy(), reference.stderr)
    assert np.abs(z).max() < 4.5


def test_a_numpy_model_may_answer_a_torch_explicand_and_the_other_way_round():
    explanation = explained(lambda z: model(z.numpy()), torch.from_numpy(X), geex.GEEX(0.5), 202)
    assert isinstance(explanation.values, torch.Tensor)
    explanation = explained(lambda z: model(torch.from_numpy(z)), X, geex.GEEX(0.5), 202)
    assert isinstance(explanation.values, np.ndarray)


def test_torch_random_state_is_left_alone():
    before = torch.random.get_rng_state()
    explained(model, torch.from_numpy(X), geex.GEEX(0.5), 202)
    assert torch.equal(before, torch.random.get_rng_state())
