"""When enough has been asked: rules that look at the estimate as it grows, and what more queries would buy.

top      the features with the largest |ξ|
S        their values' sum, with its joint standard error
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._arrays.validation import share, whole
from geex._protocols import Estimate, Stop
from geex._results.precision import TOP_SHARE, leading, moved, reaches
from geex._results.significance.findings import LEVEL, Findings, check_level, resolution
from geex._stored_names import stored
from geex.errors import InputError


@stored("Precise/1")
@dataclass(frozen=True)
class Precise(Stop):
    """Stop when the sum over the top features is precise: its 95% interval is at most ± tolerance of f(x) − f(x̊).

    The previous look must have had a sum within the tolerance too.

    Parameters
    ----------
    tolerance
        Half the width of the interval, as a share of f(x) − f(x̊), above 0 and at most 1.
    top
        The share of features whose sum is considered.

    Raises
    ------
    InputError
        A setting is not a share.

    Notes
    -----
    The rule uses the method's own standard errors. Those of `Guided` do not include the effect of the adaptive choice
    of masks. The top features are chosen by the same answers, so the interval can be too narrow if many features have
    similar values, or if the model is a step function. For `GEEX`, `Interpolated` and `Presence` the errors of features
    are assumed to be independent.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> settings = {"method": geex.GEEX(0.5), "queries": 20000, "stop": geex.Precise(0.2), "progress": False}
    >>> geex.explain(lambda z: z @ [1.0, 2.0], np.ones(2), **settings).queries < 20000
    True
    """

    tolerance: float = 0.05
    top: float = TOP_SHARE

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
            f"the total of the top {self.top:.0%} of features is precise to ±{max(errors):.1%} of f(x) − f(x̊), at two "
            f"looks in a row (limit: ±{self.tolerance:.1%})"
        )


@stored("Settled/1")
@dataclass(frozen=True)
class Settled(Stop):
    """Stop when the ranking of the top features is stable: half as many queries more, or a round, hardly changed it.

    Parameters
    ----------
    overlap
        The share of the top features that must be the same as at the previous look.
    top
        The share of features that is considered.

    Raises
    ------
    InputError
        A setting is not a share.

    Examples
    --------
    >>> import geex
    >>> geex.Settled(overlap=0.8)
    Settled(overlap=0.8, top=0.1)
    """

    overlap: float = 0.9
    top: float = TOP_SHARE

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
            f"{same:.0%} of the top {self.top:.0%} of features were also on top at the look before (limit: "
            f"{self.overlap:.0%})"
        )


@stored("Top/1")
@dataclass(frozen=True)
class Top(Stop):
    """Stop when the `k` features with the largest absolute values are certain, in two looks that follow each other.

    `explanation.top(k)` returns them. With features of equal size at the border the run goes on to the budget.

    Parameters
    ----------
    k
        The number of largest features.
    level
        The probability that all statements about an output are true, signs included.

    Raises
    ------
    InputError
        `k` is not a whole number above 0, or `level` is not a probability.

    Notes
    -----
    The rule uses the simultaneous intervals of all features. It needs the same k features in both looks, since a run
    that is looked at often is wrong more often than one that is looked at once. There is no proof that the error of a
    stopped run is at most 1 − `level`. With several baselines each of them has its own looks.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> weights, settings = np.r_[5.0, 4.0, np.zeros(30)], {"stop": geex.Top(2), "queries": 2000, "progress": False}
    >>> found = geex.explain(lambda z: np.tanh(z @ weights), np.ones(32), **settings)
    >>> np.flatnonzero(found.top(2).inside).tolist(), found.queries < 2000
    ([0, 1], True)
    """

    k: int = 5
    level: float = LEVEL

    def __post_init__(self) -> None:
        whole("k", self.k, 1, InputError)
        check_level(self.level)

    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        if before is None or not _found(now, span):
            return None
        looks = [self._inside(look, span) for look in (now, before)]
        if (looks[0] != looks[1]).any() or (looks[0].sum(axis=1) < min(self.k, looks[0].shape[1])).any():
            return None
        return f"the top {self.k} features are certain at {self.level:.0%}, as at the look before"

    def _inside(self, look: Estimate, span: np.ndarray) -> np.ndarray:
        """Which features are certain to be among the largest (k, p)."""
        around = look.values if look.centre is None else look.centre
        centre, stderr = (np.asarray(host(array), np.float64) for array in (around, look.stderr))
        findings = Findings(centre, stderr, float(look.freedom), resolution(span, 0 * span, look.values))
        return findings.top(self.k, self.level)[0]


def check_stop(stop: Any) -> None:
    """Raises InputError where `stop` is no rule."""
    if stop is not None and not isinstance(stop, Stop):
        raise InputError(
            "`stop` must be geex.Precise(…), geex.Settled(…), geex.Top(…), a rule of your own class, or None; got "
            f"{stop!r}. For a class of your own, subclass geex.Stop.",
            code="stop-not-a-rule",
        )


def _found(estimate: Estimate, span: np.ndarray) -> bool:
    """Whether there are values at all, and of every output that changes from x̊ to x: where nothing that was asked made
    a difference, neither an error of 0 nor a ranking of zeros says anything."""
    valued = np.any(host(estimate.values) != 0, axis=1)
    return bool(valued.any() and valued[span != 0].all())


def _shares(rule: Any, *names: str) -> None:
    for name in names:
        share(name, getattr(rule, name), InputError)
