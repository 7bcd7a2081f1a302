"""Linear systems with one square matrix, which is factorised once.

M = P L U,   M⁻¹ b,   M⁻¹
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from geex._arrays.arrays import Array, accelerated, host, like, namespace
from geex._arrays.blas import SMALL, one_thread

# The block size of LAPACK that its workspace is made for.
LAPACK_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Factored:
    """M (q, q), in float64. LAPACK factorises it on the host; on an accelerator its own library solves."""

    matrix: Array

    def solve(self, right: Array) -> Array:
        """Return M⁻¹ b for b (q, k)."""
        if accelerated(self.matrix):
            return namespace(self.matrix).linalg.solve(self.matrix, right)
        with one_thread(self._small):
            solution, _ = lapack.dgetrs(*self._factors, host(right), trans=1)
        return like(solution, right)

    def inverse(self) -> Array:
        """Return M⁻¹ (q, q)."""
        if accelerated(self.matrix):
            return namespace(self.matrix).linalg.inv(self.matrix)
        with one_thread(self._small):
            inverse, _ = lapack.dgetri(*self._factors, lwork=LAPACK_BLOCK * self.matrix.shape[0])
        return like(inverse.T, self.matrix)

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors of Mᵀ: LAPACK reads rows as columns, so this needs no copy."""
        with one_thread(self._small):
            factors, pivots, failed = lapack.dgetrf(host(self.matrix).T)
        if failed:
            raise np.linalg.LinAlgError("The system of a fit is singular.")
        return factors, pivots

    @property
    def _small(self) -> bool:
        return int(self.matrix.shape[0]) <= SMALL
