"""What came of a job: answers to its rows, and what it took to get them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one job.

    Parameters
    ----------
    parts
        (first row within the job, number of rows, raw answers) of the rows that were answered, in any order.
    sent, failed
        How many rows were sent to the model, and how many calls failed. A row that was sent twice counts twice.
    seconds
        How long it took; None: not measured.
    error
        Why the other rows have no answer; None if all have.
    """

    parts: list[tuple[int, int, Any]]
    sent: int = 0
    failed: int = 0
    seconds: float | None = None
    error: Any = None


def outcome_of(result: Any, rows: int) -> Outcome:
    """Return the result of a pool as an outcome. A pool of a user's own may return the plain answers to a job."""
    return result if isinstance(result, Outcome) else Outcome([(0, rows, result)], rows)
