"""White-box references for PyTorch models: what a black box is measured against.

    gradient               ∇f(x)
    smoothgrad             1/n Σ_i ∇f(x + σ ε_i)
    integrated_gradients   (x − x̊) ∘ Σ_j w_j ∇f(x(α_j)),  α and w of Gauss and Legendre on [0, 1]
    lrp                    f(x) handed back layer by layer, by the rules of captum

They return what `geex.explain` returns, and `queries` counts the rows that went forward through the module. A group
of elements (`features`) has the sum of its elements' values.
"""

import copy
import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np

from geex.arrays import Array, Stream, as_explicand, library, like, working
from geex.baseline import Baseline, baselines
from geex.errors import (
    AnswerError,
    BudgetError,
    ExplicandError,
    FeaturesError,
    InputError,
    MethodError,
    MissingPackage,
    ModelError,
    ModelRaised,
)
from geex.explanation import Explanation, completed
from geex.features import Elements, Features
from geex.outputs import SCORES, Score, Target, check_score, check_target, chosen, scored
from geex.path import on_path

try:
    import torch
except ImportError as error:
    raise MissingPackage(
        "geex.whitebox differentiates PyTorch models, and torch is not installed: pip install torch"
    ) from error

__all__ = ["gradient", "integrated_gradients", "lrp", "smoothgrad"]

Module = Callable[[Any], Any]

