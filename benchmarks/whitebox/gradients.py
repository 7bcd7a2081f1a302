"""Gradients at x, around x and on the path to x.

gradient               ∇f(x)
smoothgrad             1/n Σ_i ∇f(x + σ ε_i)
integrated_gradients   (x − x̊) ∘ Σ_j w_j ∇f(x(α_j)),  α and w of Gauss and Legendre on [0, 1]
"""

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
import torch

from benchmarks.whitebox.task import Module, differentiable, prepare
from geex._arrays.arrays import Array, like
from geex._arrays.random_stream import Stream
from geex._arrays.validation import whole
from geex._plan.path import on_path
from geex._problem.baselines import Baseline
from geex._problem.declared import Call
from geex._problem.estimand import Additive, Estimand, Quantity, Unit
from geex._problem.outputs import Score, Target
from geex._protocols import Features
from geex._results.explanation import Explanation
from geex.errors import BudgetError, InputError, MethodError


def gradient(
    module: Module,
    x: Any,
    *,
    target: Target = None,
    score: Score = None,
    features: Features | None = None,
    baseline: Baseline = None,
    times_input: bool = False,
) -> Explanation:
    """The gradient at x.

    module: from a batch (n, *x.shape) to (n,) or (n, k), in PyTorch. x: one tensor, without a batch axis.
    target, score, features, baseline: as for `geex.explain`.
    times_input: multiply by x − x̊. Without it the baseline counts for f(x̊) alone.
    """
    task = prepare(module, x, target, score, features, baseline)
    with differentiable():
        (slopes,) = task.model.gradients([task.explicand[None, ...]], task.targets)
    return task.explanation(
        task.total(slopes * task.reach(times_input))[:, 0, :],
        estimand=_slopes("The gradient at x of f", times_input),
        method=_call("gradient", times_input=times_input),
    )


def smoothgrad(
    module: Module,
    x: Any,
    *,
    target: Target = None,
    score: Score = None,
    features: Features | None = None,
    baseline: Baseline = None,
    sigma: float | None = None,
    samples: int = 50,
    seed: int = 0,
    times_input: bool = False,
    batch: int | None = None,
) -> Explanation:
    """SmoothGrad: the mean gradient at `samples` places around x, with its standard error over them.

    sigma: the standard deviation of the noise. None: 0.15 of the range of x.
    batch: rows that are differentiated at a time. None: what 8 MB hold, 256 at most.
    The rest is as for `gradient`.
    """
    samples, seed = whole("samples", samples, 1, BudgetError), whole("seed", seed, 0, InputError)
    task = prepare(module, x, target, score, features, baseline, batch)
    sigma = _deviation(sigma, task.explicand)
    points = (
        torch.stack([task.explicand + sigma * Stream(seed, (1, i), task.explicand).normal(task.shape) for i in part])
        for part in _cut(range(samples), task.model.batch)
    )
    with differentiable():
        reach = task.reach(times_input)
        mean = _Mean()
        for slopes in task.model.gradients(points, task.targets):
            mean.add(task.total(slopes * reach))
    return task.explanation(
        mean.values,
        *mean.stderr(),
        estimand=_slopes(
            f"The gradient at x of J, f averaged over Gaussian noise of deviation {sigma:.4g}", times_input
        ),
        method=_call("smoothgrad", sigma=sigma, samples=samples, times_input=times_input),
        sigma=sigma,
        seed=seed,
    )


def integrated_gradients(
    module: Module,
    x: Any,
    *,
    target: Target = None,
    score: Score = None,
    features: Features | None = None,
    baseline: Baseline = None,
    steps: int = 50,
    batch: int | None = None,
) -> Explanation:
    """Integrated gradients: the path integral from the baseline to x, by quadrature at `steps` places.

    A list of baselines is averaged over. The rest is as for `gradient` and `smoothgrad`. On a GPU, convolutions in TF32
    (PyTorch's default for float32) move kinks and with them single values by about a hundredth, depending on the batch;
    torch.backends.cudnn.allow_tf32 = False mends that.
    """
    steps = whole("steps", steps, 1, BudgetError)
    task = prepare(module, x, target, score, features, baseline, batch)
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    alphas = list(like((1 + nodes) / 2, task.explicand).split(task.model.batch))
    shares = []
    with differentiable():
        for start in task.baselines:
            slopes = task.model.gradients((on_path(task.explicand, start, alpha) for alpha in alphas), task.targets)
            parts = zip(slopes, like(weights / 2, task.explicand, torch.float64).split(task.model.batch), strict=True)
            integral = sum(torch.einsum("kn...,n->k...", slope, weight) for slope, weight in parts)
            shares.append(integral * (task.explicand - start))
    return task.explanation(
        task.total((sum(shares) / len(shares))[:, None, ...])[:, 0, :],
        estimand=Estimand(
            Quantity.OWN,
            Additive.WITHIN_ERROR,
            text=(
                f"(x − x̊) times the path integral from the baseline to x of the gradient of f, by quadrature at {steps}"
                " places. The gap is the quadrature's error."
            ),
        ),
        method=_call("integrated_gradients", steps=steps),
    )


class _Mean:
    """Mean of terms (k, n, p) over n and its standard error, in pieces.

    Squares are taken around the first term, so that terms that are all alike have a variance of exactly 0.
    """

    def __init__(self) -> None:
        self.count = 0

    def add(self, terms: Array) -> None:
        if self.count == 0:
            self.first = terms[:, :1, :]
            self.total, self.square, self.sum_square = (terms[:, 0, :] * 0, terms[:, 0, :] * 0, terms[:, 0, 0] * 0)
        apart = terms - self.first
        self.count += int(terms.shape[1])
        self.total = self.total + apart.sum(1)
        self.square = self.square + (apart**2).sum(1)
        self.sum_square = self.sum_square + (apart.sum(2) ** 2).sum(1)

    @property
    def values(self) -> Array:
        return self.first[:, 0, :] + self.total / self.count

    def stderr(self) -> tuple[Array, Array]:
        """Of every value (k, p), and of their sum (k,)."""
        return self._stderr(self.total, self.square), self._stderr(self.total.sum(1), self.sum_square)

    def _stderr(self, total: Array, square: Array) -> Array:
        if self.count < 2:
            return total * torch.nan
        variance = (square - total**2 / self.count).clamp(min=0) / (self.count - 1)
        return (variance / self.count).sqrt()


def _call(name: str, **settings: Any) -> Call:
    return Call(name, "benchmarks.whitebox", (), tuple(settings.items()))


def _slopes(what: str, times_input: bool) -> Estimand:
    if times_input:
        return Estimand(Quantity.OWN, text=f"(x − x̊) times: {what}. They add up where f is linear.")
    return Estimand(Quantity.OWN, unit=Unit.SCORE_PER_INPUT, text=f"{what}, which is a slope.")


def _deviation(sigma: float | None, explicand: Array) -> float:
    if sigma is None:
        return 0.15 * float(explicand.max() - explicand.min()) or 0.15
    if isinstance(sigma, bool) or not isinstance(sigma, int | float) or not sigma > 0 or not isfinite(sigma):
        raise MethodError(
            f"sigma is {sigma!r}; wanted a positive number, the standard deviation of the noise, or None."
        )
    return float(sigma)


def _cut(places: range, size: int) -> Iterator[range]:
    return (places[start : start + size] for start in range(0, len(places), size))
