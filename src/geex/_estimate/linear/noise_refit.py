"""Fits of all outputs, with λ looked at again on all draws.

λ is chosen on a few hundred draws. Where these are fewer than the coefficients, or there is less noise than in any
candidate, they cannot tell how little it is. All draws can, once there are more of them than coefficients:

    |d − Φ û|² / (n − q)  is at least the noise's variance on average,   s² λ  is what was taken for it

If the first is far below the second, λ is too large. Draws that repeat others, of which few features have many, are not
counted, and where draws do not tell of every coefficient λ stays. Fits of smooth masks are left as they are too: these
hardly differ in some directions, of which λ alone says something.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._estimate.linear.design import Design
from geex._estimate.linear.posterior import Lift, Posterior, posterior
from geex._estimate.linear.prior_selection import Choice

# Noise below this share of what λ assumes counts as far less.
FAR_BELOW = 0.25
# What λ is multiplied with at each step.
REFIT_FACTOR = 1e-2
# The most steps.
REFIT_STEPS = 4


def fits(
    designs: list[Design], lifts: list[Lift], differences: Array, choices: list[Choice], smooth: bool
) -> Iterator[tuple[list[int], Choice, Posterior]]:
    """Places of outputs of d (n, k) that are fitted alike, how, and their fit. An output's depends on it alone.

    smooth: whether what was asked was.
    """
    xp = namespace(differences)
    most = 0 if smooth else REFIT_STEPS
    ahead = {(choice, most): _places(choices, choice) for choice in dict.fromkeys(choices)}
    while ahead:
        choice, steps = next(iter(ahead))
        places = ahead.pop((choice, steps))
        design, own = designs[choice.lift], xp.take(differences, like(places, differences, xp.int64), axis=1)
        found = posterior(design, own, lifts[choice.lift], choice.prior, choice.ratio)
        noisy = _less(design, own, found, choice.ratio).tolist() if steps else [False] * len(places)
        for output, again in zip(places, noisy, strict=True):
            if again:
                ahead.setdefault((replace(choice, ratio=REFIT_FACTOR * choice.ratio), steps - 1), []).append(output)
        kept = [place for place, again in enumerate(noisy) if not again]
        if kept:
            yield [places[place] for place in kept], choice, found.of(kept)


def _places(choices: list[Choice], choice: Choice) -> list[int]:
    return [place for place, one in enumerate(choices) if one == choice]


def _less(design: Design, differences: Array, found: Posterior, ratio: float) -> np.ndarray:
    """Whether there is far less noise than was taken for it (k,)."""
    xp = namespace(differences)
    n, q = design.contrasts.shape
    beyond = n - int(xp.count_nonzero(xp.any(design.contrasts != 0, axis=0))) if n > q else 0
    left = host(xp.sum((differences - design.explained(found.coefficients.T)) ** 2, axis=0))
    believed = FAR_BELOW * ratio * host(found.scale)
    less = left < believed * beyond
    return left < believed * _left_over(design) if less.any() else less


def _left_over(design: Design) -> int:
    """How many draws there are beyond what coefficients take: different ones, and 0 where these leave some untold."""
    rows, gram = host(design.contrasts), host(design.gram())
    there = np.diagonal(gram) > 0
    count = int(np.count_nonzero(there))
    if np.linalg.matrix_rank(gram[np.ix_(there, there)], hermitian=True) < count:
        return 0
    first = np.take_along_axis(rows, np.argmax(rows != 0, axis=1)[:, None], axis=1)
    return max(0, len(np.unique(rows * np.sign(first), axis=0)) - count)
