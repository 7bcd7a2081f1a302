"""Which features differ from 0, and which are among the largest, with one error probability for all of them together.

    p_k = 2 T(−|centre_k| / stderr_k),   T: Student's t with the run's degrees of freedom
    p̃_(i) = max_{j≤i} min(1, (m − j + 1) p_(j)),   p_(1) ≤ … ≤ p_(m)                        (Holm, 1979)
    p̃_(i) = min_{j≥i} min(1, m p_(j) / j)                                                    (Benjamini–Hochberg, 1995)
    |centre_k − ξ_k| ≤ q stderr_k for all k,   q = −T⁻¹(α / 2m)                              (Bonferroni)

m is the number of features whose value is estimated. Features that equal the baseline, and exact values, have no error
and need no correction. Holm's method and Bonferroni's assume nothing of how errors go together: with probability 1 − α
none of the marked features is noise. Pixels are many, and neighbours share their errors. What is marked in a picture is
chosen by Benjamini–Hochberg instead: a share α of it at most is expected to be noise. Where all is noise, both mark
nothing in 1 − α of all runs.

The largest k, from the simultaneous intervals low_k ≤ |ξ_k| ≤ high_k:

    inside:   fewer than k others have high_j ≥ low_i          outside:   at least k others have low_j > high_i

A value in its interval is as close to ξ as it was, or closer, wherever the interval contains ξ: an interval is convex.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from geex._arrays.arrays import Array, host, namespace
from geex._arrays.validation import is_number
from geex.errors import InputError

# The family-wise error of what is coloured, listed and printed is 1 − LEVEL.
LEVEL = 0.95
# Features that a printed TopFeatures lists; of more it has the number.
LISTED_TOP = 12
# Rounding of f(x) and f(x̊), in units of the last place, below which no value differs from 0.
UNITS = 32


@dataclass(frozen=True, eq=False)
class TopFeatures:
    """Which features are among the k largest in absolute value; all statements hold together at `level`.

    Attributes
    ----------
    k : int
        The number of largest features.
    level : float
        The probability that all statements are true.
    inside, outside, undecided : array of bool, (*features) or (targets, *features)
        Features that are among the k largest, that are not, and all others.
    signs : array of int, like `inside`
        1 for values above 0, −1 for values below 0, 0 for undecided ones.
    names : list of str or None
        Names of the features, if they have any.
    """

    k: int
    level: float
    inside: Array
    outside: Array
    undecided: Array
    signs: Array
    names: list[str] | None = None

    def __repr__(self) -> str:
        parts = ((kind, np.asarray(host(getattr(self, kind)))) for kind in ("inside", "outside", "undecided"))
        found = "; ".join(f"{kind} {self._listed(marked)}" for kind, marked in parts)
        return f"TopFeatures: the {self.k} largest at {self.level:.4g}: {found}"

    def _listed(self, marked: np.ndarray) -> str:
        """Return the names of the marked features, their places, or how many they are."""
        places = np.flatnonzero(marked)
        if marked.ndim != 1 or len(places) > LISTED_TOP:
            return f"{len(places):,} of {marked.size:,}"
        names = [str(place) if self.names is None else self.names[place] for place in places]
        return ", ".join(names) or "none"


@dataclass(frozen=True, eq=False)
class Findings:
    """Centres and standard errors (k, p) of the intervals of k outputs, each of which is a family of its own.

    resolution (k,): what rounding may add to a value. neighbours: whether features have neighbours, as pixels do.
    """

    centre: np.ndarray
    stderr: np.ndarray
    freedom: float
    resolution: np.ndarray
    neighbours: bool = False

    @cached_property
    def counts(self) -> np.ndarray:
        """m of every output (k,)."""
        return np.asarray(np.sum(self.stderr > 0, axis=1))

    @cached_property
    def p_values(self) -> np.ndarray:
        """p̃ by Holm's method of every feature (k, p); NaN where no error is known."""
        return self._adjusted_by(_holm)

    @cached_property
    def marks(self) -> np.ndarray:
        """p̃ that decides what is marked in pictures and lists (k, p): by Benjamini–Hochberg if there are neighbours."""
        return self._adjusted_by(_benjamini_hochberg) if self.neighbours else self.p_values

    def _adjusted_by(self, adjust: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        rows = zip(self.centre, self.stderr, self.resolution, strict=True)
        return np.stack([self._adjusted(*row, adjust) for row in rows])

    @property
    def quiet(self) -> np.ndarray:
        """Whether errors are known, and no feature is marked, of every output (k,)."""
        return np.asarray((self.counts > 0) & ~np.any(self.marks <= 1 - LEVEL, axis=1))

    def signs(self, level: float = LEVEL) -> np.ndarray:
        """1 and −1 for values above and below 0, with family-wise error 1 − level; 0 for others (k, p)."""
        found = self.p_values <= 1 - level
        return np.asarray(np.sign(self.centre) * found, np.int8)

    def simultaneous(self, level: float = LEVEL) -> np.ndarray:
        """q of every output (k,)."""
        return np.array([quantile(level, self.freedom, int(count)) for count in self.counts])

    def top(self, count: int, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which features are inside and outside the `count` largest, and signs (k, p)."""
        half = self.simultaneous(level)[:, None] * self.stderr + self.resolution[:, None]
        half = np.where(np.isnan(half), np.inf, half)
        size = np.abs(self.centre)
        low, high = np.maximum(size - half, 0), size + half
        rows = [_placed(*row, count) for row in zip(low, high, strict=True)]
        signs = np.asarray(np.sign(self.centre) * (low > 0), np.int8)
        return np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows]), signs

    def _adjusted(
        self,
        centre: np.ndarray,
        stderr: np.ndarray,
        resolution: float,
        adjust: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """p̃ of one output (p,)."""
        size = np.abs(centre)
        # what has no error is 0 or is not; what is not more than rounding is 0
        p = np.where(size > resolution, 0.0, 1.0)
        estimated = stderr > 0
        with np.errstate(over="ignore"):
            own = 2 * stdtr(self.freedom, -size[estimated] / stderr[estimated])
        own = np.maximum(own, p[estimated])
        order = np.argsort(own, kind="stable")
        own[order] = adjust(own[order])
        p[estimated] = own
        p[np.isnan(stderr)] = np.nan
        return np.asarray(p)


def _holm(p: np.ndarray) -> np.ndarray:
    """Return p̃ of p-values in ascending order."""
    return np.asarray(np.maximum.accumulate(np.minimum(1, p * (len(p) - np.arange(len(p))))))


def _benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Return p̃ of p-values in ascending order."""
    steps = np.minimum(1, p * len(p) / (1 + np.arange(len(p))))
    return np.asarray(np.minimum.accumulate(steps[::-1])[::-1])


def _placed(low: np.ndarray, high: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Which features (p,) are inside and outside the `count` largest, given the ends of all intervals."""
    rivals = len(high) - np.searchsorted(np.sort(high), low, side="left") - 1  # itself is no rival
    above = len(low) - np.searchsorted(np.sort(low), high, side="right")
    return rivals < count, above >= count


def quantile(level: float, freedom: float, count: int = 1) -> float:
    """Return half the width of intervals, in standard errors, of which all `count` hold together at `level`."""
    if count <= 1:
        return float(stdtrit(freedom, 0.5 + level / 2))
    return -float(stdtrit(freedom, (1 - level) / (2 * count)))


def resolution(output: np.ndarray, base: np.ndarray, explicand: Array | None = None) -> np.ndarray:
    """Return what rounding may add to a value (k,), for f(x) and f(x̊) (k,) of a model that computes like x."""
    xp = namespace(np.empty(0) if explicand is None else explicand)
    kind = xp.float64 if explicand is None else explicand.dtype
    precise = kind if xp.isdtype(kind, "real floating") else xp.float64
    return np.asarray(UNITS * float(xp.finfo(precise).eps) * np.maximum(np.abs(output), np.abs(base)))


def inside(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return values, each moved to the nearest end of its interval if it lies outside; as it is if there is none."""
    return np.asarray(np.where(np.isnan(low), values, np.minimum(np.maximum(values, low), high)))


def check_level(level: Any) -> float:
    """Return a level. Raise InputError if it is not a probability."""
    if not is_number(level) or not 0 < level < 1:
        raise InputError(f"`level` must be a probability such as 0.95; got {level!r}.", code="level-not-a-probability")
    return float(level)
