"""The target axis: arrays have it inside (k, …), and an `Explanation` of a single target shows them without it."""

from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.outputs import Target


def is_single(target: Target) -> bool:
    """Return whether a target is one output, not a list of them, "all" or a list of one."""
    return target is None or isinstance(target, int)


def squeezed(array: Any, single: bool) -> Any:
    """Return numbers (k,), or an array (k, …) without features, as shown: one number of one target is a float."""
    if not single:
        return array
    return float(array[0]) if array.ndim == 1 else array[0, ...]


def without_axis(array: Array, single: bool) -> Array:
    """Return an array of features (k, *features) as shown; it stays an array if x is one number."""
    return array[0, ...] if single else array


def with_axis(array: Array, target: int | list[int]) -> Array:
    """Return a shown array of features with its target axis (k, …)."""
    return array[None, ...] if is_single(target) else array


def numbers(shown: Array | float | None) -> np.ndarray:
    """Return a shown number, or one for each target, as float64 (k,)."""
    return np.atleast_1d(np.asarray(host(shown), np.float64))


def numbers_from_file(stored: Any, single: bool) -> Any:
    """Return stored numbers in float64; one number of a single target is a float."""
    array = np.asarray(stored, np.float64)
    return float(array) if single and array.ndim == 0 else array
