"""Chance: what a ranking is worth that knows nothing of the model.

ξ_k ~ U(0, 1), independent
"""

from dataclasses import dataclass
from math import prod

from geex._arrays.arrays import Array, namespace
from geex._arrays.random_stream import Stream
from geex._estimate.answers import Answers
from geex._plan.search import Draws
from geex._problem.estimand import Estimand, Quantity, Unit
from geex._protocols import Estimate, Features, Method, Search
from geex._stored_names import stored


@stored("Random/1")
@dataclass(frozen=True)
class Random(Method):
    """Random values, to compare other methods with. Only x and the baseline are queried.

    Notes
    -----
    ξ_k ~ U(0, 1), independent of each other and of the model.

    Examples
    --------
    >>> import geex
    >>> method = geex.methods.Random()
    """

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> "Nothing":
        return Nothing()

    def estimate(self, answers: Answers) -> "Guess":
        """Values that depend on the seed and the target. Drawn like `ends`, in float64, in which ties are unlikely."""
        plan, ends = answers.plan, answers.ends
        count = prod(plan.features.shape(tuple(plan.explicand.shape)))
        rows = [Stream(plan.seed, (4, target), ends).uniform((count,)) for target in answers.targets]
        return Guess(namespace(ends).stack(rows))

    def estimand(self, search: "Nothing") -> Estimand:
        return Estimand(Quantity.NONE, unit=Unit.NONE)


@stored("no queries/1")
@dataclass(frozen=True)
class Nothing(Search):
    """The search that asks nothing."""

    rows: int = 1
    block: int = 1
    least: int = 0

    def afford(self, rows: int) -> int:
        return 0

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        return Draws(explicand[None, ...][:0], explicand[None, ...][:0])

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        return draws.noise[:, None, ...]

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        return features.total(draws.noise)


@dataclass(frozen=True, eq=False)
class Guess(Estimate):
    """Values (k, p) with no standard error."""

    values: Array

    @property
    def stderr(self) -> Array:
        return self.values * float("nan")

    @property
    def sum_stderr(self) -> Array:
        return self.values[:, 0] * float("nan")
