"""Gaussian kernels along one axis, and their roots.

K_ij = exp(−(i − j)² / 2w²) = R Rᵀ
"""

from functools import lru_cache

import numpy as np

KEPT = 32  # kernels: a run has a dozen, and asks for each of them hundreds of times


@lru_cache(maxsize=KEPT)
def kernel(length: int, width: float) -> np.ndarray:
    """K (length, length)."""
    place = np.arange(length)
    return np.asarray(np.exp(-((place[:, None] - place) ** 2) / (2 * width**2)))


@lru_cache(maxsize=KEPT)
def root(length: int, width: float) -> np.ndarray:
    """R (length, rank): wide kernels have far fewer columns than rows that are more than rounding."""
    sizes, directions = np.linalg.eigh(kernel(length, width))
    there = sizes > np.finfo(np.float64).eps * sizes[-1]
    return np.asarray(directions[:, there] * np.sqrt(sizes[there]))
