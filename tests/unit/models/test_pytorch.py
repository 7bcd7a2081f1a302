"""A PyTorch module as a model: its mode, device, type and gradients are left alone."""

import operator
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import geex
from tests.helpers import raises

torch = pytest.importorskip("torch")
nn = torch.nn


def network(dtype=None):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 3))
    return net.to(dtype) if dtype else net


ROWS = np.random.default_rng(0).normal(size=(6, 4))


def test_evaluation_mode_for_the_call_and_the_old_mode_after_it():
    net = network()
    net[1].eval()  # frozen by its owner, in a network that is in training
    before = {name: part.training for name, part in net.named_modules()}
    statistics = net[1].running_mean.clone()
    model = geex.models.torch(net)
    assert np.array_equal(model(ROWS), model(ROWS))  # dropout is off
    assert {name: part.training for name, part in net.named_modules()} == before
    assert torch.equal(net[1].running_mean, statistics)


def test_the_mode_comes_back_after_an_error_and_after_many_threads():
    net = network()
    model = geex.models.torch(net)
    with pytest.raises(RuntimeError):
        model(np.zeros((2, 5)))
    assert net.training

    meeting = Barrier(4, timeout=30)
    modes = []

    class Meets(nn.Module):
        def forward(self, x):
            meeting.wait()  # four calls are inside at the same time
            modes.append(self.training)
            return x

    meets = Meets()
    together = geex.models.torch(meets)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(together, [ROWS] * 8))
    assert modes == [False] * 8
    assert meets.training


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_module_keeps_its_type_and_the_answer_its_library(dtype):
    net = network(dtype).eval()
    model = geex.models.torch(net)
    wanted = net(torch.as_tensor(ROWS).to(dtype)).detach()
    assert torch.equal(model(torch.as_tensor(ROWS)), wanted)
    answer = model(ROWS)
    assert isinstance(answer, np.ndarray)
    assert np.array_equal(answer, wanted.float().numpy() if dtype == torch.bfloat16 else wanted.numpy())
    assert next(net.parameters()).dtype == dtype


def test_rows_in_any_order_of_memory_and_read_only():
    model = geex.models.torch(network().eval())
    frozen = np.broadcast_to(ROWS[0], (3, 4))
    assert np.array_equal(model(frozen), model(frozen.copy()))
    assert np.array_equal(model(ROWS[::-1]), model(ROWS[::-1].copy()))


def test_no_gradients():
    answer = geex.models.torch(network())(torch.ones(2, 4, requires_grad=True))
    assert not answer.requires_grad


def test_the_device_of_the_module_is_kept_and_the_answer_comes_back():
    net = network().to("meta")  # a device that is not the queries'
    seen = []
    net.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].device.type))
    with pytest.raises(NotImplementedError):  # nothing can be copied out of "meta": the answer was on its way back
        geex.models.torch(net)(torch.ones(2, 4))
    assert seen == ["meta"]


def test_outputs():
    net = network().eval()
    logits = geex.models.torch(net)(ROWS)
    exponential = np.exp(logits)
    softmax = geex.models.torch(net, "softmax")(ROWS)
    assert np.allclose(softmax, exponential / exponential.sum(axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(geex.models.torch(net, "sigmoid")(ROWS), 1 / (1 + 1 / exponential), atol=1e-6)


class Several(nn.Module):
    def forward(self, x):
        return x.sum(1), x


def test_a_module_with_several_outputs():
    with raises(geex.errors.AnswerError, "answer-not-a-tensor"):
        geex.models.torch(Several())(ROWS)
    assert np.array_equal(geex.models.torch(Several(), operator.itemgetter(1))(ROWS), ROWS)


def test_a_module_with_no_parameters_gets_queries_as_they_are():
    assert geex.models.torch(nn.Identity())(ROWS).dtype == np.float64


def test_it_can_be_pickled():
    model = geex.models.torch(network(), "softmax", labels=["a", "b", "c"])
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(ROWS), model(ROWS))
    assert again.labels == ("a", "b", "c")


def test_explained_in_either_library():
    model = geex.models.torch(network().eval(), "softmax")
    settings = {"queries": 200, "method": geex.Shapley(), "target": 0, "progress": False}
    one = geex.explain(model, ROWS[0], **settings)
    other = geex.explain(model, torch.as_tensor(ROWS[0]), **settings)
    assert isinstance(other.values, torch.Tensor)
    assert np.abs(one.values - other.values.numpy()).max() < 5 * one.stderr.max() + 1e-6


@pytest.mark.parametrize("wrong", [nn.Linear, "net", lambda x: x])
def test_what_is_no_module(wrong):
    with raises(geex.errors.InputError, "module-not-torch"):
        geex.models.torch(wrong)


def test_an_unknown_output():
    with raises(geex.errors.InputError, "output-unknown"):
        geex.models.torch(network(), "probability")
