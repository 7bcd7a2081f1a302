"""The account of a decision: f(x̊) + Σ values + what is left = f(x), and what the parts are.

left = f(x) − f(x̊) − Σ ξ,     interval: f(x) − f(x̊) − Σ centre ± t · sd(Σ ξ)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from geex._arrays.arrays import Array, host
from geex._problem.estimand import Additive, Quantity
from geex._results.significance.findings import inside
from geex._results.target_axis import numbers, with_axis

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

# The confidence level of the interval of the gap.
GAP_LEVEL = 0.95
GAP_ROUNDING = 1e-6  # of the larger of f(x) and f(x̊)
DIFFERENCES = {  # what a value is a difference of scores for, so that a sum of values can be compared with the change
    Quantity.SHAPLEY,
    Quantity.BANZHAF,
    Quantity.WEIGHTED_PRESENCE,
    Quantity.SMOOTH_PRESENCE,
    Quantity.GUIDED_PRESENCE,
    Quantity.PATH_INTEGRAL,
    Quantity.RIEMANN_SUM,
}


@dataclass(frozen=True)
class Account:
    """One decision in numbers.

    base, output: f(x̊) and f(x). total: Σ values, or the nearest end of its interval, with its standard error.
    left: f(x) − f(x̊) − total, with its interval (NaN where it is not known). shares: whether the values are meant to
    add up to the change. comparable: whether they are parts of the change at all, in its units. blurred: whether they
    are those of the model averaged over noise.
    """

    base: float
    output: float
    total: float
    error: float
    left: float
    low: float
    high: float
    shares: bool
    comparable: bool
    blurred: bool

    @property
    def change(self) -> float:
        """f(x) − f(x̊)."""
        return self.output - self.base

    @property
    def exact(self) -> bool:
        """Whether what is left is rounding alone."""
        return rounding(self.left, self.error, self.output, self.base)

    @property
    def noise(self) -> bool:
        """Whether the interval of what is left includes 0."""
        return self.low <= 0 <= self.high

    @property
    def left_is(self) -> str:
        """What the rest consists of."""
        return "left over" if self.shares else "joint effect of several features"


def accounts(explanation: "Explanation") -> list[Account]:
    """Return the account of every explained output."""
    around = explanation.values if explanation.centre is None else explanation.centre
    sums = [_sums(with_axis(array, explanation.target)) for array in (explanation.values, around)]
    fields = (explanation.output, explanation.base_value, explanation.gap, explanation.gap_stderr)
    ends = [numbers(field) for field in fields]
    return [account(explanation, *row) for row in zip(*ends, *sums, strict=True)]


def account(
    explanation: "Explanation", output: float, base: float, left: float, error: float, total: float, centre: float
) -> Account:
    """Return the account of one output, given its numbers. centre: the sum of what intervals are around.

    What is left stands beside its interval, so it lies in it; the total is the rest of the change.
    """
    comparable = explanation.adds_up or explanation.estimand.quantity in DIFFERENCES
    width = float(stdtrit(explanation.freedom, 0.5 + GAP_LEVEL / 2)) * float(error)
    middle = float(left + total - centre)
    ends = (middle - width, middle + width)
    if not rounding(left, error, output, base):
        left, before = float(inside(*(np.array(number) for number in (left, *ends)))), left
        total = total + before - left
    shares = explanation.adds_up, comparable, explanation.estimand.additive is Additive.OF_BLURRED_MODEL
    return Account(float(base), float(output), float(total), float(error), float(left), *ends, *shares)


def rounding(gap: float, error: float, output: float, base: float) -> bool:
    """Whether a gap, and its error where it has one, is no more than rounding of f(x) and f(x̊)."""
    return max(abs(gap), 0.0 if np.isnan(error) else error) < GAP_ROUNDING * max(abs(output), abs(base), 1e-300)


def _sums(values: Array) -> Sequence[float]:
    """Σ over features of values (k, *shape)."""
    return [float(row.sum()) for row in np.asarray(host(values), np.float64)]
