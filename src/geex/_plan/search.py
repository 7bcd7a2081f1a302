"""Draws, from which queries and the weights of their answers are made.

Search by location families:

    z = x(α) ± ε,   w = −(x − x̊) ∘ ∇_ε log π(ε),   ξ = E[f(z) w]

A draw is one noise vector ε with its α. Its queries are a mirrored pair, x(α) + ε and x(α) − ε, or one alone. Draws
do not depend on explicand or baseline, so one set of draws serves all of them.

A family is the noise at standard deviation 1 and its score. A family of your own has these two methods:

    @dataclass(frozen=True)
    class Student(geex.Family):
        def draw(self, stream, shape): ...
        def score(self, noise): ...          # −d/dε log π(ε)
"""

from dataclasses import dataclass

import numpy as np

from geex._arrays.arrays import Array


@dataclass(frozen=True)
class Draws:
    """The draws of a chunk.

    Parameters
    ----------
    alpha
        The place α of each draw on the path (draws,).
    noise
        Noise of standard deviation 1, or a mask (draws, *shape). An axis along which noise is shared has length 1.
    rows
        The number of each draw's row of the background (draws,). None: there is no background.
    """

    alpha: Array
    noise: Array
    rows: np.ndarray | None = None

    def part(self, first: int, stop: int) -> "Draws":
        """Return draws number `first` … `stop` − 1."""
        rows = None if self.rows is None else self.rows[first:stop]
        return Draws(self.alpha[first:stop], self.noise[first:stop, ...], rows)
