"""The part of a game that depends on the number of players that show, as votes, thresholds and saturation do.

    g(m),  m = Σ_k e_k,  g odd        Cov(g(m), g(m')) = sign(m m') (J + (1 − J) min(|m|, |m'|) / q)

It is a step at m = 0 beside a Brownian motion in |m|. Its players are alike, so each has the share g(q) / q:

    Cov(ξ_k, g(m)) = Cov(g(q), g(m)) / q        Cov(ξ_j, ξ_k) = 1 / q²
"""

import numpy as np

# J: the share of the prior's variance in a step at half of the players, where votes have it.
STEP = 0.3


def size_kernel(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the covariance (n, m) of contrasts (n, q) and (m, q)."""
    own, beside = rows.sum(axis=1), others.sum(axis=1)
    nearer = np.minimum.outer(np.abs(own), np.abs(beside)) / rows.shape[1]
    return np.asarray(np.sign(np.outer(own, beside)) * (STEP + (1 - STEP) * nearer))


def size_value_covariance(rows: np.ndarray) -> np.ndarray:
    """Return the covariance (1, n) of every value with the draws of contrasts (n, q)."""
    return np.asarray(size_kernel(np.ones((1, rows.shape[1])), rows) / rows.shape[1])
