"""The embedded model and its pictures: the paper's small CNN, trained on Fashion-MNIST, and ten test garments.

Pixels are normalised as (x/255 − 0.1307)/0.3081; the baseline 0 in those units is a dark grey.
"""

from collections.abc import Callable
from importlib.resources import files

import numpy as np

from geex.errors import MissingPackage

MEAN, DEVIATION = 0.1307, 0.3081


def garments() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Normalised pictures (10, 1, 28, 28), their labels (10,), and the names of the ten classes."""
    with files("geex.demo").joinpath("garments.npz").open("rb") as file, np.load(file) as content:
        pixels, labels, names = content["pixels"], content["labels"], content["names"]
    normalised = (pixels[:, None].astype(np.float32) / 255 - MEAN) / DEVIATION
    return normalised.astype(np.float32), labels, [str(name) for name in names]


class Graph:
    """A graph on onnxruntime: its first input takes the rows, its first output answers."""

    def __init__(self, content: bytes) -> None:
        try:
            from onnxruntime import InferenceSession
        except ImportError:
            raise MissingPackage("an ONNX graph runs on onnxruntime: pip install 'geex[onnx]'") from None
        self.session = InferenceSession(content)
        self.input = self.session.get_inputs()[0]

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of a row, where the graph declares it."""
        sizes = self.input.shape[1:]
        return tuple(sizes) if all(isinstance(size, int) for size in sizes) else None

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.session.run(None, {self.input.name: rows.astype(np.float32)})[0])


def network() -> Callable[[np.ndarray], np.ndarray]:
    """The network: (n, 1, 28, 28) -> logits (n, 10)."""
    return Graph(files("geex.demo").joinpath("fashion.onnx").read_bytes())
