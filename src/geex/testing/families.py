"""Checks of a family of noise."""

from typing import Any

import numpy as np

from geex._arrays.random_stream import Stream
from geex._protocols import Family
from geex.testing.checking import ERRORS, check_stable, require, step

# Draws of a sample.
DRAWS = 200_000


def check_family(family: Family, draws: int = DRAWS, seed: int = 0) -> None:
    """Check a family of noise on a sample, to within 6 standard errors.

    Parameters
    ----------
    family
        The family, with its settings.
    draws
        The size of the sample.
    seed
        The seed of the sample.

    Raises
    ------
    CheckFailed
        A check failed. Its `code` is the name of the check: "stable-values", "draws", "same-seed", "mean", "deviation",
        "symmetry", "independence", "score-odd" or "score".

    Notes
    -----
    The score −d/dε log π(ε) of a density π integrates by parts: E[score(ε) g(ε)] = E[g′(ε)]. It is checked for
    g = ε, tanh(ε) and sin(2ε). E[ε⁴] must be finite: a Student family needs more than four degrees of freedom.

    Examples
    --------
    >>> import geex
    >>> geex.testing.check_family(geex.Laplace())
    """
    require(isinstance(family, Family), "family", family, "must be a geex.Family.")
    check_stable(family)
    with step("draws", family):
        noise, again = (_drawn(family, draws, seed) for _ in range(2))
    require(noise.shape == (draws // 2, 2), "draws", family, f"drew an array of shape {noise.shape}.")
    require(np.isfinite(noise).all(), "draws", family, "drew infinity or NaN.")
    require(noise.tobytes() == again.tobytes(), "same-seed", family, "draws other noise from the same stream.")
    with step("score", family):
        score, mirrored = (np.asarray(family.score(one)) for one in (noise, -noise))
    require(score.shape == noise.shape, "score", family, f"has a score of shape {score.shape}, not {noise.shape}.")
    require(np.allclose(mirrored, -score), "score-odd", family, "has a score that is not odd, though π is symmetric.")
    _mean(family, "mean", noise, 0.0, "E[ε]")
    _mean(family, "deviation", noise**2, 1.0, "E[ε²]")
    for frequency in (1.0, 3.0):
        _mean(family, "symmetry", np.sin(frequency * noise), 0.0, f"E[sin({frequency:g}ε)]")
    _mean(family, "independence", noise[:, 0] * noise[:, 1], 0.0, "E[ε ε'] of two elements")
    _mean(family, "score", score * noise, 1.0, "E[score(ε) ε]")
    _mean(family, "score", score * np.tanh(noise) - 1 / np.cosh(noise) ** 2, 0.0, "E[score(ε) tanh(ε) − tanh′(ε)]")
    _mean(family, "score", score * np.sin(2 * noise) - 2 * np.cos(2 * noise), 0.0, "E[score(ε) sin(2ε) − 2 cos(2ε)]")


def _drawn(family: Family, draws: int, seed: int) -> np.ndarray:
    return np.asarray(family.draw(Stream(seed, (1, 0), np.zeros(1)), (draws // 2, 2)))


def _mean(family: Family, check: str, sample: Any, expected: float, what: str) -> None:
    mean, error = float(np.mean(sample)), float(np.std(sample)) / np.size(sample) ** 0.5
    close = abs(mean - expected) <= ERRORS * error + 1e-12
    require(close, check, family, f"has {what} = {mean:.4g} ± {error:.2g}; it must be {expected:g}.")
