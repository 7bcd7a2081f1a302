"""geex as an attribution method of captum, and captum's metrics of it."""

import pytest

import geex
from geex.errors import InputError
from geex.interop.captum import Attribution
from tests.helpers import raises

torch = pytest.importorskip("torch")
torch.manual_seed(0)
MODULE = torch.nn.Linear(4, 3, bias=False)
INPUTS = torch.arange(8.0).reshape(2, 4) / 8


def test_a_linear_module():
    found = Attribution(MODULE, method=geex.Shapley()).attribute(INPUTS, target=[0, 2])
    wanted = INPUTS * MODULE.weight.detach()[[0, 2]]
    torch.testing.assert_close(found, wanted)


def test_functions_baselines_and_tuples():
    attribution = Attribution(lambda z: (z**2).sum(1))
    (found,) = attribution.attribute((INPUTS,), baselines=(torch.ones(1, 4),))
    torch.testing.assert_close(found, INPUTS**2 - 1)
    torch.testing.assert_close(attribution.attribute(INPUTS, baselines=1.0), INPUTS**2 - 1)
    with raises(InputError, "inputs-not-one"):
        attribution.attribute((INPUTS, INPUTS))


def test_metrics_of_captum():
    metrics = pytest.importorskip("captum.metrics")
    attribution = Attribution(MODULE, queries=40)
    values = attribution.attribute(INPUTS, target=1)

    def perturb(inputs):
        noise = torch.randn(inputs.shape, generator=torch.Generator().manual_seed(0)) / 8
        return noise, inputs - noise

    # the attribution of a linear model divided by x is its gradient, which has no infidelity
    gradient = values / torch.where(INPUTS == 0, 1.0, INPUTS)
    gradient[INPUTS == 0] = MODULE.weight.detach()[1][(INPUTS == 0).nonzero()[:, 1]]
    assert float(metrics.infidelity(MODULE, perturb, INPUTS, gradient, target=1).max()) < 1e-9
    assert float(metrics.infidelity(MODULE, perturb, INPUTS, 0 * gradient, target=1).max()) > 1e-4
    change = metrics.sensitivity_max(attribution.attribute, INPUTS, perturb_radius=0.01, target=1, n_perturb_samples=2)
    assert (change < 0.2).all()
