"""The marginal likelihood of a linear model, for every noise in the price of one.

    d ~ N(0, s² (G + λ)),   G = Φ K Φᵀ = Q T Qᵀ,   T tridiagonal
    log p(d) = −½ (n log s² + log det(T + λ)) + …,   s² = (Qᵀd)ᵀ (T + λ)⁻¹ (Qᵀd) / n

One reduction of G, a few hundred rows at the most, serves every λ and every output: a tridiagonal system is solved in n
steps. It is done on the host, where LAPACK has it.
"""

import numpy as np
from scipy.linalg import lapack

# Candidates of λ, in units of the mean variance of contrasts under the prior.
RATIOS = np.logspace(2, -7, 37)


def evidence(gram: np.ndarray, differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The log marginal likelihood (λ, k) of every output of d (n, k) given Φ K Φᵀ, and the λ: RATIOS times the mean of
    its diagonal. It is −∞ for λ so small that G + λ, as it was rounded, is not positive."""
    n, k = differences.shape
    size = float(np.mean(np.diagonal(gram))) or 1.0
    ratios = RATIOS * size
    diagonal, beside, turned = _tridiagonal(gram, differences)
    # every T + λ one after the other, from the largest λ on, with nothing between them: one tridiagonal system
    pivots, factors, failed = lapack.dpttrf(
        np.add.outer(ratios, diagonal).ravel(), np.tile([*beside, 0.0], len(ratios))[:-1]
    )
    sound = (failed - 1) // n if failed else len(ratios)
    pivots, factors = pivots[: sound * n], factors[: sound * n - 1]
    solution, _ = lapack.dpttrs(pivots, factors, np.tile(turned, (sound, 1)))
    scale = np.maximum(np.sum(solution.reshape(-1, n, k) * turned, axis=1) / n, 1e-300)
    likelihood = np.full((len(ratios), k), -np.inf)
    likelihood[:sound] = -0.5 * (n * np.log(scale) + np.sum(np.log(pivots.reshape(-1, n)), axis=1)[:, None])
    return likelihood, ratios


def _tridiagonal(gram: np.ndarray, differences: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal (n,) of T, what is beside it (n − 1,), and Qᵀ d (n, k)."""
    n = len(gram)
    turned = np.array(differences, np.float64, order="F")
    if n < 2:
        return np.diagonal(gram).copy(), np.zeros(0), turned
    work = int(lapack.dsytrd_lwork(n, lower=1)[0])
    reflected, diagonal, beside, factors, _ = lapack.dsytrd(gram, lower=1, lwork=work)
    reflectors = np.asfortranarray(reflected[1:, :-1])
    turned[1:], *_ = lapack.dormqr("L", "T", reflectors, factors, turned[1:], max(1, 64 * turned.shape[1]))
    return diagonal, beside, turned