# Less than `ask` sends at a time: to differentiate, a network keeps activations of some hundred times its input.
BATCH_BYTES = 8 * 2**20
MOST_ROWS = 256


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
    task = _prepare(module, x, target, score, features, baseline)
    with _differentiable():
        (slopes,) = task.model.gradients([task.explicand[None, ...]], task.targets)
    return task.explanation(
        task.total(slopes * task.reach(times_input))[:, 0, :],
        estimand=_slopes("The gradient at x of f", times_input),
        method=f"gradient(times_input={times_input})",
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
    samples, seed = _whole("samples", samples, 1), _whole("seed", seed, 0)
    task = _prepare(module, x, target, score, features, baseline, batch)
    sigma = _deviation(sigma, task.explicand)
    points = (
        torch.stack([task.explicand + sigma * Stream(seed, (1, i), task.explicand).normal(task.shape) for i in part])
        for part in _cut(range(samples), task.model.batch)
    )
    with _differentiable():
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
        method=f"smoothgrad(sigma={sigma!r}, samples={samples}, times_input={times_input})",
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

    A list of baselines is averaged over. The rest is as for `gradient` and `smoothgrad`.
    """
    steps = _whole("steps", steps, 1)
    task = _prepare(module, x, target, score, features, baseline, batch)
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    alphas = list(like((1 + nodes) / 2, task.explicand).split(task.model.batch))
    shares = []
    with _differentiable():
        for start in task.baselines:
            slopes = task.model.gradients((on_path(task.explicand, start, alpha) for alpha in alphas), task.targets)
            parts = zip(slopes, like(weights / 2, task.explicand, torch.float64).split(task.model.batch), strict=True)
            integral = sum(torch.einsum("kn...,n->k...", slope, weight) for slope, weight in parts)
            shares.append(integral * (task.explicand - start))
    return task.explanation(
        task.total((sum(shares) / len(shares))[:, None, ...])[:, 0, :],
        estimand=(
            f"(x − x̊) times the path integral from the baseline to x of the gradient of f, by quadrature at {steps} "
            "places. They add up to f(x) − f(x̊): the gap is the quadrature's error."
        ),
        method=f"integrated_gradients(steps={steps})",
    )


def lrp(
    module: Any,
    x: Any,
    *,
    target: Target = None,
    features: Features | None = None,
    baseline: Baseline = None,
) -> Explanation:
    """Layer-wise relevance propagation by captum, from the module's own output: there is no score to choose.

    A layer's rule is its attribute `rule`, such as captum's GammaRule(), else captum's ε-rule, with which layers
    of ReLUs have x times the gradient. Layers that captum knows no rule for raise MethodError. The module is left as
    it is: rules work on a copy. The baseline counts for f(x̊) alone.
    """
    task = _prepare(module, x, target, None, features, baseline)
    attribute = _relevance(module)
    several = task.model.width is not None
    with _differentiable():
        rows = [attribute(task.sent(), target if several else None) for target in task.targets]
    task.model.asked += 2 * len(rows)
    return task.explanation(
        task.total(torch.stack([row.double() for row in rows]))[:, 0, :],
        estimand=(
            "Relevance: f(x) handed back from layer to layer in proportion to what each input added, by captum's LRP. "
            "The values add up to f(x), not to f(x) − f(x̊), less what biases and the rules' stabilisers absorb."
        ),
        method="lrp()",
    )


class _Model:
    """A module that is asked for scores (n, k), differentiable in its input, `batch` rows at a time."""

    def __init__(self, module: Module, score: Score, dtype: Any, batch: int) -> None:
        self.module, self.score, self.dtype, self.batch = module, score, dtype, batch
        self.asked = 0
        self.width: int | None = None

    def answers(self, points: Array) -> Array:
        """What the module answers: (n, k) in float64. `width` is k, or None where it answers (n,)."""
        self.asked += int(points.shape[0])
        try:
            answer = self.module(points.to(self.dtype))
        except Exception as error:
            raise ModelRaised(
                f"the module raised {type(error).__name__}: {error}\n(asked a batch of shape {tuple(points.shape)} and "
                f"type {self.dtype}; x has no batch axis of its own)."
            ) from error
        count = int(points.shape[0])
        if not isinstance(answer, torch.Tensor) or answer.ndim not in (1, 2) or len(answer) != count:
            got = tuple(answer.shape) if isinstance(answer, torch.Tensor) else type(answer).__name__
            raise AnswerError(f"the module answered {got} to {count} rows; wanted a tensor ({count},) or ({count}, k).")
        self.width = None if answer.ndim == 1 else int(answer.shape[1])
        return answer.reshape(count, -1).double()

    def scores(self, points: Array) -> Array:
        """What is explained of them: (n, k')."""
        answers = self.answers(points)
        if self.score is None:
            return answers
        rule = SCORES[self.score] if isinstance(self.score, str) else self.score
        result = rule(answers)
        return result[:, None] if result.ndim == 1 else result

    def gradients(self, batches: Iterable[Array], targets: list[int]) -> Iterator[Array]:
        """∇ of every target at every point of a batch (n, *shape): (k, n, *shape) in float64."""
        for batch in batches:
            points = batch.detach().clone().requires_grad_(True)
            scores = self.scores(points)
            if not isinstance(scores, torch.Tensor) or not scores.requires_grad:
                raise ModelError(
                    "the module's answer or the score of it has no gradient (it was detached, rounded or computed "
                    "outside of PyTorch); wanted one that PyTorch can differentiate. geex.explain needs none."
                )
            slopes = [
                torch.autograd.grad(scores[:, j].sum(), points, retain_graph=True, materialize_grads=True)[0]
                for j in targets
            ]
            del scores
            yield torch.stack(slopes).double()


@dataclass(frozen=True, eq=False)
class _Task:
    """The explicand and baselines in the working type, the model, and f at both ends (1 + baselines, targets)."""

    explicand: Array
    baselines: list[Array]
    features: Features
    model: _Model
    targets: list[int]
    several: bool
    ends: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.explicand.shape)

    def sent(self) -> Array:
        """x as a batch of one, as the module gets it."""
        return self.explicand.to(self.model.dtype)[None, ...].clone().requires_grad_(True)

    def reach(self, times_input: bool) -> Array:
        """What slopes are multiplied by: x − x̊, the mean over baselines, or 1."""
        if not times_input:
            return torch.ones_like(self.explicand)
        return self.explicand - torch.stack(self.baselines).mean(0)

    def total(self, elements: Array) -> Array:
        """(k, n, *shape) -> (k, n, features)."""
        k, n = elements.shape[:2]
        return self.features.total(elements.reshape(k * n, *self.shape)).reshape(k, n, -1)

    def explanation(
        self,
        values: Array,
        stderr: Array | None = None,
        sum_stderr: Array | None = None,
        *,
        estimand: str,
        method: str,
        sigma: float | None = None,
        seed: int | None = None,
    ) -> Explanation:
        """The record of values (k, features); standard errors are NaN where there are none."""
        if not bool(torch.isfinite(values).all()):
            raise AnswerError("the gradient is not finite; wanted a module that is differentiable at and around x.")
        shape = (len(self.targets), *self.features.shape(self.shape))
        values = values.detach().reshape(shape)
        stderr = torch.full_like(values, torch.nan) if stderr is None else stderr.reshape(shape)
        output, base_value = self.ends[0, :], self.ends[1:, :].mean(0)
        gap = completed(values, base_value, output)
        gap_stderr = torch.full_like(gap, torch.nan) if sum_stderr is None else sum_stderr

        def one(array: Array) -> Array | float:
            return array if self.several else float(array[0])

        return Explanation(
            values=values if self.several else values[0, ...],
            stderr=stderr if self.several else stderr[0, ...],
            base_value=one(base_value),
            output=one(output),
            gap=one(gap),
            gap_stderr=one(gap_stderr),
            target=self.targets if self.several else self.targets[0],
            queries=self.model.asked,
            estimand=estimand,
            config=self._config(method, sigma, seed),
        )

    def _config(self, method: str, sigma: float | None, seed: int | None) -> dict[str, Any]:
        from geex import __version__

        score = self.model.score
        return {
            "method": method,
            "sigma": sigma,
            "features": repr(self.features),
            "score": score if isinstance(score, str) or score is None else repr(score),
            "seed": seed,
            "baselines": len(self.baselines),
            "library": library(self.explicand),
            "version": __version__,
        }


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


def _prepare(
    module: Module,
    x: Any,
    target: Target,
    score: Score,
    features: Features | None,
    baseline: Baseline,
    batch: int | None = None,
) -> _Task:
    """Checks the arguments, and asks for f(x) and f(x̊)."""
    if not isinstance(x, torch.Tensor):
        raise ExplicandError(f"x is {type(x).__name__}; wanted a PyTorch tensor, such as torch.as_tensor(x).")
    array = as_explicand(x)
    _check_module(module)
    check_target(target)
    check_score(score)
    explicand = working(array)
    features = Elements() if features is None else features
    if not hasattr(features, "total"):
        raise FeaturesError(f"features is {features!r}; wanted geex.Elements(), Pixels(channels=…) or Groups(map).")
    features.check(tuple(explicand.shape))
    starts = baselines(baseline, explicand, features)
    rows = _default_batch(explicand) if batch is None else _whole("batch", batch, 1)
    model = _Model(module, score, array.dtype if array.is_floating_point() else explicand.dtype, rows)
    with torch.no_grad():
        points = torch.stack([explicand, *starts])
        ends = scored(torch.cat([model.answers(part) for part in torch.split(points, rows)]), score)
    if not bool(torch.isfinite(ends).all()):
        raise AnswerError("the module's answer for x or the baseline is not finite; wanted finite numbers.")
    targets, several = chosen(target, ends[0, :])
    return _Task(explicand, starts, features, model, targets, several, ends[:, targets])


def _check_module(module: Any) -> None:
    if not callable(module):
        raise InputError(f"module is {module!r}; wanted a callable from a batch (n, *shape) to (n,) or (n, k).")
    if not isinstance(module, torch.nn.Module):
        return
    moody = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.dropout._DropoutNd)
    if any(layer.training and isinstance(layer, moody) for layer in module.modules()):
        raise InputError(
            "the module is in training mode, where dropout and batch norm change its answers; call module.eval()."
        )


