"""A square matrix that is solved with: its factors are made once.

M = P L U,   M⁻¹ b,   M⁻¹
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from geex._arrays.arrays import Array, accelerated, host, like, namespace
from geex._arrays.blas import SMALL, one_thread

BLOCK = 64


@dataclass(frozen=True, eq=False)
class Factored:
    """M (q, q), in float64. On the host LAPACK has it; an accelerator's own library solves there."""

    matrix: Array

    def solve(self, right: Array) -> Array:
        """M⁻¹ b for b (q, k)."""
        if accelerated(self.matrix):
            return namespace(self.matrix).linalg.solve(self.matrix, right)
        with one_thread(self._small):
            solution, _ = lapack.dgetrs(*self._factors, host(right), trans=1)
        return like(solution, right)

    def inverse(self) -> Array:
        """M⁻¹ (q, q)."""
        if accelerated(self.matrix):
            return namespace(self.matrix).linalg.inv(self.matrix)
        with one_thread(self._small):
            inverse, _ = lapack.dgetri(*self._factors, lwork=BLOCK * self.matrix.shape[0])
        return like(inverse.T, self.matrix)

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of Mᵀ, which is M as LAPACK reads it."""
        with one_thread(self._small):
            factors, pivots, failed = lapack.dgetrf(host(self.matrix).T)
        if failed:
            raise np.linalg.LinAlgError("the system of a fit is singular.")
        return factors, pivots

    @property
    def _small(self) -> bool:
        return int(self.matrix.shape[0]) <= SMALL
