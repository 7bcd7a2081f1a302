"""What all checks have in common."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._explain.explain import explain
from geex._query.limits import Limits
from geex._results.explanation import Explanation
from geex._stored_names import why_unstable
from geex.errors import CheckFailed

ERRORS = 6.0  # standard errors by which an estimate may be off: at a fixed seed, and for hundreds of values at once
# Fields of explanations that are compared by their bytes.
COMPARED_FIELDS = ("values", "stderr", "base_value", "output", "gap", "gap_stderr")


def require(holds: Any, check: str, what: Any, message: str) -> None:
    """Raise CheckFailed, named `check`, where `holds` is false."""
    if not holds:
        raise CheckFailed(f"{check}: {what!r} {message}", code=check)


@contextmanager
def step(check: str, what: Any) -> Iterator[None]:
    """Any error inside is a check that failed."""
    try:
        yield
    except CheckFailed:
        raise
    except Exception as error:
        raise CheckFailed(f"{check}: {what!r} raised {type(error).__name__}: {error}", code=check) from error


def run(model: Any, x: Any, twice: bool = False, **settings: Any) -> Explanation:
    """Explain without a progress bar, and without warnings about the little models of the checks."""
    limits = settings.pop("limits", Limits(twice=twice, compare=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return explain(model, x, progress=False, limits=limits, **settings)


def alike(first: Explanation, second: Explanation) -> bool:
    """Whether two explanations have the same bytes."""
    pairs = ((np.asarray(host(getattr(one, name))) for one in (first, second)) for name in COMPARED_FIELDS)
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def check_stable(part: Any) -> None:
    """What is stored or compared has declared values, and equals what has the same."""
    reason = why_unstable(part)
    message = f"has no stable values: {reason}. Make it a frozen dataclass of plain values."
    require(not reason, "stable-values", part, message)
