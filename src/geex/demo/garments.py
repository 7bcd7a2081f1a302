"""The embedded model and its pictures: the paper's small CNN, trained on Fashion-MNIST, and ten test garments.

Pixels are normalised as (x/255 − 0.1307)/0.3081. In these units 0 is a dark grey, and `BLACK` is the black around the
garments: the baseline that means that nothing is there.
"""

from importlib.resources import files

import numpy as np

from geex.models import onnx
from geex.models.onnx_file import Onnx

# The mean and standard deviation of the pixels that the network was trained with.
MEAN, DEVIATION = 0.1307, 0.3081
BLACK = float((np.float32(0) - MEAN) / DEVIATION)  # rounded as the pictures are, so that background equals it


def garments() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Normalised pictures (10, 1, 28, 28), their labels (10,), and the names of the ten classes."""
    with files("geex.demo").joinpath("garments.npz").open("rb") as file, np.load(file) as content:
        pixels, labels, names = content["pixels"], content["labels"], content["names"]
    normalised = (pixels[:, None].astype(np.float32) / 255 - MEAN) / DEVIATION
    return normalised.astype(np.float32), labels, [str(name) for name in names]


def network() -> Onnx:
    """The network: (n, 1, 28, 28) -> logits (n, 10)."""
    return onnx(files("geex.demo").joinpath("fashion.onnx").read_bytes())
