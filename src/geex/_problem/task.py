"""The task of `explain`, checked before the first query."""

from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array
from geex._problem.declared import Value
from geex._problem.outputs import Score, Target
from geex._problem.table.cells import Cells
from geex._problem.table.columns import Columns
from geex._protocols import Features, Method, Stop


@dataclass(frozen=True, eq=False)
class Task:
    """The explicand and baselines in the working type, and all settings with their defaults filled in.

    baseline: the argument, as it is written in the call that repeats the run.
    background: whether the baselines are rows of a background, among which one plan draws.
    twice: whether x is queried a second time.
    labels: names of the outputs, one for each.
    names: names of the elements of x. cells, columns: what x stands for, where it holds codes of cells.
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
    background: bool = False
    twice: bool = False
    stop: Stop | None = None
    labels: list[str] | None = None
    names: list[str] | None = None
    cells: Cells | None = None
    columns: Columns | None = None