@contextmanager
def _differentiable() -> Iterator[None]:
    """Gradients are recorded, whatever context the caller is in."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def _relevance(module: Any) -> Callable[[Array, int | None], Array]:
    """captum's LRP on a copy of the module: (x as a batch of one, target) -> relevance."""
    try:
        lrp_module = importlib.import_module("captum.attr._core.lrp")
        epsilon_rule = importlib.import_module("captum.attr._utils.lrp_rules").EpsilonRule
    except ImportError as error:
        raise MissingPackage(
            "lrp is captum's, which is not installed: pip install captum, or 'geex[whitebox]'."
        ) from error
    if not isinstance(module, torch.nn.Module):
        raise InputError(f"module is {type(module).__name__}; lrp goes through the layers of a torch.nn.Module.")

    def attribute(batch: Array, target: int | None) -> Array:
        network = _with_rules(module, lrp_module, epsilon_rule)
        try:
            return lrp_module.LRP(network).attribute(batch, target=target).detach()
        except RuntimeError as error:
            if "more than once" not in str(error):
                raise
            raise MethodError(
                f"captum's LRP wants every layer to be used once ({error}); give each use a layer of its own."
            ) from error

    return attribute


def _with_rules(module: Any, lrp_module: Any, epsilon_rule: Any) -> Any:
    """A copy of the module that captum's LRP can go through: linear layers that it leaves out have the ε-rule too."""
    network = torch.nn.Sequential(copy.deepcopy(module))
    unknown = []
    for name, layer in network[0].named_modules():
        if hasattr(layer, "inplace"):
            layer.inplace = False
        if next(layer.children(), None) is not None or hasattr(layer, "rule"):
            continue
        if type(layer) in _LINEAR:
            layer.rule = epsilon_rule()
        elif type(layer) not in {*lrp_module.SUPPORTED_LAYERS_WITH_RULES, *lrp_module.SUPPORTED_NON_LINEAR_LAYERS}:
            unknown.append(f"{name or 'the module itself'} ({type(layer).__name__})")
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise MethodError(
            f"captum's LRP has no rule for {', '.join(unknown[:5])}{more}. Give each a rule out of "
            "captum.attr._utils.lrp_rules (layer.rule = EpsilonRule() for a linear layer, IdentityRule() for an "
            "activation), or take integrated_gradients."
        )
    return network


