"""Fits of all outputs, with λ looked at again on all draws.

λ is chosen on a few hundred draws. Where these are fewer than the coefficients, or there is less noise than in any
candidate, they cannot tell how little it is. All draws can, once there are more of them than coefficients:

    |d − Φ û|² / (n − q)  is at least the noise's variance on average,   s² λ  is what was taken for it

If the first is far below the second, λ is too large. Fits of smooth masks are left as they are: these hardly differ in
some directions, of which λ alone says something.
"""

from collections.abc import Iterator
from dataclasses import replace

from geex.arrays import Array, host, like, namespace
from geex.choice import Choice
from geex.design import Design
from geex.posterior import Lift, Posterior, posterior

FAR_BELOW = 0.25
STEP, STEPS = 1e-2, 4


def fits(
    designs: list[Design], lifts: list[Lift], differences: Array, choices: list[Choice], smooth: bool
) -> Iterator[tuple[list[int], Choice, Posterior]]:
    """Places of outputs of d (n, k) that are fitted alike, how, and their fit. An output's depends on it alone.

    smooth: whether what was asked was.
    """
    xp = namespace(differences)
    most = 0 if smooth else STEPS
    ahead = {(choice, most): _places(choices, choice) for choice in dict.fromkeys(choices)}
    while ahead:
        choice, steps = next(iter(ahead))
        places = ahead.pop((choice, steps))
        design, own = designs[choice.lift], xp.take(differences, like(places, differences, xp.int64), axis=1)
        found = posterior(design, own, lifts[choice.lift], choice.prior, choice.ratio)
        noisy = [bool(less) and steps > 0 for less in host(_less(design, own, found, choice.ratio))]
        for output, again in zip(places, noisy, strict=True):
            if again:
                ahead.setdefault((replace(choice, ratio=STEP * choice.ratio), steps - 1), []).append(output)
        kept = [place for place, again in enumerate(noisy) if not again]
        if kept:
            yield [places[place] for place in kept], choice, found.of(kept)


def _places(choices: list[Choice], choice: Choice) -> list[int]:
    return [place for place, one in enumerate(choices) if one == choice]


def _less(design: Design, differences: Array, found: Posterior, ratio: float) -> Array:
    """Whether there is far less noise than was taken for it (k,)."""
    xp = namespace(differences)
    n, q = design.contrasts.shape
    left = xp.sum((differences - design.explained(found.coefficients.T)) ** 2, axis=0)
    return left < FAR_BELOW * found.scale * ratio * max(0, n - q)
