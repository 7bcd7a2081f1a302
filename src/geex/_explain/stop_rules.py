"""When enough has been asked: rules that look at the estimate as it grows, and what more queries would buy.

top      the features with the largest |ξ|
S        their values' sum, with its joint standard error
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._arrays.validation import is_number
from geex._protocols import Estimate, Stop
from geex._results.precision import TENTH, leading, moved, reaches
from geex._stored_names import stored
from geex.errors import InputError


@stored("Precise/1")
@dataclass(frozen=True)
class Precise(Stop):
    """Stops when the sum over the top features is known to ± tolerance, as a share of f(x) − f(x̊), and was not further
    from that at the look before.

    It believes the method's own errors as far as two looks agree. Errors of `Guided` do not know that other answers
    would have led its masks elsewhere: of models that no smooth sum is like, the sum is known less well than they say
    (docs/benchmarks.md). And the top is chosen by the answers that it is judged by: where many features do about as
    much, or a model is all steps (votes, thresholds), what is on top is there by luck too, and its sum is known less
    well than that. Features' errors of `GEEX`, `Interpolated` and `Presence` are taken for independent.

    tolerance: half the width of the sum's 95% interval. top: the share of features that is looked at.
    """

    tolerance: float = 0.05
    top: float = TENTH

    def __post_init__(self) -> None:
        _shares(self, "tolerance", "top")

    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        if before is None or not _found(now, span):
            return None
        outputs = [(output, abs(whole)) for output, whole in enumerate(span) if whole]
        if any(moved(now, before, output, self.top) > self.tolerance * whole for output, whole in outputs):
            return None
        reached = reaches(now, self.top)
        errors = [reached[output] / whole for output, whole in outputs]
        if not errors or not np.isfinite(errors).all() or max(errors) > self.tolerance:
            return None
        return (
            f"the top {self.top:.0%} of features are known to ±{max(errors):.1%} of f(x) − f(x̊), as at the look "
            f"before, and ±{self.tolerance:.1%} was wanted"
        )


@stored("Settled/1")
@dataclass(frozen=True)
class Settled(Stop):
    """Stops when the ranking of the top features has settled: when half as many queries more hardly changed it, or, for
    `Guided`, another round.

    overlap: the share of the top features that are the same as before. top: the share of features that is looked at.
    """

    overlap: float = 0.9
    top: float = TENTH

    def __post_init__(self) -> None:
        _shares(self, "overlap", "top")

    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        if before is None or not _found(now, span):
            return None
        same = min(
            float(np.mean(leading(before, output, self.top)[leading(now, output, self.top)]))
            for output in range(len(span))
        )
        if same < self.overlap:
            return None
        return (
            f"{same:.0%} of the top {self.top:.0%} of features were on top at the look before, and "
            f"{self.overlap:.0%} was wanted"
        )


def check_stop(stop: Any) -> None:
    """Raises InputError where `stop` is no rule."""
    if stop is not None and not isinstance(stop, Stop):
        raise InputError(
            f"`stop` must be geex.Precise(…), geex.Settled(…), a rule of your own class, or None; got {stop!r}. For a "
            "class of your own, subclass geex.Stop.",
            code="stop-not-a-rule",
        )


def _found(estimate: Estimate, span: np.ndarray) -> bool:
    """Whether there are values at all, and of every output that changes from x̊ to x: where nothing that was asked made
    a difference, neither an error of 0 nor a ranking of zeros says anything."""
    valued = np.any(host(estimate.values) != 0, axis=1)
    return bool(valued.any() and valued[span != 0].all())


def _shares(rule: Any, *names: str) -> None:
    for name in names:
        value = getattr(rule, name)
        if not is_number(value) or not 0 < value <= 1:
            raise InputError(f"{name} is {value!r}; wanted a share above 0 and at most 1.")
