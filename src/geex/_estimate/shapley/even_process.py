"""A Gaussian process over the sums of mirrored answers, which hold the even T alone.

    a    = f(S) + f(Sᶜ) = 2 Σ_{T even} c_T Π_{k∈T} e_k         Cov(a, a') = 4 s² h cosh(Σ_k η_k e_k e'_k)
    I_jk = 4 Σ_{T∋j,k even} c_T / (|T| − 1)
    Cov(I_jk, a) = 4 s² θ_j θ_k e_j e_k ∫ Π_{l≠j,k}(1 + tθ_l e_l) + Π_{l≠j,k}(1 − tθ_l e_l) dt

The notation is that of `subset_process.py`; I_jk are interactions of pairs. The c_T of odd and even T have the same θ,
so the sums help to choose it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import cho_solve, lapack

from geex._estimate.shapley.factor import factored

# Nodes of the integral over t.
EVEN_NODES, EVEN_SHARES = (0.5 * part for part in (leggauss(8)[0] + 1, leggauss(8)[1]))


@dataclass(frozen=True, eq=False)
class PairProcess:
    """The posterior given rows e (n, q) and sums a (n,), of which the last has no noise."""

    rows: np.ndarray
    sums: np.ndarray
    theta: np.ndarray
    noise: float

    @cached_property
    def values(self) -> np.ndarray:
        """Î (q, q), 0 on the diagonal."""
        found = np.zeros((self.rows.shape[1],) * 2)
        for share, weights, product in self._nodes:
            found += share * (weights.T * (self.solution * product)) @ weights
        np.fill_diagonal(found, 0)
        return found

    def covariance(self, player: int) -> np.ndarray:
        """Return Cov(I_jk, a) / 4s² (n, q) of player j with every k."""
        found = np.zeros(self.rows.shape)
        for share, weights, product in self._nodes:
            found += (share * product * weights[:, player])[:, None] * weights
        return found

    @cached_property
    def _nodes(self) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """For every node of t and sign its share, θ_k e_k / (1 ± tθ_k e_k) (n, q), and the product over k (n,)."""
        signed = self.theta * self.rows
        parts = [
            (share, 1 + sign * node * signed)
            for node, share in zip(EVEN_NODES, EVEN_SHARES, strict=True)
            for sign in (1, -1)
        ]
        return [(share, signed / part, np.prod(part, axis=1)) for share, part in parts]

    def predicted(self, rows: np.ndarray) -> np.ndarray:
        """Return the sums (m,) of other draws, given their contrasts (m, q)."""
        return np.asarray(even_kernel(rows, self.rows, self.theta) @ self.solution)

    def slopes(self, covariance: np.ndarray) -> np.ndarray:
        """Return ∂Î/∂a (n, q) for covariances (n, q)."""
        return np.asarray(cho_solve(self.factor, covariance))

    @cached_property
    def residuals(self) -> np.ndarray:
        """Leave-one-out residuals (n,)."""
        inverse, _ = lapack.dpotri(self.factor[0], lower=1)
        return np.asarray(self.solution / np.diagonal(inverse))

    @cached_property
    def solution(self) -> np.ndarray:
        """(K + λ)⁻¹ a (n,)."""
        return np.asarray(cho_solve(self.factor, self.sums))

    @property
    def scale(self) -> float:
        """s², from the sums themselves."""
        return float(self.sums @ self.solution) / len(self.sums)

    @cached_property
    def factor(self) -> tuple[np.ndarray, bool]:
        """L Lᵀ = K + λ."""
        return factored(even_kernel(self.rows, self.rows, self.theta), self.noise)

    @property
    def strength(self) -> np.ndarray:
        """How much every player interacts (q,): the root of the sum of squares of its Î."""
        return np.asarray(np.sqrt(np.sum(self.values**2, axis=1)))


def even_kernel(rows: np.ndarray, others: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return Cov(a, a') / 4s² (n, m) of contrasts (n, q) and (m, q)."""
    return np.asarray(np.exp(0.5 * np.log1p(-(theta**2)).sum()) * np.cosh((rows * np.arctanh(theta)) @ others.T))
