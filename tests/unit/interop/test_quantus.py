"""geex as the explanation function of quantus."""

import numpy as np
import pytest

import geex
from geex.errors import InputError
from geex.interop.quantus import explain_func
from tests.helpers import raises

WEIGHTS = np.arange(32.0).reshape(16, 2)


def model(z):
    return z.reshape(len(z), -1) @ WEIGHTS


def test_values_in_the_shape_of_the_inputs():
    inputs = np.random.default_rng(0).random((3, 1, 4, 4))
    found = explain_func(model, inputs, [0, 1, 1], method=geex.Shapley(), device="cpu")
    assert found.shape == inputs.shape
    for row, target, values in zip(inputs, [0, 1, 1], found, strict=True):
        np.testing.assert_allclose(values, row * WEIGHTS[:, target].reshape(1, 4, 4), atol=1e-6)


def test_pixels_share_their_value():
    inputs = np.ones((1, 2, 2, 4))
    found = explain_func(model, inputs, [0], features=geex.Pixels(channels=0))
    assert found.shape == inputs.shape
    assert (found[:, 0] == found[:, 1]).all()


def test_modules():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 2)
    found = explain_func(module, np.ones((2, 3), np.float32), np.array([0, 1]))
    np.testing.assert_allclose(found, module.weight.detach().numpy(), atol=1e-6)


def test_wrong_arguments():
    with raises(InputError, "targets-count"):
        explain_func(model, np.ones((2, 16)), [0])
    with raises(InputError, "features-without-places"):
        explain_func(model, np.ones((1, 16)), [0], features=geex.Groups([0, 1] * 8))


def test_a_metric_of_quantus():
    """Pixel flipping: the curve of a linear model, whose order is that of its values."""
    pytest.importorskip("torch")
    quantus = pytest.importorskip("quantus")
    import torch

    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 2, bias=False)).eval()
    inputs, targets = np.random.default_rng(0).random((2, 1, 4, 4)).astype(np.float32), np.array([0, 1])
    metric = quantus.PixelFlipping(features_in_step=1, perturb_baseline=0.0, disable_warnings=True)
    curves = metric(
        model=module,
        x_batch=inputs,
        y_batch=targets,
        a_batch=None,
        explain_func=explain_func,
        explain_func_kwargs={"method": geex.Shapley(), "queries": 60},
        softmax=False,
    )
    assert len(curves) == 2
    for curve in curves:
        falls = -np.diff(curve)
        assert (falls[:-1] >= falls[1:] - 1e-5).all()  # the largest value first
