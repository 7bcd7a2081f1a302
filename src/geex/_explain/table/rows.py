"""What is kept of every row of a table: a few numbers for each feature, and no answers."""

from dataclasses import dataclass

import numpy as np

from geex._arrays.arrays import host
from geex._problem.estimand import Estimand
from geex._results.explanation import Explanation
from geex._results.settings import Settings


@dataclass(frozen=True, eq=False)
class Row:
    """Values, standard errors and the centres of intervals of one row (p,), and its numbers.

    unsteady: whether the model answered x differently the second time. estimand, settings: None where x equals the
    baseline.
    """

    values: np.ndarray
    stderr: np.ndarray
    centre: np.ndarray
    output: float
    base_value: float
    gap: float
    gap_stderr: float
    noise: float
    target: int
    queries: int
    freedom: float
    unsteady: bool = False
    estimand: Estimand | None = None
    settings: Settings | None = None


# The fields of a row that are numbers, and those that have a number for each feature.
ROW_NUMBERS = ("output", "base_value", "gap", "gap_stderr", "noise", "target", "queries", "freedom")
ROW_FEATURES = ("values", "stderr", "centre")


class Rows:
    """The rows so far, as arrays: (rows, p) and (rows,).

    numbers: which rows of the table they are. unsteady: how many are. estimand, settings: those of the first row that
    differs from the baseline.
    """

    def __init__(self, rows: int, features: int) -> None:
        self.numbers: list[int] = []
        self.unsteady = 0
        self.estimand: Estimand | None = None
        self.settings: Settings | None = None
        self._features = {name: np.zeros((rows, features)) for name in ROW_FEATURES}
        self._numbers = {name: np.zeros(rows) for name in ROW_NUMBERS}

    def add(self, number: int, row: Row) -> None:
        """Add row number `number` of the table."""
        place = len(self.numbers)
        for name, array in self._features.items():
            array[place] = getattr(row, name)
        for name, column in self._numbers.items():
            column[place] = getattr(row, name)
        self.numbers.append(number)
        self.unsteady += row.unsteady
        if self.estimand is None:
            self.estimand, self.settings = row.estimand, row.settings

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of the rows that were added."""
        count = len(self.numbers)
        found = {name: array[:count] for name, array in (self._features | self._numbers).items()}
        return found | {name: found[name].astype(np.int64) for name in ("target", "queries")}


def row_of(explanation: Explanation) -> Row:
    """Return what is kept of an explanation of one output."""
    values = _flat(explanation.values)
    centre = values if explanation.centre is None else _flat(explanation.centre)
    noise = np.nan if explanation.noise is None else explanation.noise
    assert isinstance(explanation.target, int)
    return Row(
        values,
        _flat(explanation.stderr),
        centre,
        float(explanation.output),
        float(explanation.base_value),
        float(explanation.gap),
        float(explanation.gap_stderr),
        float(noise),
        explanation.target,
        explanation.queries,
        explanation.freedom,
        explanation.unsteady,
        explanation.estimand,
        explanation.settings,
    )


def _flat(array: object) -> np.ndarray:
    return np.asarray(host(array), np.float64).ravel()
