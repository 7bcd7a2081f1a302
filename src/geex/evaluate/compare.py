"""One number for each of n explicands, and what they say together.

    mean  ā = 1/n Σ aᵢ        standard error  s/√n,  s² = 1/(n−1) Σ (aᵢ − ā)²
    95% interval: the 2.5% and 97.5% quantiles of the mean over 10,000 resamples of the explicands

Two methods are compared on the same explicands, by their differences aᵢ − bᵢ: explicands differ far more than
methods do. The interval is a percentile bootstrap, too narrow by about √(1 − 1/n) where n is small.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geex._arrays.arrays import host, is_real
from geex._arrays.validation import whole
from geex.errors import InputError

RESAMPLES = 10_000
AT_ONCE = 2**22
BOOTSTRAP = 11  # the bootstrap's place in the seed's streams


@dataclass(frozen=True)
class Summary:
    """A mean over `count` explicands, its standard error, and its 95% bootstrap interval (low, high)."""

    mean: float
    stderr: float
    interval: tuple[float, float]
    count: int

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Summary: {self.mean:.4f} ± {self.stderr:.4f}, 95% [{low:.4f}, {high:.4f}], {self.count} explicands"


@dataclass(frozen=True)
class Paired:
    """The mean of a − b over `count` explicands, its standard error and 95% bootstrap interval (low, high).

    share: of the explicands, how many have a > b, ties not among them.
    """

    mean: float
    stderr: float
    interval: tuple[float, float]
    share: float
    count: int

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Paired: a − b {self.mean:+.4f} ± {self.stderr:.4f}, 95% [{low:+.4f}, {high:+.4f}], "
            f"a > b for {self.share:.0%} of {self.count} explicands"
        )


def summary(numbers: Iterable[float], *, seed: int = 0) -> Summary:
    """Mean, standard error and 95% bootstrap interval of one number for each explicand, two or more.

    >>> summary([0.8, 0.9, 0.85, 0.95])
    Summary: 0.8750 ± 0.0323, 95% [0.8250, 0.9250], 4 explicands
    """
    array = _numbers("numbers", numbers)
    stderr = float(np.std(array, ddof=1)) / len(array) ** 0.5
    return Summary(float(np.mean(array)), stderr, _interval(array, whole("seed", seed, 0, InputError)), len(array))


def paired(a: Iterable[float], b: Iterable[float], *, seed: int = 0) -> Paired:
    """The mean of a − b, number by number over the same explicands, and how often a is the larger.

    >>> paired([0.8, 0.9, 0.85, 0.95], [0.7, 0.9, 0.8, 0.8])
    Paired: a − b +0.0750 ± 0.0323, 95% [+0.0250, +0.1250], a > b for 75% of 4 explicands
    """
    first, second = _numbers("a", a), _numbers("b", b)
    if len(first) != len(second):
        raise InputError(
            f"a has {len(first)} numbers and b has {len(second)}; wanted one of each for the same explicands, in the "
            "same order."
        )
    difference = summary(first - second, seed=seed)
    share = float(np.mean(first > second))
    return Paired(difference.mean, difference.stderr, difference.interval, share, difference.count)


def _interval(array: np.ndarray, seed: int) -> tuple[float, float]:
    """The middle 95% of the mean over resamples, drawn in blocks so that many explicands fit in memory."""
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(BOOTSTRAP,)))
    count = len(array)
    block = max(1, AT_ONCE // count)
    sizes = [min(block, RESAMPLES - start) for start in range(0, RESAMPLES, block)]
    means = [array[generator.integers(0, count, (size, count))].mean(axis=1) for size in sizes]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def _numbers(name: str, given: Any) -> np.ndarray:
    array = (
        host(given) if is_array_api_obj(given) else np.asarray(list(given) if isinstance(given, Iterable) else given)
    )
    if not is_real(array) or array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape} and type {array.dtype}; wanted real numbers of shape (n,).")
    if len(array) < 2:
        raise InputError(f"{name} holds {len(array)} numbers; wanted one for each of two explicands or more.")
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(
            f"{name} is {array[place]} at {place}; wanted finite numbers. Leave that explicand out for every method."
        )
    return np.asarray(array, dtype=np.float64)
