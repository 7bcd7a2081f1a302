"""Cases of MNIST and Fashion-MNIST: the first test images that a network classifies right."""

from pathlib import Path

import torch

from benchmarks.data import CLASSES, images, normalise
from benchmarks.paper.cases import Case, CaseSet, Shown, digest, first_of_each, predicted
from benchmarks.paper.options import Options
from benchmarks.paper.settings import Setting
from benchmarks.train import CNN, accuracy, load

# Fashion-MNIST may be redistributed (MIT); MNIST's pictures stay in local output. Classes as in the paper's figure.
SHOWN = {"fashion-mnist": (1, 3, 8, 9), "mnist": (0, 3, 4, 8)}
KIND: dict[str, Shown] = {"fashion-mnist": "free", "mnist": "local"}


def grey(setting: Setting, options: Options) -> CaseSet:
    """The set of a grey data set; its network is trained first where it is not there yet."""
    network = load(setting.name, options.data)
    mark, share = digest(network), accuracy(network, setting.name, options.data)
    network = network.to(options.device)
    chosen = cases(setting, network, options.data, options.device)
    # For so small a network one thread is as fast as two, and far faster where cores are shared.
    note = f"trained by benchmarks.train; test accuracy {share:.2%}"
    return CaseSet(setting, network, mark, chosen, options.methods, threads=1, note=note)


def cases(setting: Setting, network: CNN, folder: Path | None, device: str) -> list[Case]:
    pixels, labels = images(setting.name, "test", folder)
    inputs = torch.from_numpy(normalise(pixels[: 4 * setting.images])).to(device)
    right = (predicted(network, inputs, 500).cpu().numpy() == labels[: len(inputs)]).nonzero()[0][: setting.images]
    shown = first_of_each(labels[right], SHOWN[setting.name])
    return [
        Case(
            name=f"{number:05d}",
            seed=int(number),
            x=inputs[number],
            target=int(labels[number]),
            baseline=setting.baseline,
            label=CLASSES[labels[number]] if setting.name == "fashion-mnist" else str(labels[number]),
            shown=KIND[setting.name] if place in shown else "no",
        )
        for place, number in enumerate(right)
    ]
