"""The methods of the table, each as a function from a case to values of its pixels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

import geex
from benchmarks.paper.cases import Case
from benchmarks.paper.settings import Setting
from benchmarks.whitebox.gradients import integrated_gradients, smoothgrad
from geex._protocols import Method
from geex.methods import GE
from geex.methods.lime import LIME
from geex.methods.random import Random
from geex.methods.rise import RISE

Model = Callable[[Tensor], Tensor]
PIXELS = geex.Pixels(channels=0)


class Explainer(Protocol):
    """Explains one case."""

    @property
    def cost(self) -> int:
        """About how many rows the network evaluates."""
        ...

    def facts(self) -> dict[str, Any]:
        """Everything that determines the values, as JSON values."""
        ...

    def __call__(self, model: Model, case: Case, batch: int | None) -> geex.Explanation: ...


@dataclass(frozen=True)
class BlackBox:
    """A method of `geex.explain` with its budget. `journal` keeps the answers for a larger one."""

    method: Method
    queries: int
    journal: Path | None = None

    @property
    def cost(self) -> int:
        return 2 if isinstance(self.method, Random) else self.queries

    def facts(self) -> dict[str, Any]:
        return {"method": repr(self.method), "queries": self.cost}

    def __call__(self, model: Model, case: Case, batch: int | None) -> geex.Explanation:
        method = self.method
        if isinstance(method, LIME) and case.segments is not None:
            method = replace(method, segments=case.segments)
        found = geex.explain(
            model,
            case.x,
            baseline=case.baseline,
            method=method,
            queries=self.queries,
            limits=geex.Limits(twice=False, compare=False),
            features=PIXELS,
            seed=case.seed,
            batch=batch,
            progress=False,
            journal=self.journal,
        )
        if found.partial:  # Ctrl-C: a row of the table is whole or missing
            raise KeyboardInterrupt
        return found


@dataclass(frozen=True)
class SmoothGrad:
    """Mean gradients around x; `deviation` is a part of the range of x."""

    samples: int
    deviation: float = 0.15
    times_input: bool = False

    @property
    def cost(self) -> int:
        return 3 * self.samples

    def facts(self) -> dict[str, Any]:
        return {"method": repr(self)}

    def __call__(self, model: Model, case: Case, batch: int | None) -> geex.Explanation:
        return smoothgrad(
            model,
            case.x,
            features=PIXELS,
            baseline=case.baseline,
            sigma=self.deviation * float(case.x.max() - case.x.min()),
            samples=self.samples,
            seed=case.seed,
            times_input=self.times_input,
            batch=gradient_batch(batch),
        )


@dataclass(frozen=True)
class IntegratedGradients:
    """The path integral by Gauss and Legendre."""

    steps: int

    @property
    def cost(self) -> int:
        return 3 * self.steps

    def facts(self) -> dict[str, Any]:
        return {"method": repr(self)}

    def __call__(self, model: Model, case: Case, batch: int | None) -> geex.Explanation:
        settings = {"features": PIXELS, "baseline": case.baseline, "steps": self.steps}
        return integrated_gradients(model, case.x, **settings, batch=gradient_batch(batch))


@dataclass(frozen=True)
class Contender:
    """One row of the table. `column` is its name in the paper's table, None for what the paper does not have."""

    key: str
    title: str
    column: str | None
    explain: Explainer


def contenders(setting: Setting) -> list[Contender]:
    """All rows of the table, the cheap ones first."""
    half, stated = setting.sigma / 2, setting.sigma
    noise: dict[str, Any] = {"smooth": setting.smooth, "shared": setting.shared}

    def black_box(method: Method) -> BlackBox:
        return BlackBox(method, setting.queries)

    return [
        Contender("sg", "SG", "SG", SmoothGrad(setting.sg_samples)),
        Contender("sg-input", "SG × (x − x̊)", None, SmoothGrad(setting.sg_samples, times_input=True)),
        Contender("ig", "IG", "IG", IntegratedGradients(setting.ig_steps)),
        Contender("rise", "RISE", "RISE", black_box(RISE(setting.cells, setting.keep))),
        Contender("lime", "LIME", "LIME", black_box(LIME(superpixels=setting.superpixels))),
        Contender("ge-half", f"GE, σ {half:g}", "GE", black_box(GE(half, **noise))),
        Contender("ge", f"GE, σ {stated:g}", "GE", black_box(GE(stated, **noise))),
        Contender("geex-half", f"GEEX, σ {half:g}", "GEEX", black_box(geex.GEEX(half, **noise))),
        Contender("geex", f"GEEX, σ {stated:g}", "GEEX", black_box(geex.GEEX(stated, **noise))),
        Contender("random", "Random", "Random", black_box(Random())),
    ]


def gradient_batch(batch: int | None) -> int | None:
    """Return the rows to differentiate at a time: stored activations use some four times the memory."""
    return None if batch is None else max(1, batch // 4)


def probabilities(network: Callable[[Tensor], Tensor], half: bool = False) -> Model:
    """The softmax probabilities of all classes, (n, *shape) to (n, k), in float64; `half`: the network in 16 bits."""

    def model(queries: Tensor) -> Tensor:
        with torch.autocast(queries.device.type, torch.float16, enabled=half):
            logits = network(queries)
        return torch.softmax(logits.double(), dim=1)

    return model


def probability(network: Callable[[Tensor], Tensor], target: int, half: bool = False) -> Model:
    """The softmax probability of one class, (n, *shape) to (n,)."""
    model = probabilities(network, half)
    return lambda queries: model(queries)[:, target]
