"""Everything that `explain` is asked to do, checked before the first query."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geex.arrays import Array, as_explicand, is_real, like, namespace, working
from geex.baseline import Baseline, baselines
from geex.errors import BoundsError, BudgetError, ExplicandError, InputError, MethodError
from geex.features import Elements, Features, checked
from geex.methods import GEEX, Method
from geex.outputs import Score, Target, check_score, check_target

QUERIES = 5000


@dataclass(frozen=True, eq=False)
class Task:
    """The explicand and baselines in the working type, and all settings with their defaults filled in."""

    explicand: Array
    dtype: Any
    baselines: list[Array]
    features: Features
    bounds: tuple[Array, Array] | None
    method: Method
    target: Target
    score: Score
    queries: int
    seed: int
    batch: int | None
    progress: bool


def prepare(
    x: Any,
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
) -> Task:
    """A task out of the arguments of `explain`."""
    array = as_explicand(x)
    explicand = working(array)
    floating = namespace(array).isdtype(array.dtype, "real floating")
    features = checked(Elements() if features is None else features, tuple(explicand.shape))
    method = GEEX() if method is None else method
    if isinstance(method, type) or not hasattr(method, "search"):
        raise MethodError(f"method is {method!r}; wanted a method such as geex.GEEX().")
    check_target(target)
    check_score(score)
    return Task(
        explicand=explicand,
        dtype=array.dtype if floating else explicand.dtype,
        baselines=_baselines(baseline, explicand, features),
        features=features,
        bounds=_bounds(bounds, explicand),
        method=method,
        target=target,
        score=score,
        queries=QUERIES if queries is None else whole("queries", queries, 1),
        seed=whole("seed", seed, 0),
        batch=None if batch is None else whole("batch", batch, 1),
        progress=progress,
    )


def _baselines(spec: Baseline, explicand: Array, features: Features) -> list[Array]:
    found = baselines(spec, explicand, features)
    for baseline in found:
        if not bool(namespace(explicand).any(explicand != baseline)):
            raise ExplicandError(
                "x equals the baseline in every feature, so there is nothing to share out; take another baseline, "
                "such as a number that x does not consist of, geex.blur(…) or geex.mean(data)."
            )
    return found


def _bounds(bounds: tuple[Any, Any] | None, explicand: Array) -> tuple[Array, Array] | None:
    if bounds is None:
        return None
    try:
        low, high = bounds
        pair = [
            np.asarray(low) if not hasattr(low, "dtype") else low,
            np.asarray(high) if not hasattr(high, "dtype") else high,
        ]
    except (TypeError, ValueError):
        raise BoundsError(f"bounds is {bounds!r}; wanted (lowest, highest).") from None
    if not all(map(is_real, pair)):
        raise BoundsError(f"bounds is {bounds!r}; wanted real numbers (lowest, highest).")
    xp = namespace(explicand)
    try:
        lowest, highest = (xp.broadcast_to(like(end, explicand), tuple(explicand.shape)) for end in pair)
    except (ValueError, RuntimeError):
        shapes = [tuple(end.shape) for end in pair]
        raise BoundsError(
            f"bounds have shapes {shapes} and x has {tuple(explicand.shape)}; wanted numbers or that shape."
        ) from None
    if not bool(xp.all(lowest < highest)):
        raise BoundsError(f"bounds is {bounds!r}; wanted the lowest below the highest value everywhere.")
    if bool(xp.any((explicand < lowest) | (explicand > highest))):
        raise BoundsError(
            f"x reaches from {float(xp.min(explicand)):.4g} to {float(xp.max(explicand)):.4g}, outside of its bounds "
            f"{bounds!r}; wanted the range of valid inputs in the units of x."
        )
    return lowest, highest


def whole(name: str, value: Any, least: int) -> int:
    """The value as an int, where it is a whole number of at least `least`."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        kind = BudgetError if name in ("queries", "batch") else InputError
        raise kind(f"{name} is {value!r}; wanted a whole number of at least {least}.")
    return int(value.__index__())
