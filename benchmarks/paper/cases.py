"""Cases (explicands with class, baseline and number), in sets with their network."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.paper.settings import Setting

Shown = Literal["no", "local", "free"]


@dataclass(frozen=True, eq=False)
class Case:
    """One explicand.

    x: (channels, height, width) on its device. target: the predicted class, which is correct.
    seed: the image's number; the noise of every method and of the replacement comes from it.
    segments: LIME's superpixels, if precomputed.
    shown: whether it is in a picture, one that may be redistributed ("free") or not ("local").
    """

    name: str
    seed: int
    x: Tensor
    target: int
    baseline: Any
    label: str = ""
    segments: np.ndarray | None = None
    shown: Shown = "no"


@dataclass(frozen=True, eq=False)
class CaseSet:
    """Cases, the network that they are cases of, and how they are measured.

    network: (n, *shape) to logits (n, k). digest: identifies the network.
    methods: the rows of the table to measure; None: all. batch: rows per call of the network.
    half: run the network in 16-bit floats (except for white boxes).
    threads: of PyTorch on a CPU; None: its default.
    name: key of the results; by default the setting's name. note: remarks on the network.
    tabled: whether there is a table of it.
    """

    setting: Setting
    network: Callable[[Tensor], Tensor]
    digest: str
    cases: list[Case]
    methods: tuple[str, ...] | None = None
    batch: int | None = None
    half: bool = False
    threads: int | None = None
    name: str = ""
    note: str = ""
    tabled: bool = True

    @property
    def data(self) -> str:
        """The key of the results."""
        return self.name or self.setting.name


def digest(module: nn.Module) -> str:
    """Return twelve digits that identify a network."""
    state = hashlib.sha256(json.dumps([(name, list(t.shape)) for name, t in module.state_dict().items()]).encode())
    for tensor in module.state_dict().values():
        state.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return state.hexdigest()[:12]


@torch.no_grad()
def predicted(network: Callable[[Tensor], Tensor], images: Tensor, batch: int = 16) -> Tensor:
    """The largest output for each of images (n, *shape)."""
    return torch.cat([network(part).argmax(1) for part in torch.split(images, batch)])


def first_of_each(labels: Iterable[int], selected: Iterable[int]) -> dict[int, int]:
    """Return the first place of each of the selected labels: place -> label."""
    labels = list(labels)
    return {labels.index(label): label for label in selected if label in labels}
