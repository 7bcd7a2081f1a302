"""Interactions of pairs of features, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Interaction:
    """The interaction of two features: their numbers or names, the value, its standard error and interval."""

    first: int | str
    second: int | str
    value: float
    stderr: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Interactions:
    """Shapley interaction values of all pairs of features of one output.

    The value of features j and k is the mean of f(S ∪ jk) − f(S ∪ j) − f(S ∪ k) + f(S) over subsets S of the other
    features, all sizes alike: what they do together beyond what each does alone.

    Attributes
    ----------
    values, centre, stderr : array, (features, features)
        The values, the centres of their intervals, and their standard errors; symmetric, with 0 on the diagonal.
    freedom : float
        Degrees of freedom of the standard errors; infinite where values are exact.
    names : sequence of str, optional
        The names of the features.
    index, order : str, int
        The definition: k-SII of order 2, whose values of pairs are the Shapley interaction index.
    """

    values: np.ndarray
    centre: np.ndarray
    stderr: np.ndarray
    freedom: float
    names: Sequence[str] | None = None
    index: str = "k-SII"
    order: int = 2

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals, (features, features) each.

        Parameters
        ----------
        level
            The probability with which an interval covers its value.
        """
        width = float(stdtrit(self.freedom, 0.5 + level / 2)) * self.stderr
        return self.centre - width, self.centre + width

    def strongest(self, count: int = 10) -> list[Interaction]:
        """Return the pairs with the largest absolute values, largest first.

        Parameters
        ----------
        count
            The number of pairs, at most.
        """
        first, second = np.triu_indices(len(self.values), 1)
        order = np.argsort(-np.abs(self.values[first, second]), kind="stable")[:count]
        low, high = self.interval()
        return [
            Interaction(
                self._label(j), self._label(k), *(float(part[j, k]) for part in (self.values, self.stderr, low, high))
            )
            for j, k in zip(first[order].tolist(), second[order].tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        lines = [
            f"  {one.first} × {one.second}  {one.value:.4g}  [{one.low:.4g}, {one.high:.4g}]"
            for one in self.strongest(5)
        ]
        return "\n".join([f"Interactions of pairs ({self.index} of order {self.order}), 95% intervals", *lines])

    def _label(self, number: int) -> int | str:
        return number if self.names is None else self.names[number]
