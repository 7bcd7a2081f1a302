"""The parts of a curve: x, its replacement, and the order in which features change, checked before the first query."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_explicand, host, like, namespace, working
from geex._arrays.scalars import scalar
from geex._arrays.validation import is_whole, whole
from geex._problem.baselines import Baseline, baselines
from geex._problem.outputs import AUTO, Score, check_score, curve_score
from geex._problem.table.columns import TableModel
from geex._protocols import Features
from geex._results.explanation import Explanation
from geex.errors import BaselineError, BudgetError, InputError, TargetError
from geex.evaluate.order import attributions, element_ranks, features_of
from geex.models.scikit_learn import as_model

# How far x may differ from the explained x after a conversion to another type, relative to its largest value.
CONVERSION_ERROR = 1e-3


@dataclass(frozen=True, eq=False)
class Walk:
    """The parts of a curve, checked before the first query: arrays in the shape of x, on its device."""

    explicand: Array
    replacement: Array
    ranks: Array
    counts: np.ndarray
    target: int | None
    score: Score
    batch: int | None

    def images(self, before: Array, after: Array, batch: int) -> Iterator[Array]:
        """Yield `before` with the first counts[i] features of `after`, in batches (≤ batch, *shape)."""
        xp = namespace(self.ranks)
        ones = (1,) * len(self.ranks.shape)
        for start in range(0, len(self.counts), batch):
            counts = like(self.counts[start : start + batch], self.ranks)
            yield xp.where(self.ranks[None, ...] < xp.reshape(counts, (-1, *ones)), after, before)


def checked_walk(
    x: Any,
    values: Any,
    target: int | None,
    score: Score,
    features: Features | None,
    replacement: Baseline | None,
    step: int,
    batch: int | None,
) -> Walk:
    array = as_explicand(x)
    explicand = working(array)
    xp, shape = namespace(array), tuple(int(n) for n in array.shape)
    dtype = array.dtype if xp.isdtype(array.dtype, "real floating") else explicand.dtype
    given = attributions(values)
    if isinstance(values, Explanation):
        _same(values, explicand)
    features = features_of(values, features, shape, given.shape)
    check_score(score)
    return Walk(
        explicand=xp.astype(explicand, dtype),
        replacement=xp.astype(_replacement(replacement, values, explicand, features), dtype),
        ranks=like(element_ranks(given, features, shape), explicand, xp.int64),
        counts=_counts(given.size, whole("step", step, 1, InputError)),
        target=_target(target, values),
        score=_score(score, values),
        batch=None if batch is None else whole("batch", batch, 1, BudgetError),
    )


def in_codes(model: Any, x: Any, values: Any) -> tuple[Any, Any]:
    """Return the model and x as arrays: an estimator as a callable, and a row of cells as its codes."""
    record = values.record if isinstance(values, Explanation) else None
    model = as_model(model)
    if record is None or record.task.columns is None:
        return model, x
    model = TableModel(model, record.task.columns)
    return model, model.codes(x)


def _score(score: Score, values: Any) -> Score:
    """Return the score of the curve: by default that of the Explanation, with probabilities in place of log-odds."""
    if score is None and isinstance(values, Explanation):
        score = curve_score(_own(values))
    return curve_score(score) if score == AUTO else score


def _own(explanation: Explanation) -> Score:
    """Return the score of an Explanation, saved ones included."""
    if explanation.record is not None:
        return explanation.record.task.score
    score = explanation.settings.score
    if score is not None and not isinstance(score, str):
        raise InputError(
            f"The explanation has a score of your own, {score}, which a file cannot hold.",
            code="score-not-stored",
            fix="Pass it as score=….",
        )
    return score


def _same(explanation: Explanation, explicand: Array) -> None:
    """Raise InputError if an Explanation is of another x."""
    if explanation.explicand is None:
        return
    own, given = (host(array).astype(np.float64) for array in (explanation.explicand, explicand))
    if own.shape != given.shape or not np.allclose(
        own, given, rtol=CONVERSION_ERROR, atol=CONVERSION_ERROR * np.abs(own).max()
    ):
        raise InputError(
            "`values` must be an explanation of this x; got one of another x.",
            code="values-of-another-input",
            fix="Pass explanation.values to test them on this x.",
        )


def _counts(size: int, step: int) -> np.ndarray:
    """Return how many features are removed after steps 1 … l."""
    return np.minimum(np.arange(1, -(-size // step) + 1) * step, size)


def _target(target: Any, values: Any) -> int | None:
    if target is None and isinstance(values, Explanation):
        target = values.target
    if target is None:
        return None
    target = scalar(target)
    if not is_whole(target):
        raise TargetError(
            f"`target` must be one whole number, or None for the largest output; got {target!r}.",
            code="target-not-whole",
        )
    return int(target)


def _replacement(spec: Baseline | None, values: Any, explicand: Array, features: Features) -> Array:
    if spec is None:
        known = values.baseline if isinstance(values, Explanation) else None
        spec = 0.0 if known is None else like(host(known), explicand)
    if isinstance(spec, list | tuple):
        raise BaselineError(
            f"`replacement` must be one number, an array or a rule such as geex.blur(…); got a {type(spec).__name__} "
            f"of {len(spec)}. Pass an array as np.asarray(replacement).",
            code="replacement-is-a-list",
        )
    try:
        return baselines(spec, explicand, features)[0]
    except BaselineError as error:
        raise BaselineError(f"`replacement` is not usable. {error}", code=error.code) from error
