"""Means over n inputs, one number for each, with standard errors and confidence intervals.

    mean  ā = 1/n Σ aᵢ        standard error  s/√n,  s² = 1/(n−1) Σ (aᵢ − ā)²
    95% interval: the 2.5% and 97.5% quantiles of the mean over 10,000 resamples of the inputs

Two methods are compared on the same inputs, by the differences aᵢ − bᵢ: inputs differ far more than methods do. The
interval is a percentile bootstrap. For small n it is too narrow, by about √(1 − 1/n).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geex._arrays.arrays import host, is_real
from geex._arrays.validation import whole
from geex.errors import InputError

# Resamples of the bootstrap.
RESAMPLES = 10_000
# Numbers that one block of resamples may hold in memory.
BLOCK_SIZE = 2**22
# The stream of the seed that the bootstrap uses.
BOOTSTRAP_STREAM = 11


@dataclass(frozen=True)
class Summary:
    """A mean over inputs.

    Attributes
    ----------
    mean : float
        The mean.
    stderr : float
        Its standard error.
    interval : (float, float)
        Its 95% bootstrap interval.
    count : int
        The number of inputs.
    """

    mean: float
    stderr: float
    interval: tuple[float, float]
    count: int

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Summary: {self.mean:.4f} ± {self.stderr:.4f}, 95% [{low:.4f}, {high:.4f}], {self.count} inputs"


@dataclass(frozen=True)
class Paired:
    """The mean of a − b over inputs.

    Attributes
    ----------
    mean : float
        The mean of the differences.
    stderr : float
        Its standard error.
    interval : (float, float)
        Its 95% bootstrap interval.
    share : float
        The share of inputs with a > b; ties do not count.
    count : int
        The number of inputs.
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
            f"a > b for {self.share:.0%} of {self.count} inputs"
        )


def summary(numbers: Iterable[float], *, seed: int = 0) -> Summary:
    """Return the mean of one number for each input, with its standard error and 95% bootstrap interval.

    Parameters
    ----------
    numbers : iterable of float, (n,)
        One finite number for each of two inputs or more.
    seed : int, default 0
        The seed of the bootstrap.

    Returns
    -------
    Summary
        Mean, standard error, interval and count.

    Raises
    ------
    InputError
        If the numbers are fewer than two, not finite or not of shape (n,).

    Notes
    -----
    The standard error is s/√n with s² = 1/(n−1) Σ (aᵢ − ā)². The interval is the 2.5% and 97.5% quantiles of the mean
    over 10,000 resamples.

    Examples
    --------
    >>> summary([0.8, 0.9, 0.85, 0.95])
    Summary: 0.8750 ± 0.0323, 95% [0.8250, 0.9250], 4 inputs
    """
    array = _numbers("numbers", numbers)
    stderr = float(np.std(array, ddof=1)) / len(array) ** 0.5
    return Summary(float(np.mean(array)), stderr, _interval(array, whole("seed", seed, 0, InputError)), len(array))


def paired(a: Iterable[float], b: Iterable[float], *, seed: int = 0) -> Paired:
    """Return the mean of a − b over the same inputs, and how often a is larger.

    Parameters
    ----------
    a, b : iterable of float, (n,)
        One finite number for each input, in the same order.
    seed : int, default 0
        The seed of the bootstrap.

    Returns
    -------
    Paired
        Mean of the differences, its standard error and interval, the share with a > b, and the count.

    Raises
    ------
    InputError
        If `a` and `b` differ in length, are shorter than two, or are not finite.

    Examples
    --------
    >>> paired([0.8, 0.9, 0.85, 0.95], [0.7, 0.9, 0.8, 0.8])
    Paired: a − b +0.0750 ± 0.0323, 95% [+0.0250, +0.1250], a > b for 75% of 4 inputs
    """
    first, second = _numbers("a", a), _numbers("b", b)
    if len(first) != len(second):
        raise InputError(
            f"`a` and `b` must have a number for each of the same inputs; got {len(first)} and {len(second)}.",
            code="lengths-differ",
        )
    difference = summary(first - second, seed=seed)
    share = float(np.mean(first > second))
    return Paired(difference.mean, difference.stderr, difference.interval, share, difference.count)


def _interval(array: np.ndarray, seed: int) -> tuple[float, float]:
    """Return the middle 95% of the mean over resamples, drawn in blocks so that many inputs fit in memory."""
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(BOOTSTRAP_STREAM,)))
    count = len(array)
    block = max(1, BLOCK_SIZE // count)
    sizes = [min(block, RESAMPLES - start) for start in range(0, RESAMPLES, block)]
    means = [array[generator.integers(0, count, (size, count))].mean(axis=1) for size in sizes]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def _numbers(name: str, given: Any) -> np.ndarray:
    array = (
        host(given) if is_array_api_obj(given) else np.asarray(list(given) if isinstance(given, Iterable) else given)
    )
    if not is_real(array) or array.ndim != 1:
        raise InputError(
            f"`{name}` must be real numbers of shape (n,); got the shape {array.shape} and the type {array.dtype}.",
            code="numbers-not-a-list",
        )
    if len(array) < 2:
        raise InputError(
            f"`{name}` must have a number for each of two inputs or more; got {len(array)}.", code="numbers-too-few"
        )
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(
            f"`{name}` must be finite; got {array[place]} at {place}. Leave this input out for every method.",
            code="numbers-not-finite",
        )
    return np.asarray(array, dtype=np.float64)
