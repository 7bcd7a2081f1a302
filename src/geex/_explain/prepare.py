"""The arguments of `explain`, checked before the first query and made into a task."""

from typing import Any

from geex._arrays.arrays import Array, Shape, as_array, as_explicand, difference_overflows, like, namespace, working
from geex._arrays.validation import shown, whole
from geex._explain.defaults import QUERIES, defaults, looks_like_a_batch
from geex._explain.stop_rules import check_stop
from geex._problem.background import Background
from geex._problem.baselines import Baseline, baselines, declared_baseline
from geex._problem.features import Elements, checked
from geex._problem.outputs import Score, Target, check_score, checked_target
from geex._problem.task import Task
from geex._protocols import Features, Method, Stop
from geex.errors import BoundsError, BudgetError, ExplicandError, InputError, MethodError

# The default budget of a named method: that of the paper.
PAPERS_QUERIES = 5000


def prepare(
    x: Any,
    *,
    baseline: Baseline,
    target: Target,
    score: Score,
    method: Method | None,
    queries: int | None,
    features: Features | None,
    bounds: tuple[Any, Any] | None,
    seed: int,
    batch: int | None,
    progress: bool,
    stop: Stop | None = None,
    labels: list[str] | None = None,
) -> Task:
    """Return the arguments of `explain` as a task."""
    array = as_explicand(x)
    explicand = working(array)
    floating = namespace(array).isdtype(array.dtype, "real floating")
    features = _features(features, tuple(explicand.shape))
    if method is None:
        usual = defaults(tuple(explicand.shape), features)
        features, method = usual.features, usual.method
        score = usual.score if score is None else score
        queries = QUERIES if queries is None else queries
    features = Elements() if features is None else features
    check_method(method)
    check_score(score)
    check_stop(stop)
    absent = _baselines(baseline, explicand, features)
    return Task(
        explicand=explicand,
        dtype=array.dtype if floating else explicand.dtype,
        baselines=absent,
        baseline=declared_baseline(baseline),
        features=features,
        bounds=_bounds(bounds, explicand, absent),
        method=method,
        target=checked_target(target, labels),
        score=score,
        queries=PAPERS_QUERIES if queries is None else whole("queries", queries, 1, BudgetError),
        seed=whole("seed", seed, 0, InputError),
        batch=None if batch is None else whole("batch", batch, 1, BudgetError),
        progress=progress,
        background=_draws_among_rows(baseline, absent, explicand, features, method),
        stop=stop,
        labels=labels,
    )


def check_method(method: Any) -> None:
    """Raise MethodError unless `method` is a method."""
    if not isinstance(method, Method):
        raise MethodError(
            f"`method` must be a method such as geex.GEEX(); got {method!r}. For a class of your own, subclass "
            "geex.Method.",
            code="method-not-a-method",
        )


def _features(features: Features | None, shape: Shape) -> Features | None:
    """Return the features that were passed. Without any, refuse an image in a batch of one, whose axes are unclear."""
    if features is not None:
        return checked(features, shape)
    if looks_like_a_batch(shape):
        raise ExplicandError(
            f"`x` must be one input, without a batch axis; its shape {shape} looks like an image in a batch of one.",
            code="x-in-a-batch-of-one",
            fix="Explain x[0], or pass features=geex.Elements() if inputs have this shape.",
        )
    return None


def _baselines(spec: Baseline, explicand: Array, features: Features) -> list[Array]:
    found = baselines(spec, explicand, features)
    for baseline in found:
        if explicand.dtype == namespace(explicand).float64 and difference_overflows(explicand, baseline):
            raise ExplicandError(
                "x − x̊ must be a number of float64; it is too large. Rescale x and the baseline.",
                code="difference-overflows",
            )
    return found


def _draws_among_rows(
    spec: Baseline, absent: list[Array], explicand: Array, features: Features, method: Method
) -> bool:
    """Return whether one plan draws among the baselines, which are rows of a background."""
    if not isinstance(spec, Background):
        return False
    return method.draws_among_rows(explicand, namespace(explicand).stack(absent), features)


def _bounds(bounds: tuple[Any, Any] | None, explicand: Array, absent: list[Array]) -> tuple[Array, Array] | None:
    if bounds is None:
        return None
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise BoundsError(f"`bounds` must be (lowest, highest); got {shown(bounds)}.", code="bounds-not-two") from None
    pair = [as_array("a bound", end, BoundsError) for end in (low, high)]
    xp = namespace(explicand)
    shapes = [tuple(end.shape) for end in pair]
    try:
        lowest, highest = (xp.broadcast_to(like(end, explicand), tuple(explicand.shape)) for end in pair)
    except (ValueError, RuntimeError):
        raise BoundsError(
            f"`bounds` must be numbers, or arrays in the shape {tuple(explicand.shape)} of x; got the shapes {shapes}.",
            code="bounds-shape",
        ) from None
    if not bool(xp.all(lowest < highest)):
        raise BoundsError(
            f"`bounds` must have the lowest value below the highest; got {shown(bounds)}.", code="bounds-not-a-range"
        )
    for name, array in (("x", explicand), *(("the baseline", baseline) for baseline in absent)):
        if bool(xp.any((array < lowest) | (array > highest))):
            raise BoundsError(
                f"`bounds` must contain x and the baseline, in the units of x; got {shown(bounds)}, and {name} ranges "
                f"from {float(xp.min(array)):.4g} to {float(xp.max(array)):.4g}.",
                code="outside-the-bounds",
            )
    return lowest, highest
