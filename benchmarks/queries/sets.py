"""The data sets: grey images, and photos on Inception V3 and on EfficientNet-Lite0."""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks import efficientnet
from benchmarks.paper.__main__ import changed
from benchmarks.paper.cases import CaseSet, digest, predicted
from benchmarks.paper.grey import grey
from benchmarks.paper.large import class_names, large
from benchmarks.paper.options import Options
from benchmarks.paper.pack import unpack
from benchmarks.paper.photos import Photos
from benchmarks.paper.settings import FASHION, INCEPTION, MNIST, Setting

EFFICIENTNET = replace(INCEPTION, name="efficientnet", title="EfficientNet-Lite0 (ImageNet)")
SETTINGS = {
    "fashion-mnist": replace(FASHION, step=8),
    "mnist": replace(MNIST, step=8),
    "inception": INCEPTION,
    "efficientnet": replace(EFFICIENTNET, step=250),
}
PHOTOS = ("inception", "efficientnet")
QUICK_BUDGETS = (100, 200, 500)


def settings(quick: bool) -> dict[str, Setting]:
    """The data sets by name. The quick form, for a CPU: 10 grey images, 2 photos, a tenth of the steps on photos."""
    if not quick:
        return SETTINGS
    fewer = {name: replace(SETTINGS[name], images=2, step=10 * SETTINGS[name].step) for name in PHOTOS}
    return {name: replace(setting, images=10) for name, setting in SETTINGS.items()} | fewer


def case_set(name: str, options: Options) -> CaseSet:
    """The cases of a data set, and their network, on the device."""
    setting = changed(settings(options.quick)[name], options)
    if name == "inception":
        found = large(setting, replace(options, quick=False))
        return found[-1] if found[-1].cases else replace(found[0], name=name)
    return lite(setting, options) if name == "efficientnet" else grey(setting, options)


def lite(setting: Setting, options: Options) -> CaseSet:
    """The packed photos, made smaller, that EfficientNet-Lite0 classifies right."""
    if options.photos is None or options.photos.suffix != ".npz":
        raise FileNotFoundError(
            "EfficientNet-Lite0 needs packed photos. Write them: python -m benchmarks.paper.pack FILE"
        )
    module = efficientnet.load()
    mark = digest(module)
    module = module.to(options.device)

    def network(queries: Tensor) -> Tensor:
        return module(queries.contiguous(memory_format=torch.channels_last))

    photos = smaller(unpack(options.photos)[1], efficientnet.SIZE)
    cases = photos.cases(setting, options.device, class_names(options.data), ["no"] * len(photos))
    cases = [replace(case, x=(128 * case.x + 128 - efficientnet.CENTRE) / 128) for case in cases]
    guesses = predicted(network, torch.stack([case.x for case in cases]))
    right = [case for case, guess in zip(cases, guesses.tolist(), strict=True) if guess == case.target]
    return CaseSet(setting, network, mark, right[: setting.images], batch=options.batch, half=options.half)


def smaller(photos: Photos, size: int) -> Photos:
    """Photos and their superpixels of size × size."""
    pixels = torch.from_numpy(np.moveaxis(photos.pixels, -1, 1)).float()
    pixels = F.interpolate(pixels, (size, size), mode="bilinear", antialias=True).round().clamp(0, 255)
    segments = F.interpolate(torch.from_numpy(photos.segments)[:, None].float(), (size, size), mode="nearest")[:, 0]
    moved = np.moveaxis(pixels.numpy().astype(np.uint8), 1, -1)
    return replace(photos, pixels=moved, segments=segments.numpy().astype(np.uint8))
