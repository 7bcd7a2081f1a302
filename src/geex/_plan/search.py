"""What is drawn, and how a draw becomes queries and the weights of their answers.

Search by location families:

    z = x(α) ± ε,   w = −(x − x̊) ∘ ∇_ε log π(ε),   ξ = E[f(z) w]

A draw is one noise vector ε with its α. It is asked as a mirrored pair, x(α) + ε and x(α) − ε, or alone. What
is drawn does not depend on explicand or baseline, so one set of draws serves any of them.

A family is the noise at deviation 1 and its score. A fourth one is these two methods:

    @dataclass(frozen=True)
    class Student(geex.Family):
        def draw(self, stream, shape): ...
        def score(self, noise): ...          # −d/dε log π(ε)
"""

from dataclasses import dataclass

from geex._arrays.arrays import Array


@dataclass(frozen=True)
class Draws:
    """Draws of a chunk: α (u,) and noise at deviation 1 (u, *shape), axes that share noise having length 1."""

    alpha: Array
    noise: Array
