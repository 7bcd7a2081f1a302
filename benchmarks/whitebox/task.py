"""A module that is asked for scores and their gradients, and the explanation that is made of them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from geex._arrays.arrays import Array, as_explicand, library, working
from geex._arrays.validation import whole
from geex._problem.baselines import Baseline, baselines
from geex._problem.declared import Call, declared
from geex._problem.estimand import Estimand
from geex._problem.features import Elements, checked
from geex._problem.outputs import SCORES, Score, Target, check_score, checked_target, scored, target_indices
from geex._protocols import Features
from geex._results.explanation import Explanation, completed
from geex._results.settings import Settings
from geex._version import __version__
from geex.errors import AnswerError, BudgetError, ExplicandError, InputError, ModelError, ModelRaised

Module = Callable[[Any], Any]

# Less than `ask` sends at a time: to differentiate, a network keeps activations of some hundred times its input.
BATCH_BYTES = 8 * 2**20
MOST_ROWS = 256


class Model:
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
class Task:
    """The explicand and baselines in the working type, the model, and f at both ends (1 + baselines, targets)."""

    explicand: Array
    baselines: list[Array]
    features: Features
    model: Model
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
        estimand: Estimand,
        method: Call,
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
            freedom=float("inf"),
            estimand=estimand,
            settings=self._settings(method, sigma, seed),
            explicand=self.explicand,
            features=self.features,
        )

    def _settings(self, method: Call, sigma: float | None, seed: int | None) -> Settings:
        return Settings(
            method=method,
            features=declared(self.features),
            score=declared(self.model.score),
            baselines=len(self.baselines),
            seed=seed,
            sigma=(sigma,),
            library=library(self.explicand),
            version=__version__,
        )


def prepare(
    module: Module,
    x: Any,
    target: Target,
    score: Score,
    features: Features | None,
    baseline: Baseline,
    batch: int | None = None,
) -> Task:
    """Checks the arguments, and asks for f(x) and f(x̊)."""
    if not isinstance(x, torch.Tensor):
        raise ExplicandError(f"x is {type(x).__name__}; wanted a PyTorch tensor, such as torch.as_tensor(x).")
    array = as_explicand(x)
    _check_module(module)
    target = checked_target(target)
    check_score(score)
    explicand = working(array)
    features = checked(Elements() if features is None else features, tuple(explicand.shape))
    starts = baselines(baseline, explicand, features)
    rows = _default_batch(explicand) if batch is None else whole("batch", batch, 1, BudgetError)
    model = Model(module, score, array.dtype if array.is_floating_point() else explicand.dtype, rows)
    with torch.no_grad():
        points = torch.stack([explicand, *starts])
        ends = scored(torch.cat([model.answers(part) for part in torch.split(points, rows)]), score)
    if not bool(torch.isfinite(ends).all()):
        raise AnswerError("the module's answer for x or the baseline is not finite; wanted finite numbers.")
    targets, several = target_indices(target, ends[0, :])
    return Task(explicand, starts, features, model, targets, several, ends[:, targets])


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
def differentiable() -> Iterator[None]:
    """Gradients are recorded, whatever context the caller is in."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def _default_batch(explicand: Array) -> int:
    return max(1, min(MOST_ROWS, BATCH_BYTES // int(prod(explicand.shape) * explicand.itemsize)))
