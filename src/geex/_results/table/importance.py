"""Global importance: the mean over rows of |value|, for each column, without what noise adds to it.

An estimate c = v + noise of a value v is larger in size than the value, on average: E|c| > |v|. So the mean of |c|
grows with the noise, and puts columns with large errors first. Over rows, the unbiased values of a column have

    v_r ~ N(m, τ²),   c_r ~ N(v_r, s_r²)   ⇒   τ² = mean (c_r − m)² − mean s_r²

and given c_r, the value is v_r ~ N(u_r, t_r²) with u_r = m + w_r (c_r − m), t_r² = w_r s_r², w_r = τ²/(τ² + s_r²). Its
size is that of a folded normal variable:

    I = mean over rows of  E|v_r| = t_r √(2/π) exp(−u_r²/2t_r²) + u_r (1 − 2Φ(−u_r/t_r))

Values of a fit, u, are drawn towards what it predicts already, and have less noise than the unbiased values c around
which intervals are. What the two differ by measures their noise, e_r = s_r √(mean (u − c)² / mean s²). Each counts as
far as its sign is sure:

    I = mean over rows of  u_r (P(v_r > 0) − P(v_r < 0)) = u_r (1 − 2Φ(−u_r/e_r))

Where errors are small, both are |u_r|. Rows are a sample: standard errors are those of a jackknife over groups of rows,
with all steps made again for each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from geex._arrays.validation import is_number, whole
from geex._plain_text import one_line
from geex._results.numbers import column
from geex.errors import InputError, MissingPackage

# The most groups of rows of the jackknife.
JACKKNIFE_GROUPS = 50
# Columns that a printed importance lists.
IMPORTANCE_LINES = 20
# Characters of a column's name.
LONGEST_COLUMN = 40


@dataclass(frozen=True, eq=False)
class Importance:
    """The mean of |value| over the rows of a table, for each column; the largest first.

    Attributes
    ----------
    columns : list of str
        The columns, in the order of their importance.
    values, stderr : array, (columns,)
        The mean of |value|, without the share of noise, and its standard error. Rows count as a sample.
    low, high : array, (columns,)
        The ends of the intervals.
    level : float
        The level of the intervals.
    rows : int
        The number of rows.
    """

    columns: list[str]
    values: np.ndarray
    stderr: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    rows: int

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def top(self, count: int) -> "Importance":
        """Return the `count` most important columns."""
        count = whole("count", count, 1, InputError)
        return replace(
            self,
            columns=self.columns[:count],
            values=self.values[:count],
            stderr=self.stderr[:count],
            low=self.low[:count],
            high=self.high[:count],
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each column of the table."""
        found = {"importance": self.values, "stderr": self.stderr, "low": self.low, "high": self.high}
        return pandas().DataFrame(found, index=self.columns)

    def __repr__(self) -> str:
        return "\n".join([f"Mean |value| over {self.rows:,} rows", "", *importance_lines(self)])


def importance(
    columns: Sequence[str], values: np.ndarray, centre: np.ndarray, stderr: np.ndarray, level: float
) -> Importance:
    """Return the importance of columns, from values, the centres of their intervals and standard errors (rows, p)."""
    if not is_number(level) or not 0 < level < 1:
        raise InputError(f"`level` must be a probability such as 0.95; got {level!r}.", code="level-not-a-probability")
    found = mean_size(values, centre, stderr)
    errors, freedom = _jackknifed(values, centre, stderr)
    order = np.argsort(-found, kind="stable")
    width = float(stdtrit(freedom, 0.5 + level / 2)) * errors if freedom else np.full(len(found), np.inf)
    low, high = np.maximum(found - width, 0), found + width
    names = [columns[place] for place in order]
    return Importance(names, found[order], errors[order], low[order], high[order], level, len(values))


def mean_size(values: np.ndarray, centre: np.ndarray, stderr: np.ndarray) -> np.ndarray:
    """Return the mean of |v| over rows (p,), given values, unbiased values and standard errors (rows, p)."""
    stderr = np.where(np.isfinite(stderr), stderr, 0.0)
    return _of_unbiased(values, stderr) if np.array_equal(values, centre) else _of_fitted(values, centre, stderr)


def _of_unbiased(values: np.ndarray, stderr: np.ndarray) -> np.ndarray:
    squares, m = stderr**2, values.mean(axis=0)
    spread = np.maximum(np.mean((values - m) ** 2, axis=0) - squares.mean(axis=0), 0.0)
    total = spread + squares
    share = np.where(total > 0, spread / np.where(total > 0, total, 1.0), 1.0)
    return np.asarray(_folded(m + share * (values - m), np.sqrt(share * squares)).mean(axis=0))


def _of_fitted(values: np.ndarray, centre: np.ndarray, stderr: np.ndarray) -> np.ndarray:
    apart, whole = np.mean((values - centre) ** 2, axis=0), np.mean(stderr**2, axis=0)
    noise = stderr * np.sqrt(np.minimum(1.0, apart / np.where(whole > 0, whole, 1.0)))
    sure = noise <= 0
    signs = 1 - 2 * ndtr(-values / np.where(sure, 1.0, noise))
    return np.asarray(np.where(sure, np.abs(values), values * signs).mean(axis=0))


def importance_lines(found: Importance, listed: int = IMPORTANCE_LINES) -> list[str]:
    """Return the printed table of an importance."""
    written = column(found.values, found.stderr)
    unit = f" ({written.unit})" if written.unit else ""
    shown = found.top(min(listed, len(found)))
    names = [one_line(name) for name in shown.columns]
    names = [name if len(name) <= LONGEST_COLUMN else f"{name[: LONGEST_COLUMN - 1]}…" for name in names]
    width = max(map(len, [*names, "column"]))
    head = f"{'column':<{width}}  {f'mean |value|{unit}':>14}  {100 * found.level:g}% interval"
    ends = zip(names, shown.values, shown.low, shown.high, strict=True)
    cells = [f"{n:<{width}}  {written.text(v):>14}  [{written.text(a)}, {written.text(b)}]" for n, v, a, b in ends]
    more = len(found) - len(shown)
    return [head, *cells, *([f"… and {more:,} more columns"] if more else [])]


def pandas() -> Any:
    """Return the module."""
    try:
        import pandas
    except ImportError:
        raise MissingPackage(
            "Data frames need pandas. Install it with: pip install pandas", code="pandas-missing"
        ) from None
    return pandas


def _folded(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return E|v| for v ~ N(mean, deviation²)."""
    sure = deviation <= 0
    safe = np.where(sure, 1.0, deviation)
    z = mean / safe
    folded = safe * (2 / np.pi) ** 0.5 * np.exp(-np.minimum(z**2 / 2, 700)) + mean * (1 - 2 * ndtr(-z))
    return np.asarray(np.where(sure, np.abs(mean), folded))


def _jackknifed(values: np.ndarray, centre: np.ndarray, stderr: np.ndarray) -> tuple[np.ndarray, int]:
    """Return standard errors (p,) from groups of rows, each left out once, and their degrees of freedom."""
    count = min(JACKKNIFE_GROUPS, len(values))
    if count < 2:
        return np.full(values.shape[1], np.nan), 0
    group = np.arange(len(values)) % count
    kept = [group != number for number in range(count)]
    without = np.stack([mean_size(values[some], centre[some], stderr[some]) for some in kept])
    return np.sqrt((count - 1) * np.mean((without - without.mean(axis=0)) ** 2, axis=0)), count - 1
