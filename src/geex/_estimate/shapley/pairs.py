"""Interactions of pairs of features, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from geex.errors import MethodError


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


class HasInteractions:
    """What an explanation with a record of its answers has of interactions."""

    record: Any
    names: Sequence[str] | None
    target: int | list[int]

    def interactions(self) -> Interactions | list[Interactions]:
        """Return the Shapley interaction values of all pairs of features, from the same queries.

        They are exact where all subsets were queried.

        Returns
        -------
        Interactions or list of Interactions
            Values (p, p) with standard errors and intervals, for p features; a list for several targets.

        Raises
        ------
        MethodError
            The method has no interactions: only `geex.Shapley()` with a baseline of one row has them. Or the
            explanation was loaded and has no answers: use `geex.estimate(journal).interactions()`.

        Notes
        -----
        This is k-SII of order 2. For features j and k it is the mean of f(S ∪ jk) − f(S ∪ j) − f(S ∪ k) + f(S) over
        subsets S of the other features, all sizes alike.

        Examples
        --------
        >>> import numpy as np
        >>> import geex
        >>> product = lambda z: z[:, 0] * z[:, 1] + z[:, 2]
        >>> found = geex.explain(product, np.ones(3), method=geex.Shapley(), progress=False)
        >>> round(float(found.interactions().values[0, 1]), 6)
        1.0
        """
        if self.record is None:
            raise MethodError(
                "A loaded explanation has no answers. Use geex.estimate(journal).interactions() on the run's journal.",
                code="no-answers",
            )
        found = [replace(pairs, names=self.names) for pairs in self.record.interactions()]
        return found[0] if isinstance(self.target, int) else found
