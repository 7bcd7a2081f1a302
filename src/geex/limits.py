"""How hard a model may be asked: calls at a time, rows per call, attempts, and rates."""

from dataclasses import dataclass

from geex.checks import positive, whole
from geex.errors import BudgetError


@dataclass(frozen=True)
class Limits:
    """What the engine keeps to when it asks a model.

    concurrency: calls at the same time.
    rows: the most rows per call; None: what the batch says.
    attempts: how often the same rows are asked before a TransientError ends the run.
    requests_per_second, rows_per_second: rates that are not exceeded; None: no limit.
    """

    concurrency: int = 1
    rows: int | None = None
    attempts: int = 1
    requests_per_second: float | None = None
    rows_per_second: float | None = None

    def __post_init__(self) -> None:
        whole("concurrency", self.concurrency, 1, BudgetError)
        whole("attempts", self.attempts, 1, BudgetError)
        if self.rows is not None:
            whole("rows", self.rows, 1, BudgetError)
        for name in ("requests_per_second", "rows_per_second"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name), BudgetError)
