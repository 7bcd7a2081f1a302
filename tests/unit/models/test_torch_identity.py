"""A PyTorch module is known again by its weights, settings and mode."""

import operator
import subprocess
import sys
import warnings

import numpy as np
import pytest

import geex
from geex._problem.digest import digest
from geex._problem.model_identity import identity
from tests.unit.models.test_identity import X, explained

torch = pytest.importorskip("torch")

OTHER = """
import torch
from geex._problem.model_identity import identity
torch.manual_seed(0)
print(identity(torch.nn.Linear(4, 3)))
"""


def test_weights_that_were_changed_in_place(tmp_path):
    path, module = tmp_path / "run.geex", torch.nn.Linear(4, 1, bias=False)
    for model in (module, geex.models.torch(module)):
        for weight in (1.0, 2.0):
            with torch.no_grad():
                module.weight.fill_(weight)
            assert np.allclose(explained(model, torch.tensor(X, dtype=torch.float32), path).values, weight * X)


def test_what_an_output_is_read_as_is_part_of_it():
    module = torch.nn.Linear(4, 2)
    outputs = ["logits", "softmax", operator.itemgetter(0), operator.itemgetter(1), torch.sigmoid]
    assert len({identity(geex.models.torch(module, output)) for output in outputs}) == len(outputs)


def test_nothing_is_known_of_a_class_of_modules():
    assert identity(torch.nn.Linear) == ""


class Scaled(torch.nn.Module):
    """Settings and buffers that no state holds."""

    def __init__(self, temperature=1.0, kept=0.0, activation=torch.relu):
        super().__init__()
        self.linear, self.temperature, self.activation = torch.nn.Linear(4, 2), temperature, activation
        self.register_buffer("kept", torch.tensor(kept), persistent=False)
        for parameter in self.parameters():
            torch.nn.init.ones_(parameter)


def test_modules_with_the_same_weights_that_compute_otherwise():
    def layered(*parts):
        return torch.nn.Sequential(*parts)

    convolutions = [
        torch.nn.Conv2d(1, 1, 3, bias=False, padding=1, padding_mode=mode).requires_grad_(False)
        for mode in ("zeros", "circular")
    ]
    for convolution in convolutions:
        convolution.weight.fill_(1)
    modules = [
        layered(torch.nn.ReLU()),
        layered(torch.nn.Tanh()),
        layered(torch.nn.LeakyReLU(0.1)),
        layered(torch.nn.LeakyReLU(0.2)),
        *convolutions,
        Scaled(),
        Scaled(temperature=2.0),
        Scaled(kept=1.0),
        Scaled(activation=torch.tanh),
        Scaled(activation=lambda z: z + 1),
        Scaled(activation=lambda z: z + 2),
    ]
    for made in (geex.models.torch, lambda module: module):
        found = [identity(made(module)) for module in modules]
        assert len(set(found)) == len(found)
    assert identity(Scaled()) == identity(Scaled())


def test_the_mode_of_a_module_counts_where_it_is_asked_in_it():
    module = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Dropout())
    bare, adapted = identity(module), identity(geex.models.torch(module))
    module.eval()
    assert identity(module) != bare
    assert identity(geex.models.torch(module)) == adapted


def test_modules_whose_state_is_no_array(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantisation is moving to another package
        quantised = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(4, 2)))
    for module in (quantised, torch.nn.LazyLinear(2)):
        path = tmp_path / f"{type(module).__name__}.geex"
        explained(geex.models.torch(module), torch.tensor(X, dtype=torch.float32), path)
    sparse = torch.nn.Linear(4, 2)
    sparse.register_buffer("sparse", torch.eye(2).to_sparse())
    assert identity(sparse)


def test_digests_tell_tensors_apart():
    parts = torch.zeros(2), torch.zeros(2, dtype=torch.bfloat16), torch.zeros(()), torch.ones(2, dtype=torch.bfloat16)
    assert len({digest(part) for part in parts}) == len(parts)


@pytest.mark.slow
def test_the_same_in_another_process():
    torch.manual_seed(0)
    here = [identity(torch.nn.Linear(4, 3))]
    assert subprocess.run([sys.executable, "-c", OTHER], capture_output=True, text=True).stdout.split() == here
