"""Cholesky factors of covariances of draws, of which the last has no noise."""

import numpy as np
from scipy.linalg import cho_factor

# The least noise, as a share of the mean diagonal, and by what it grows where rounding makes a system not positive.
LEAST, MORE = 1e-13, 100.0


def factored(system: np.ndarray, noise: float) -> tuple[np.ndarray, bool]:
    """Return L Lᵀ = K + λ for K (n, n), with (almost) no noise for the last row."""
    size = float(np.mean(np.diagonal(system)))
    noises = np.full(len(system), max(noise, LEAST * size))
    noises[-1] = LEAST * size
    while True:
        try:
            return cho_factor(system + np.diag(noises), lower=True)[0], True
        except np.linalg.LinAlgError:
            noises = noises * MORE
