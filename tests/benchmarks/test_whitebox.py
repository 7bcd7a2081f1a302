"""White-box references: closed forms, completeness and conservation, and captum's own."""

import sys

import numpy as np
import pytest

import geex
from geex._problem.outputs import scored
from geex.errors import (
    AnswerError,
    BudgetError,
    ExplicandError,
    GeexError,
    InputError,
    MethodError,
    MissingPackage,
    ModelError,
    ModelRaised,
)

torch = pytest.importorskip("torch")

from benchmarks import whitebox  # noqa: E402

nn = torch.nn


@pytest.fixture(autouse=True)
def _same_weights():
    """PyTorch's global random state, from which layers take their first weights, is fixed and put back."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


METHODS = [whitebox.gradient, whitebox.smoothgrad, whitebox.integrated_gradients, whitebox.lrp]


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def network(bias=True, seed=0):
    """(n, 2, 8, 8) -> (n, 3) by convolution, ReLU, pooling and dense layers, in float64."""
    layers = nn.Sequential(
        nn.Conv2d(2, 4, 3, bias=bias, padding=1),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 10, bias=bias),
        nn.ReLU(),
        nn.Linear(10, 3, bias=bias),
    )
    with torch.no_grad():
        for index, weight in enumerate(layers.parameters()):
            weight.copy_(normal(*weight.shape, seed=seed + index) * 0.3)
    return layers.double().eval()


IMAGE = normal(2, 8, 8, seed=9)


def linear(z):
    return z.reshape(len(z), -1) @ torch.arange(6.0, dtype=z.dtype)


# The gradient


@pytest.mark.parametrize("method", METHODS[:3])
def test_a_linear_model_has_its_slopes(method):
    x = normal(2, 3)
    slopes = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    result = method(linear, x, baseline=0.5)
    wanted = slopes * (x - 0.5) if method is whitebox.integrated_gradients else slopes
    torch.testing.assert_close(result.values, wanted, rtol=1e-13, atol=1e-13)
    assert result.output == pytest.approx(float(linear(x[None])))
    assert result.base_value == pytest.approx(0.5 * 15)


@pytest.mark.parametrize("method", METHODS[:2])
def test_times_input_multiplies_by_the_distance_from_the_baseline(method):
    x = normal(2, 3)
    result = method(linear, x, baseline=0.5, times_input=True)
    assert result.gap == pytest.approx(0, abs=1e-12)
    torch.testing.assert_close(result.values, (x - 0.5) * torch.arange(6.0, dtype=torch.float64).reshape(2, 3))


@pytest.mark.parametrize("score", [None, "softmax", "margin", "log_odds", lambda a: a[:, :1] ** 2])
def test_scores_are_differentiated(score):
    """Against differences of f(x ± h) in every element."""
    module = nn.Sequential(network(), nn.Softmax(1)) if score == "log_odds" else network()
    result = whitebox.gradient(module, IMAGE, score=score)

    def f(points):
        with torch.no_grad():
            return scored(module(points), score)[:, result.target]

    step = 1e-5 * torch.eye(IMAGE.numel(), dtype=torch.float64).reshape(-1, *IMAGE.shape)
    slopes = (f(IMAGE + step) - f(IMAGE - step)).reshape(IMAGE.shape) / 2e-5
    torch.testing.assert_close(result.values, slopes, rtol=1e-5, atol=1e-7)


def test_groups_have_the_sum_of_their_elements():
    elements, pixels = (whitebox.gradient(network(), IMAGE, features=f) for f in (None, geex.Pixels(0)))
    torch.testing.assert_close(pixels.values, elements.values.sum(0))
    rows = torch.arange(8)[:, None].expand(8, 8).numpy()
    grouped = whitebox.smoothgrad(network(), IMAGE, features=geex.Groups(rows))
    assert grouped.values.shape == grouped.stderr.shape == (8,)


# SmoothGrad


def test_smoothgrad_of_a_quadratic():
    """∇ of zᵀAz/2 at x + σε is A(x + ε): mean Ax, and the mean of n has the deviation σ √(Σ_l A_kl²/n)."""
    matrix = normal(12, 12)
    matrix = matrix + matrix.T
    x = normal(12, seed=1)
    result = whitebox.smoothgrad(lambda z: ((z @ matrix) * z).sum(1) / 2, x, sigma=0.7, samples=400, seed=5)
    deviation = (result.values - matrix @ x) / result.stderr
    assert deviation.abs().max() < 3.5  # z of 12
    exact = 0.7 * (matrix**2).sum(1).sqrt() / 20
    torch.testing.assert_close(result.stderr, exact, rtol=0.15, atol=0)  # 400 samples: ± 3.5%, z = 4
    whole = 0.7 * float((matrix.sum(0) ** 2).sum().sqrt()) / 20
    assert result.gap_stderr == pytest.approx(whole, rel=0.15)
    assert result.queries == 402


def test_smoothgrad_is_seeded_and_does_not_depend_on_the_batch():
    module = network()
    before = torch.random.get_rng_state()
    one, same, other = (
        whitebox.smoothgrad(module, IMAGE, samples=10, seed=seed, batch=batch)
        for seed, batch in ((1, 3), (1, 10), (2, 3))
    )
    torch.testing.assert_close(one.values, same.values, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(one.stderr, same.stderr, rtol=1e-10, atol=1e-12)
    assert not torch.allclose(one.values, other.values)
    assert torch.equal(before, torch.random.get_rng_state())


def test_smoothgrad_of_a_line_has_no_error():
    result = whitebox.smoothgrad(linear, normal(2, 3), samples=7, batch=2)
    assert bool((result.stderr == 0).all())
    assert result.gap_stderr == 0
    assert bool(whitebox.smoothgrad(linear, normal(2, 3), samples=1).stderr.isnan().all())


# Integrated gradients


@pytest.mark.parametrize("score", [None, "softmax"])
def test_integrated_gradients_are_complete(score):
    """A smooth network, so that quadrature at 50 places leaves next to nothing."""
    module = nn.Sequential(nn.Flatten(), nn.Linear(128, 20), nn.Tanh(), nn.Linear(20, 3)).double()
    result = whitebox.integrated_gradients(module, IMAGE, score=score, baseline=-0.3)
    assert abs(result.gap) < 1e-8
    assert abs(result.output - result.base_value) > 0.01


def test_integrated_gradients_converge_on_relus():
    """Kinks leave an error of the order 1/steps²."""
    gaps = [abs(whitebox.integrated_gradients(network(), IMAGE, steps=steps).gap) for steps in (3, 100)]
    assert gaps[1] < 0.05 * gaps[0]


def test_integrated_gradients_are_captums():
    captum = pytest.importorskip("captum.attr")
    module = network()
    start = torch.full_like(IMAGE, 0.2)
    wanted = captum.IntegratedGradients(module).attribute(IMAGE[None], start[None], target=2, n_steps=50)[0]
    for batch in (None, 7, 1):
        result = whitebox.integrated_gradients(module, IMAGE, target=2, baseline=0.2, batch=batch)
        torch.testing.assert_close(result.values, wanted, rtol=1e-6, atol=1e-9)  # captum's weights are in float32
        assert result.queries == 52
    saliency = captum.Saliency(module).attribute(IMAGE[None].clone().requires_grad_(), target=2, abs=False)[0]
    torch.testing.assert_close(whitebox.gradient(module, IMAGE, target=2).values, saliency, rtol=1e-9, atol=1e-12)


def test_integrated_gradients_average_over_baselines():
    module = network()
    parts = [whitebox.integrated_gradients(module, IMAGE, target=1, baseline=start) for start in (0.0, 1.0)]
    both = whitebox.integrated_gradients(module, IMAGE, target=1, baseline=[0.0, 1.0])
    torch.testing.assert_close(both.values, (parts[0].values + parts[1].values) / 2)
    assert both.gap == pytest.approx((parts[0].gap + parts[1].gap) / 2)
    assert both.queries == 103


# LRP


def test_lrp_conserves_without_biases():
    pytest.importorskip("captum")
    result = whitebox.lrp(network(bias=False), IMAGE)
    assert float(result.values.sum()) == pytest.approx(result.output, rel=1e-6)
    assert result.base_value == 0
    assert abs(result.gap) < 1e-6 * abs(result.output)
    assert result.queries == 4


@pytest.mark.parametrize("bias", [False, True])
def test_the_epsilon_rule_is_gradient_times_input_for_relus(bias):
    pytest.importorskip("captum")
    module = network(bias)
    relevance = whitebox.lrp(module, IMAGE, target="all")
    slopes = whitebox.gradient(module, IMAGE, target="all", times_input=True)
    torch.testing.assert_close(relevance.values, slopes.values, rtol=1e-6, atol=1e-6)


def test_lrp_takes_one_layer_and_one_output():
    pytest.importorskip("captum")
    layer = nn.Linear(6, 1, bias=False).double()
    module = nn.Sequential(layer, nn.Flatten(0))
    x = normal(6)
    for some in (layer, module):
        torch.testing.assert_close(whitebox.lrp(some, x).values, (layer.weight[0] * x).detach(), rtol=1e-6, atol=1e-8)


def test_lrp_follows_rules_and_leaves_the_module_as_it_is():
    rules = pytest.importorskip("captum.attr._utils.lrp_rules")
    module = network(bias=False)
    plain = whitebox.lrp(module, IMAGE)
    module[0].rule = rules.Alpha1_Beta0_Rule()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    positive = whitebox.lrp(module, IMAGE)
    assert not torch.allclose(plain.values, positive.values)
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert isinstance(module[0].rule, rules.Alpha1_Beta0_Rule)
    assert module[1].inplace
    assert not any(hasattr(layer, "rule") or hasattr(layer, "activations") for layer in module[1:])


def test_lrp_names_layers_that_it_has_no_rule_for():
    pytest.importorskip("captum")
    with pytest.raises(MethodError, match=r"1 \(SiLU\), 2 \(Softmax\)"):
        whitebox.lrp(nn.Sequential(nn.Linear(3, 3), nn.SiLU(), nn.Softmax(1)), torch.ones(3))
    layer = nn.Linear(3, 3)
    with pytest.raises(MethodError, match="used once"):
        whitebox.lrp(nn.Sequential(layer, nn.ReLU(), layer), torch.ones(3))
    with pytest.raises(InputError, match=r"nn\.Module"):
        whitebox.lrp(lambda z: z, torch.ones(3))


def test_lrp_without_captum_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "captum.attr._core.lrp", None)
    with pytest.raises(MissingPackage, match="pip install captum") as caught:
        whitebox.lrp(network(), IMAGE)
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, GeexError)


# All of them


@pytest.mark.parametrize("method", METHODS)
def test_explanations_are_whole(method, tmp_path):
    """Several targets, another type, a file and back; parameters have no gradient afterwards."""
    module = network().float()
    x = IMAGE.float().requires_grad_()
    several = method(module, x, target=[2, 0], features=geex.Pixels(0))
    single = method(module, x, target=0, features=geex.Pixels(0))
    assert several.values.shape == (2, 8, 8)
    torch.testing.assert_close(several.values[1], single.values)
    assert several.target == [2, 0]
    assert several.values.dtype == torch.float64
    assert not several.values.requires_grad
    assert x.grad is None
    assert all(weight.grad is None for weight in module.parameters())
    loaded = geex.Explanation.load(several.save(tmp_path / "explanation.npz"))
    np.testing.assert_array_equal(loaded.values, several.values.numpy())
    assert loaded.settings == several.settings
    assert method.__name__ in repr(single)
    assert single.estimand.adds_up == (method is whitebox.integrated_gradients)


@pytest.mark.parametrize("method", METHODS)
def test_gradients_are_recorded_in_any_context(method):
    wanted = method(network(), IMAGE).values
    with torch.no_grad():
        torch.testing.assert_close(method(network(), IMAGE).values, wanted)
    module = network()
    with torch.inference_mode():
        torch.testing.assert_close(method(module, IMAGE).values, wanted)


@pytest.mark.parametrize("method", METHODS[:3])
def test_what_cannot_be_explained_is_said(method):
    x = torch.ones(3)
    with pytest.raises(ExplicandError, match="tensor"):
        method(linear, np.ones(3))
    with pytest.raises(ModelError, match="no gradient"):
        method(lambda z: z.detach().sum(1), x)
    with pytest.raises(ModelRaised, match="no batch axis"):
        method(nn.Linear(4, 2), x)
    with pytest.raises(AnswerError, match="wanted a tensor"):
        method(lambda z: (z, z), x)
    with pytest.raises(AnswerError, match="not finite"):
        method(lambda z: (z - 1).sum(1).sqrt(), x, baseline=1.0)
    with pytest.raises(InputError, match="eval"):
        method(nn.Sequential(nn.Linear(3, 3), nn.Dropout()), x)
    with pytest.raises(InputError, match="score"):
        method(linear, x, score="nonsense")


def test_settings_are_checked():
    x = torch.ones(6)
    with pytest.raises(BudgetError, match="steps"):
        whitebox.integrated_gradients(linear, x, steps=0)
    with pytest.raises(BudgetError, match="samples"):
        whitebox.smoothgrad(linear, x, samples=0)
    with pytest.raises(BudgetError, match="batch"):
        whitebox.smoothgrad(linear, x, batch=0)
    with pytest.raises(MethodError, match="sigma"):
        whitebox.smoothgrad(linear, x, sigma=-1.0)
