"""Estimates from answers whose squares are too small for float64.

f → f / u before the estimate, values and errors → u · values, u · errors after it,   u a power of two
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._estimate.answers import Answers
from geex._problem.estimand import Note
from geex._protocols import Estimate, ModelNoise

# Answers for x and the baseline below this are rescaled: their squares would lose digits below 1e-290.
TINY = 1e-120
# The least exponent of a unit: answers to other queries may be near 1, and their squares are to be finite.
LEAST = -498


@dataclass(frozen=True, eq=False)
class Rescaled(Estimate):
    """An estimate from answers over units (k,)."""

    own: Estimate
    units: Array

    @property
    def values(self) -> Array:
        return self.own.values * self.units[:, None]

    @property
    def stderr(self) -> Array:
        return self.own.stderr * self.units[:, None]

    @property
    def sum_stderr(self) -> Array:
        return self.own.sum_stderr * self.units

    @property
    def centre(self) -> Array | None:
        centre = self.own.centre
        return None if centre is None else centre * self.units[:, None]

    @property
    def freedom(self) -> float:
        return self.own.freedom

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.own.notes

    @property
    def left_over(self) -> Array | None:
        return self.own.left_over

    @property
    def noise_stderr(self) -> Array | None:
        found = self.own.noise_stderr
        return None if found is None else found * self.units[:, None]

    def over(self, rows: Array) -> "Rescaled | None":
        found = self.own.over(rows)
        return None if found is None else replace(self, own=found)

    def sum_over(self, rows: Array) -> Array | None:
        found = self.own.sum_over(rows)
        return None if found is None else found * self.units

    def with_model_noise(self, noise: ModelNoise) -> "Rescaled":
        noise = ModelNoise(noise.answer / self.units, noise.ends / self.units, noise.draws / self.units, noise.freedom)
        return replace(self, own=self.own.with_model_noise(noise))


def rescaling(estimate: Callable[[Answers], Any], answers: Answers) -> Any:
    """Return an estimate from the answers, or from multiples of them if they are tiny; None if there is none."""
    sizes = np.abs(host(answers.ends_scored)).max(axis=0)
    if not np.any((sizes > 0) & (sizes < TINY)):
        return estimate(answers)
    exponents = np.floor(np.log2(np.where((sizes > 0) & (sizes < TINY), sizes, 1.0)))
    units = like(np.ldexp(1.0, np.maximum(exponents, LEAST).astype(int)), answers.ends)
    found = estimate(replace(answers, units=units))
    return Rescaled(found, units) if isinstance(found, Estimate) else found
