"""The arguments of `explain`, checked before the first query and made into a task."""

from typing import Any

from geex._arrays.arrays import Array, Shape, as_array, as_explicand, difference_overflows, like, namespace, working
from geex._arrays.validation import whole
from geex._explain.defaults import QUERIES, defaults, looks_like_a_batch
from geex._explain.stop_rules import check_stop
from geex._problem.baselines import Baseline, baselines, declared_baseline
from geex._problem.features import Elements, checked
from geex._problem.outputs import Score, Target, check_score, checked_target
from geex._problem.task import Task
from geex._protocols import Features, Method, Stop
from geex.errors import BoundsError, BudgetError, ExplicandError, InputError, MethodError

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
    """A task out of the arguments of `explain`."""
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
    absent = _baselines(baseline, explicand, features, method)
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
        stop=stop,
        labels=labels,
    )


def check_method(method: Any) -> None:
    """Raises MethodError where `method` is none."""
    if not isinstance(method, Method):
        raise MethodError(
            f"`method` must be a method such as geex.GEEX(); got {method!r}. For a class of your own, subclass "
            "geex.Method.",
            code="method-not-a-method",
        )


def _features(features: Features | None, shape: Shape) -> Features | None:
    """The features that were given. Where none were, an image is no batch of one: its pixels would be no neighbours."""
    if features is not None:
        return checked(features, shape)
    if looks_like_a_batch(shape):
        raise ExplicandError(
            f"x has shape {shape}, which looks like an image in a batch of one: explain x[0], of shape {shape[1:]}. If "
            "the model does take rows of that shape, say what a feature is: features=geex.Elements()."
        )
    return None


def _baselines(spec: Baseline, explicand: Array, features: Features, method: Method) -> list[Array]:
    found = baselines(spec, explicand, features)
    alike = [n for n, baseline in enumerate(found) if not bool(namespace(explicand).any(explicand != baseline))]
    if method.compares and alike:
        which = "the baseline" if len(found) == 1 else f"baseline {alike[0]} of the list"
        raise ExplicandError(
            f"x equals {which} in every feature, so there is nothing to share out; take another baseline, "
            "such as a number that x does not consist of, geex.blur(…) or geex.mean(data)."
        )
    for baseline in found:
        if explicand.dtype == namespace(explicand).float64 and difference_overflows(explicand, baseline):
            raise ExplicandError("x and the baseline are so far apart that float64 has no x − x̊; rescale both.")
    return found


def _bounds(bounds: tuple[Any, Any] | None, explicand: Array, absent: list[Array]) -> tuple[Array, Array] | None:
    if bounds is None:
        return None
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise BoundsError(f"bounds is {bounds!r}; wanted (lowest, highest).") from None
    pair = [as_array("a bound", end, BoundsError) for end in (low, high)]
    xp = namespace(explicand)
    shapes = [tuple(end.shape) for end in pair]
    try:
        lowest, highest = (xp.broadcast_to(like(end, explicand), tuple(explicand.shape)) for end in pair)
    except (ValueError, RuntimeError):
        wanted = f"x has {tuple(explicand.shape)}; wanted numbers or that shape"
        raise BoundsError(f"bounds have shapes {shapes} and {wanted}.") from None
    if not bool(xp.all(lowest < highest)):
        raise BoundsError(f"bounds is {bounds!r}; wanted the lowest below the highest value everywhere.")
    for name, array in (("x", explicand), *(("the baseline", baseline) for baseline in absent)):
        if bool(xp.any((array < lowest) | (array > highest))):
            raise BoundsError(
                f"{name} reaches from {float(xp.min(array)):.4g} to {float(xp.max(array)):.4g}, outside of the bounds "
                f"{bounds!r}; wanted the range of valid inputs in the units of x, and a baseline inside it."
            )
    return lowest, highest
