"""Everything that `explain` is asked to do, checked before the first query."""

from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array
from geex._problem.declared import Value
from geex._problem.outputs import Score, Target
from geex._protocols import Features, Method, Stop


@dataclass(frozen=True, eq=False)
class Task:
    """The explicand and baselines in the working type, and all settings with their defaults filled in.

    baseline: as it was passed, for the call that makes the same again.
    twice: whether the model is asked for x a second time.
    labels: names of the outputs, which have to be as many.
    """

    explicand: Array
    dtype: Any
    baselines: list[Array]
    baseline: Value
    features: Features
    bounds: tuple[Array, Array] | None
    method: Method
    target: Target
    score: Score
    queries: int
    seed: int
    batch: int | None
    progress: bool
    twice: bool = False
    stop: Stop | None = None
    labels: list[str] | None = None
