"""The queries of a table, as one source: rows of different inputs share calls of the model, and one journal.

    row r:   x_r,  the draws of its plan (of each baseline),  x_r again

The rows of the table follow each other. Every row has a seed of its own, so that masks differ from row to row and
errors of a mean over rows average out. The baselines are not part of it: they are queried once for the whole table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from geex._arrays.arrays import Array, host, library, namespace
from geex._explain.driver import plans_of
from geex._plan.plan import DrawCache, Plan, seed_of
from geex._plan.relabelled_subsets import relabelled
from geex._plan.subsets import Subsets
from geex._problem.task import Task
from geex._stored_names import fingerprint
from geex.errors import BudgetError

# A table row's place in the seed's streams, apart from those of baselines and rounds.
TABLE_ROW = 7


@dataclass(frozen=True, eq=False)
class RowPlan:
    """The queries of one row of a table: its task, and a plan for each baseline with how many draws are queried."""

    task: Task
    plans: list[tuple[Plan, int]]

    @property
    def counts(self) -> list[int]:
        """How many queries each plan has."""
        return [draws * plan.search.rows for plan, draws in self.plans]

    @property
    def size(self) -> int:
        """How many queries the row has, those of x included."""
        return 1 + sum(self.counts) + self.again

    @property
    def again(self) -> bool:
        """Whether x is queried a second time."""
        return self.task.twice

    def queries(self) -> Array:
        """Return the queries (size, *shape)."""
        xp = namespace(self.task.explicand)
        x = xp.astype(self.task.explicand, self.task.dtype)[None, ...]
        parts = [plan.rows(0, count) for (plan, _), count in zip(self.plans, self.counts, strict=True) if count]
        return xp.concat([x, *parts, *([x] if self.again else [])], axis=0)

    def split(self, answers: Array) -> tuple[Array, list[Array], Array | None]:
        """Return the answers (size, K) as that for x, those of each plan, and the second one for x if there is one."""
        stops = np.cumsum([1, *self.counts]).tolist()
        own = [answers[start:stop, :] for start, stop in pairwise(stops)]
        return answers[:1, :], own, answers[stops[-1] :, :] if self.again else None


@dataclass(frozen=True, eq=False)
class TableSource:
    """The queries of all rows, in the order of the table.

    task: the task of the first row; the others have the same settings. table (n, *shape): the rows in the working type.
    starts (n + 1,): the number of each row's first query, and of the query after the last.
    """

    task: Task
    table: Array
    starts: np.ndarray

    def __len__(self) -> int:
        return int(self.table.shape[0])

    def plan(self, row: int) -> RowPlan:
        """Return the plan of a row."""
        return planned_row(self.task, self.table[row, ...], row)

    def span(self, row: int) -> tuple[int, int]:
        """Return the number of the row's first query, and of the one after its last."""
        return int(self.starts[row]), int(self.starts[row + 1])

    def rows(self, start: int, stop: int) -> Array:
        """Return queries number `start` … `stop` − 1 of the table."""
        parts = list(self._parts(start, stop))
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)

    def _parts(self, start: int, stop: int) -> Iterator[Array]:
        first = int(np.searchsorted(self.starts, start, "right")) - 1
        last = int(np.searchsorted(self.starts, stop, "left"))
        for row in range(first, last):
            begin, _ = self.span(row)
            yield self.plan(row).queries()[max(start - begin, 0) : stop - begin, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A digest that is equal for tables with the same queries."""
        task = self.task
        dtype = str(task.dtype).removeprefix("torch.")
        facts = ("table/1", task.method, task.features, task.seed, task.queries, task.twice, library(self.table), dtype)
        return fingerprint(facts, map(host, (self.table, *task.baselines, *(task.bounds or ()))))


def table_source(task: Task, table: Array) -> TableSource:
    """Return the queries of a table (n, *shape). Raise BudgetError if the budget is too small for a row."""
    # the score and the rule are not needed where queries are made, and may not be picklable
    task = replace(task, score=None, stop=None, labels=None)
    sizes = [planned_row(task, table[row, ...], row).size for row in range(int(table.shape[0]))]
    return TableSource(task, table, np.cumsum([0, *sizes]))


def planned_row(task: Task, explicand: Array, row: int) -> RowPlan:
    """Return the plan of one row. The budget is for x and its draws, since the baselines are queried once for all."""
    own = replace(task, explicand=explicand, seed=seed_of(task.seed, TABLE_ROW, row))
    budget = replace(own, queries=task.queries + len(task.baselines))
    try:
        return RowPlan(own, _own_plans(budget, task.seed))
    except BudgetError:
        once = replace(own, twice=False)
    try:
        return RowPlan(once, _own_plans(replace(budget, twice=False), task.seed))
    except BudgetError:
        raise BudgetError(
            f"`queries` is too small for row {row}: got {task.queries}. Hundreds for each row are usual.",
            code="queries-below-least",
        ) from None


def _own_plans(task: Task, shared: int) -> list[tuple[Plan, int]]:
    """Return the plans of one row, which share what is costly to draw with those of other rows."""
    plans = plans_of(task, DrawCache())
    return [
        (replace(plan, search=relabelled(plan.search, shared)) if type(plan.search) is Subsets else plan, draws)
        for plan, draws in plans
    ]
