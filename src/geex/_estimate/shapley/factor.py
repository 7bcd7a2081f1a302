"""Cholesky factors of covariances of draws, of which the last has no noise."""

import numpy as np
from scipy.linalg import cho_factor

# The least noise, as a share of the variance: the matrix then has a Cholesky factor.
LEAST_NOISE = 1e-13
# What the noise is multiplied with where it has none.
NOISE_FACTOR = 100.0


def factored(system: np.ndarray, noise: float) -> tuple[np.ndarray, bool]:
    """Return L Lᵀ = K + λ for K (n, n), with (almost) no noise for the last row."""
    size = float(np.mean(np.diagonal(system)))
    noises = np.full(len(system), max(noise, LEAST_NOISE * size))
    noises[-1] = LEAST_NOISE * size
    while True:
        try:
            return cho_factor(system + np.diag(noises), lower=True)[0], True
        except np.linalg.LinAlgError:
            noises = noises * NOISE_FACTOR
