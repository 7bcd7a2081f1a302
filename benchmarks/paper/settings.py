"""How every data set is measured: the paper's settings, and their quick form."""

from dataclasses import dataclass, replace
from typing import Any

import geex
from geex._problem.baselines import Baseline

# The pictures in which methods are shown side by side, as in the paper.
DRAWN = ("ig", "geex-half", "rise")
BUDGETS = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


@dataclass(frozen=True)
class Setting:
    """One data set's settings.

    sigma: of GE and GEEX, as the paper states it; the other reading is half of it.
    baseline: of every method that has one. smooth, shared: of the noise of GE and GEEX.
    step: pixels per step of deletion. replacement: deviation of the Gaussian replacement.
    """

    name: str
    title: str
    sigma: float
    baseline: Baseline = 0.0
    smooth: tuple[int, float] | None = None
    shared: int | None = None
    queries: int = 5000
    step: int = 1
    replacement: float = 1.0
    ig_steps: int = 300
    sg_samples: int = 50
    superpixels: int = 50
    cells: int = 7
    keep: float = 0.5
    images: int = 200
    curve: int = 0
    budgets: tuple[int, ...] = BUDGETS

    def common(self) -> dict[str, Any]:
        """What every result of this data set depends on, in values that JSON can hold."""
        return {
            "score": "softmax probability of the predicted class",
            "baseline": repr(self.baseline),
            "features": repr(geex.Pixels(channels=0)),
            "step": self.step,
            "replacement": self.replacement,
        }


MNIST = Setting("mnist", "CNN (MNIST)", sigma=1.0)
FASHION = replace(MNIST, name="fashion-mnist", title="CNN (Fashion-MNIST)")
INCEPTION = Setting(
    "inception",
    "Inception V3 (ImageNet)",
    sigma=0.3,
    baseline=geex.blur(31, 5.0),
    smooth=(5, 0.7),
    step=500,
    replacement=0.5,
    ig_steps=50,
    images=60,
    curve=20,
)
FULL = {setting.name: setting for setting in (MNIST, FASHION, INCEPTION)}

QUICK = {
    "mnist": replace(MNIST, images=30, step=8),
    "fashion-mnist": replace(FASHION, images=30, step=8),
    "inception": replace(INCEPTION, images=3, queries=200, step=6000, ig_steps=20, sg_samples=10, curve=0),
}
REDUCTIONS = (
    "30 images instead of 200 for each grey data set, and 8 pixels for each step of deletion instead of 1",
    "Inception V3: the three pictures of scikit-image instead of 60 labelled photos; 200 queries instead of 5000; "
    "6000 pixels for each step of deletion instead of 500; IG with 20 steps instead of 50; SG with 10 samples instead "
    "of 50; no figure of AOPC against queries",
)
