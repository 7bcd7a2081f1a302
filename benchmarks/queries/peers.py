"""The default of `geex.explain`, and other libraries' methods, as explainers with a budget of model evaluations.

All hide with the case's baseline. Other libraries' methods explain the probability of the class. captum and shap are
imported at their first use.
"""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from math import isqrt
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch
from torch import Tensor

import geex
from benchmarks.paper.cases import Case
from benchmarks.paper.contenders import PIXELS, Model, probabilities
from geex._arrays.arrays import Shape, host, like, working
from geex._explain.defaults import defaults
from geex._problem.baselines import baselines
from geex._problem.outputs import Score
from geex._protocols import Method

# captum imports these for pictures; empty modules replace missing ones, since nothing is drawn here
DRAWING = {
    "matplotlib": ("", ".axes", ".cm", ".collections", ".colors", ".figure", ".image", ".pyplot"),
    "mpl_toolkits": ("", ".axes_grid1"),
    "PIL": ("", ".Image"),
}


class Counted:
    """The probability of a case's class, (n, *shape) to (n,), and of all classes; `rows` counts evaluations."""

    def __init__(self, network: Model, target: int, half: bool) -> None:
        self.model, self.target, self.rows = probabilities(network, half), target, 0

    def classes(self, queries: Tensor) -> Tensor:
        self.rows += len(queries)
        return self.model(queries)

    def __call__(self, queries: Tensor) -> Tensor:
        return self.classes(queries)[:, self.target]


@dataclass(frozen=True)
class Budgeted:
    """An explainer with at most `queries` evaluations."""

    queries: int = 0

    @property
    def cost(self) -> int:
        return self.queries

    def facts(self) -> dict[str, Any]:
        return {"method": repr(self), "queries": self.queries}


@dataclass(frozen=True)
class Default(Budgeted):
    """`geex.explain` as it comes, or with another method or score. shape: of what is explained."""

    shape: Shape = (1, 28, 28)
    method: Method | None = None
    score: Score = None
    journal: Path | None = None

    def facts(self) -> dict[str, Any]:
        usual = defaults(self.shape, PIXELS)
        method = f"geex.explain(score={self.score or usual.score!r}), {self.method or usual.method!r}"
        return {"method": method, "queries": self.queries}

    def __call__(self, model: Counted, case: Case, batch: int | None) -> geex.Explanation:
        return geex.explain(
            model.classes,
            case.x,
            target=case.target,
            baseline=case.baseline,
            features=PIXELS,
            method=self.method,
            queries=self.queries,
            score=self.score,
            seed=case.seed,
            batch=batch,
            progress=False,
            journal=self.journal,
            limits=geex.Limits(compare=False),  # one model: budgets that share a journal stay exact
        )


@dataclass(frozen=True)
class Occlusion(Budgeted):
    """captum's, at as many places as the budget allows."""

    def __call__(self, model: Counted, case: Case, batch: int | None) -> Tensor:
        channels, side = int(case.x.shape[0]), int(case.x.shape[-1])
        stride, window = strides(side, self.queries - 1)
        settings = {
            "sliding_window_shapes": (channels, window, window),
            "strides": (channels, stride, stride),
            "perturbations_per_eval": batch or 100,
        }
        return captum_values("Occlusion", model, case.seed, case.x, absence(case), settings).sum(0)


@dataclass(frozen=True)
class KernelShap(Budgeted):
    """captum's, on a grid of cells, at most `most` along a side."""

    most: int = 7

    def __call__(self, model: Counted, case: Case, batch: int | None) -> Tensor:
        return _on_cells("KernelShap", model, case, cells_of(self.queries, self.most), self.queries, batch)


@dataclass(frozen=True)
class ShapleySampling(Budgeted):
    """captum's ShapleyValueSampling, on a grid of cells, at most `most` along a side."""

    most: int = 7

    def __call__(self, model: Counted, case: Case, batch: int | None) -> Tensor:
        side = cells_of(self.queries, self.most)
        return _on_cells("ShapleyValueSampling", model, case, side, (self.queries - 1) // side**2, batch)


@dataclass(frozen=True)
class Partition(Budgeted):
    """shap's PartitionExplainer over halves of halves of the image, hidden by the baseline. It runs on the CPU."""

    def __call__(self, model: Counted, case: Case, batch: int | None) -> np.ndarray:
        import shap

        def answers(images: np.ndarray) -> np.ndarray:
            return host(model(like(np.moveaxis(images, -1, 1), case.x, case.x.dtype)))[:, None]

        image, absent = (np.moveaxis(host(array), 0, -1) for array in (case.x, absence(case)))
        masker = shap.maskers.Image(np.ascontiguousarray(absent), image.shape)
        explainer = shap.PartitionExplainer(answers, masker)
        found = explainer(image[None], max_evals=self.queries, batch_size=batch or 100, silent=True)
        return found.values.reshape(image.shape).sum(-1)


def absence(case: Case) -> Tensor:
    """The baseline as an image."""
    return baselines(case.baseline, working(case.x), PIXELS)[0].to(case.x.dtype)


def strides(side: int, most: int) -> tuple[int, int]:
    """Stride and width of a window that slides over at most `most` places, and as many as can be.

    It is a seventh of the side or a stride, whichever is more, or up to twice that where places fit better.
    """
    found = []
    for stride in range(1, side // 2):
        least = max(stride, side // 7)
        for window in range(least, 2 * least + 1):
            places = 1 - (window - side) // stride
            found += [(places, -window, stride)] if places**2 <= most else []
    _, window, stride = max(found)
    return stride, -window


def cells_of(queries: int, most: int) -> int:
    """Cells along a side, so many that there are two evaluations for each or more."""
    return min(most, isqrt((queries - 2) // 2))


def _on_cells(name: str, model: Counted, case: Case, side: int, samples: int, batch: int | None) -> Tensor:
    """A captum method on side² cells, each 1 where it shows and 0 where not: every pixel has its cell's value.

    The same as captum's feature_mask, which it reads element by element.
    """
    rows, columns = (torch.arange(n, device=case.x.device) * side // n for n in case.x.shape[1:])
    cell, absent = rows[:, None] * side + columns, absence(case)

    def shown(cells: Tensor) -> Tensor:
        return model(torch.where(cells[:, None, cell] > 0.5, case.x, absent))

    ones = torch.ones(side**2, device=case.x.device)
    settings = {"n_samples": samples, "perturbations_per_eval": batch or 100}
    return captum_values(name, shown, case.seed, ones, 0 * ones, settings)[cell]


@torch.no_grad()
def captum_values(name: str, model: Model, seed: int, x: Tensor, absent: Tensor, settings: dict[str, Any]) -> Tensor:
    """A captum method's values, in the shape of x."""
    for package in [package for package in DRAWING if package not in sys.modules and find_spec(package) is None]:
        sys.modules.update({f"{package}{name}": MagicMock(__spec__=None) for name in DRAWING[package]})
    import captum.attr

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (captum draws from it)
        return getattr(captum.attr, name)(model).attribute(x[None], baselines=absent[None], **settings)[0]
