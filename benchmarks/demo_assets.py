"""Write the demo's files: a small network as an ONNX graph, and ten garments for it.

    python -m benchmarks.demo_assets      # writes fashion.onnx, garments.npz and the pictures' licence

The same weights give the same bytes.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from benchmarks.data import CLASSES, images, normalise
from benchmarks.train import CNN, load

DEMO = Path(__file__).resolve().parents[1] / "src" / "geex" / "demo"
OPSET, IR = 17, 8  # IR 8 goes with opset 17: any onnxruntime from 1.12 on reads it
TOLERANCE = 1e-4

LICENCE = """\
garments.npz holds ten images of Fashion-MNIST (https://github.com/zalandoresearch/fashion-mnist), and
fashion.onnx was trained on its training images. Fashion-MNIST comes under the following licence.

The MIT License (MIT)

Copyright © 2017 Zalando SE, https://tech.zalando.com

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the “Software”), to deal in the Software without restriction, including without
limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions
of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED
TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE.
"""


def node(layer: nn.Module, source: str, target: str, prefix: str) -> onnx.NodeProto:
    """One layer of the CNN as an ONNX node from `source` to `target`, its parameters named by `prefix`."""
    parameters = [source, f"{prefix}.weight", f"{prefix}.bias"]
    match layer:
        case nn.Conv2d():
            return helper.make_node("Conv", parameters, [target], kernel_shape=list(layer.kernel_size))
        case nn.Linear():
            return helper.make_node("Gemm", parameters, [target], transB=1)
        case nn.MaxPool2d(kernel_size=int(side)):
            return helper.make_node("MaxPool", [source], [target], kernel_shape=[side] * 2, strides=[side] * 2)
        case nn.ReLU():
            return helper.make_node("Relu", [source], [target])
        case nn.Flatten():
            return helper.make_node("Flatten", [source], [target])
    raise TypeError(f"no ONNX node for {layer}: add a case for it")


def graph(network: CNN) -> onnx.ModelProto:
    """The network as a checked ONNX model, `pixels` (n, 1, 28, 28) normalised to `logits` (n, 10)."""
    wires = ["pixels", *(f"layer{i}" for i in range(len(network) - 1)), "logits"]
    nodes = [node(layer, wires[i], wires[i + 1], str(i)) for i, layer in enumerate(network)]
    tensors = [numpy_helper.from_array(value.numpy(), name) for name, value in network.state_dict().items()]
    pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 1, 28, 28])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 10])
    model = helper.make_model(
        helper.make_graph(nodes, "fashion", [pixels], [logits], tensors),
        producer_name="geex",
        ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def answers(model: bytes, inputs: np.ndarray) -> np.ndarray:
    """Return the logits (n, 10) of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"pixels": inputs})[0]


def verify(network: CNN, model: bytes, folder: Path | None) -> float:
    """Return the ONNX graph's test accuracy. Raise RuntimeError if its answers differ from the network's."""
    pixels, labels = images("fashion-mnist", "test", folder)
    inputs = normalise(pixels)
    with torch.inference_mode():
        expected = network(torch.from_numpy(inputs)).numpy()
    got = answers(model, inputs)
    apart = float(np.abs(got - expected).max())
    shares = [float((logits.argmax(1) == labels).mean()) for logits in (expected, got)]
    if apart > TOLERANCE or shares[0] != shares[1]:
        raise RuntimeError(f"Logits must agree within {TOLERANCE}, and accuracies; got {apart:.1e} and {shares}.")
    print(f"largest difference of logits {apart:.1e}, test accuracy {shares[0]:.2%} (torch) {shares[1]:.2%} (onnx)")
    return shares[1]


def garments(model: bytes, folder: Path | None) -> dict[str, np.ndarray]:
    """The first test image of each class that the network classifies correctly, in the order of the classes."""
    pixels, labels = images("fashion-mnist", "test", folder)
    right = answers(model, normalise(pixels)).argmax(1) == labels
    rows = [int(np.flatnonzero(right & (labels == c))[0]) for c in range(len(CLASSES))]
    return {"pixels": pixels[rows], "labels": labels[rows], "names": np.array(CLASSES)}


def main() -> None:
    """Writes the three files and prints their sizes."""
    parser = argparse.ArgumentParser(description="Write the files of the demo.")
    parser.add_argument("--folder", type=Path, help="data folder (default: GEEX_DATA, else data/)")
    parser.add_argument("--out", type=Path, default=DEMO, help="where to write (default: src/geex/demo)")
    options = parser.parse_args()
    torch.set_num_threads(2)
    network = load("fashion-mnist", options.folder)
    model = graph(network).SerializeToString(deterministic=True)
    verify(network, model, options.folder)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "fashion.onnx").write_bytes(model)
    np.savez(options.out / "garments.npz", **garments(model, options.folder))
    (options.out / "LICENSE-Fashion-MNIST.txt").write_text(LICENCE, encoding="utf-8")
    for file in sorted(options.out.iterdir()):
        if file.is_file():
            print(f"{file.stat().st_size:>8} bytes  {file.name}")


if __name__ == "__main__":
    main()
