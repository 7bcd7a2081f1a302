"""Cases of Inception V3."""

from pathlib import Path

import torch
from torch import Tensor

from benchmarks import inception
from benchmarks.data import data_folder
from benchmarks.paper.cases import CaseSet, Shown, digest
from benchmarks.paper.options import Options
from benchmarks.paper.pack import unpack
from benchmarks.paper.photos import chosen, scikit_image
from benchmarks.paper.settings import DRAWN, Setting

LOCAL = 3


def large(setting: Setting, options: Options) -> list[CaseSet]:
    """The pictures of scikit-image, which are shown only, and the labelled photos. The quick form has both in one."""
    module = inception.torchvision_weights() if options.torchvision else inception.load(options.data)
    mark = digest(module)
    module = module.to(options.device)

    def network(queries: Tensor) -> Tensor:
        return module(queries.contiguous(memory_format=torch.channels_last))

    if options.photos is not None and options.photos.suffix == ".npz":
        pictures, photos = unpack(options.photos)
    else:
        pictures, photos = scikit_image(), None
        if options.photos is not None:
            photos = chosen(options.photos, setting.images, network, options.device)
    titles = class_names(options.data)
    drawn = pictures.cases(setting, options.device, titles, ["free"] * len(pictures))
    labelled = []
    if photos is not None:
        shown: list[Shown] = ["local" if place < LOCAL else "no" for place in range(len(photos))]
        labelled = photos.cases(setting, options.device, titles, shown)[: setting.images]
    batch = options.batch or (200 if options.device.startswith("cuda") else None)
    settings = {"batch": batch, "half": options.half}
    if options.quick:
        return [CaseSet(setting, network, mark, (drawn + labelled)[: setting.images], options.methods, **settings)]
    both = tuple(key for key in DRAWN if options.methods is None or key in options.methods)
    return [
        CaseSet(setting, network, mark, drawn, both, name="scikit-image", tabled=False, **settings),
        CaseSet(setting, network, mark, labelled, options.methods, **settings),
    ]


def class_names(folder: Path | None) -> list[str]:
    """ImageNet's class names where they are at hand, numbers where not."""
    file = data_folder(folder) / "inception-v3" / "labels.txt"
    if not file.is_file():
        return [str(label) for label in range(1000)]
    return file.read_text(encoding="utf-8").splitlines()[1:]