_LINEAR = {
    getattr(torch.nn, name)
    for name in (
        *("Flatten", "Unflatten", "Identity", "Conv1d", "Conv3d", "BatchNorm1d", "BatchNorm3d"),
        *("AvgPool1d", "AvgPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool3d", "ZeroPad2d"),
    )
}


def _slopes(what: str, times_input: bool) -> str:
    if times_input:
        return f"(x − x̊) times: {what}. They add up to f(x) − f(x̊) where f is linear only."
    return f"{what}. Slopes do not add up to f(x) − f(x̊)."


def _deviation(sigma: float | None, explicand: Array) -> float:
    if sigma is None:
        return 0.15 * float(explicand.max() - explicand.min()) or 0.15
    if isinstance(sigma, bool) or not isinstance(sigma, int | float) or not sigma > 0 or not isfinite(sigma):
        raise MethodError(
            f"sigma is {sigma!r}; wanted a positive number, the standard deviation of the noise, or None."
        )
    return float(sigma)


def _default_batch(explicand: Array) -> int:
    return max(1, min(MOST_ROWS, BATCH_BYTES // int(prod(explicand.shape) * explicand.itemsize)))


def _cut(places: range, size: int) -> Iterator[range]:
    return (places[start : start + size] for start in range(0, len(places), size))


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        kind = InputError if name == "seed" else BudgetError
        raise kind(f"{name} is {value!r}; wanted a whole number of at least {least}.")
    return int(value.__index__())
