"""What some features contribute together.

    Σ_{k∈R} ξ_k,     sd(Σ ξ_k) ≤ Σ sd(ξ_k)

Errors of neighbours are not independent: the left side takes the answers. The right side takes only the features' own
errors. It is never too small, and for many features far too large.
"""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host, like, namespace
from geex._results.numbers import column
from geex._results.significance.findings import inside
from geex._results.target_axis import squeezed
from geex.errors import InputError

# How many names an error lists.
LISTED_NAMES = 5


@dataclass(frozen=True, eq=False)
class Region:
    """The sum of some features' values, with its interval. Each field is a float, or an array (targets,).

    Attributes
    ----------
    value, stderr : float or array
        The sum and its standard error. If the sum of the values lies outside the interval, `value` is its nearest end.
    low, high : float or array
        The ends of the interval.
    share : float or array
        The sum as a share of f(x) − f(x̊); NaN where that is 0, or the values do not add up.
    centre : float or array
        The centre of the interval. The values of a regression are smoothed and the centre is not.
    joint : bool
        Whether the standard error is that of the sum. If not, it is the largest that it can be, from the errors of the
        features.
    """

    value: Array | float
    stderr: Array | float
    low: Array | float
    high: Array | float
    share: Array | float
    centre: Array | float
    joint: bool = True

    def __repr__(self) -> str:
        fields = (self.value, self.stderr, self.low, self.high, self.share)
        rows = zip(*(np.atleast_1d(np.asarray(host(one), np.float64)) for one in fields), strict=True)
        return "\n".join(self._described(*map(float, row)) for row in rows)

    def _described(self, value: float, stderr: float, low: float, high: float, share: float) -> str:
        """Return the sum of one output in a line."""
        style = column([value], [stderr])
        interval = style.interval(low, high)
        unit = f" × {style.unit}" if style.unit else ""
        parts = [f"Region: {style.with_error(value, stderr)}"]
        parts += [f"interval {interval}{unit}"] if interval else []
        parts += [f"{share:.0%} of the change f(x) − f(x̊)"] if np.isfinite(share) else []
        return ", ".join([*parts, *([] if self.joint else ["the widest interval that is possible"])])


def region_row(mask: Any, shape: tuple[int, ...], names: Sequence[str] | None = None) -> np.ndarray:
    """The mask as a row (1, p) of 0 and 1: True or False for every feature, or the names of some."""
    if isinstance(mask, str):
        return _named([mask], names)
    if isinstance(mask, list | tuple | set) and mask and all(isinstance(name, str) for name in mask):
        return _named(mask, names)
    found = host(as_array("mask", mask, InputError))
    if found.shape != shape:
        raise InputError(f"`mask` must have the shape of the values, {shape}; got {found.shape}.", code="mask-shape")
    strange = found[~np.isin(found, (0, 1))]
    if strange.size:
        raise InputError(
            f"`mask` must hold True or False; got {strange[0]!s}.", code="mask-not-boolean", fix="Pass mask > 0."
        )
    return np.asarray(found.reshape(1, -1).astype(float))


def _named(wanted: Collection[str], names: Sequence[str] | None) -> np.ndarray:
    """The features of these names, all of them where several share one."""
    unknown = [name for name in wanted if name not in (names or ())]
    if unknown:
        raise _unknown(unknown[0], names)
    return np.array([[float(name in wanted) for name in names or ()]])


def _unknown(name: str, names: Sequence[str] | None) -> InputError:
    """Return the error for a name that no feature has."""
    if not names:
        return InputError(
            "`mask` holds names, and the features have none.",
            code="features-without-names",
            fix="Pass a mask, or name the features: explanation.named(names=[…]).",
        )
    near = difflib.get_close_matches(name, names, LISTED_NAMES, 0.4)
    listed = ", ".join(map(repr, near or names[:LISTED_NAMES])) + (
        ", …" if not near and len(names) > LISTED_NAMES else ""
    )
    which = "Nearest" if near else "They are called"
    return InputError(
        f"`mask` must hold names of features; there is no {name!r}. {which}: {listed}.", code="feature-unknown"
    )


def widest(row: np.ndarray, values: Array, centre: Array, stderr: Array) -> tuple[Array, Array, Array]:
    """Of values (k, *shape): their sum over the row (1, p), what its interval is around, and the most that its standard
    error can be; (k, 1) each."""
    xp = namespace(values)
    inside = like(np.flatnonzero(row), values, xp.int64)

    def total(array: Array) -> Array:
        return xp.sum(xp.take(xp.reshape(array, (array.shape[0], -1)), inside, axis=1), axis=1)[:, None]

    return total(values), total(centre), total(stderr)


def summed(found: tuple[Array, Array, Array], width: float, change: np.ndarray, single: bool, joint: bool) -> Region:
    """Return the region of a sum, of the centre of its interval and of its standard error, (k, 1) each.

    width: half the interval, in standard errors. change: f(x) − f(x̊) (k,). single: whether the target is one output.
    """
    values, centre, errors = found
    low, high = centre - width * errors, centre + width * errors
    ends = [like(inside(host(values), host(low), host(high)), values), errors, low, high, centre]
    with np.errstate(all="ignore"):
        share = np.where(change == 0, np.nan, np.divide(host(ends[0])[:, 0], change))
    value, stderr, low, high, middle = (squeezed(end[:, 0], single) for end in ends)
    return Region(value, stderr, low, high, squeezed(like(share, values), single), middle, joint)
