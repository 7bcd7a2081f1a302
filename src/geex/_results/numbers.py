"""Numbers as people read them: a value has the decimals of its error, and a column has one number of decimals."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np

SMALLEST_PLAIN, LARGEST_PLAIN = 1e-3, 1e5  # of a column's largest number; beyond them the column has a unit of its own
DIGITS = 2  # significant digits of an error
ERROR_ROUNDING = 1e-9  # of the largest number, up to which an error is rounding
PLAIN_DIGITS = 4  # significant digits of the largest number where no error is known
MOST_DIGITS = 6  # significant digits of the largest number where errors are far smaller
LIKELY, UNLIKELY = 0.999, 0.001  # probabilities beyond these are not written out


@dataclass(frozen=True)
class Column:
    """How the numbers of a column are written: in units of 10^exponent, with `decimals` decimals."""

    exponent: int
    decimals: int

    @property
    def unit(self) -> str:
        """The unit to stand in the column's heading, "" for 1."""
        return f"1e{self.exponent}".replace("-", "−") if self.exponent else ""

    def text(self, value: float) -> str:
        """Write a number."""
        if not isfinite(value):
            return "unknown"
        rounded = round(value / 10.0**self.exponent, self.decimals) + 0.0  # no −0
        return f"{rounded:,.{self.decimals}f}".replace("-", "−")

    def signed(self, value: float) -> str:
        """Write a number with its sign; 0 has none."""
        text = self.text(value)
        return f"+{text}" if isfinite(value) and value > 0 and text.strip("0.") else text

    def interval(self, low: float, high: float) -> str:
        """Write an interval; "" where it is not known."""
        return f"[{self.signed(low)}, {self.signed(high)}]" if isfinite(low) and isfinite(high) else ""

    def with_error(self, value: float, error: float) -> str:
        """Write a value ± its standard error, or the value where that is not known."""
        unit = f" × {self.unit}" if self.exponent else ""
        if not isfinite(error):
            return f"{self.signed(value)}{unit}"
        shown = f"{self.signed(value)} ± {self.text(error)}"
        return f"({shown}){unit}" if unit else shown


def column(values: Iterable[float], errors: Iterable[float] = (), digits: int = DIGITS) -> Column:
    """Return how a column of values with these standard errors is written. digits: significant ones of an error."""
    sizes = [abs(value) for value in values if isfinite(value) and value != 0]
    known = [error for error in errors if isfinite(error) and error > 0]
    largest = max([*sizes, *known], default=1.0)
    known = [error for error in known if error > ERROR_ROUNDING * largest]
    exponent = 0 if SMALLEST_PLAIN <= largest < LARGEST_PLAIN else max(3 * floor(log10(largest) / 3), -300)
    if known:
        decimals = min(digits - 1 - _power(float(np.median(known))), MOST_DIGITS - 1 - _power(largest))
    else:
        decimals = PLAIN_DIGITS - 1 - _power(largest)
    return Column(exponent, max(0, decimals + exponent))


def number(value: float) -> str:
    """Write a number that stands alone: three digits, a true minus."""
    if 1e3 <= abs(value) < LARGEST_PLAIN:
        return f"{value:,.0f}".replace("-", "−")
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= LARGEST_PLAIN):
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def signed(value: float) -> str:
    """Write a number that stands alone with its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def with_error(value: float, error: float) -> str:
    """Write one value ± its standard error, rounded to the decimals of the error."""
    return column([value], [error]).with_error(value, error)


def probability(value: float) -> str:
    """Write a probability; one near 1 is "> 0.999"."""
    if value > LIKELY:
        return f"> {LIKELY}"
    return f"< {UNLIKELY}" if value < UNLIKELY else f"{value:.3f}"


def _power(size: float) -> int:
    """The power of ten of a number's first digit."""
    return floor(log10(size))
