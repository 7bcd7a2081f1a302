"""What is made of answers: methods, estimates and rules that stop a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from geex._protocols.asking import Features, Search
from geex._protocols.provided import provided
from geex._stored_names import Storable
from geex.errors import MethodError

if TYPE_CHECKING:
    from geex._arrays.arrays import Array
    from geex._estimate.answers import Answers
    from geex._problem.estimand import Estimand, Note


def _missing(estimate: Estimate, what: str) -> MethodError:
    return MethodError(
        f"{type(estimate).__name__} must have {what}, as a field or as a property.", code="estimate-incomplete"
    )


class Estimate:
    """Values and their uncertainty for k outputs and p features.

    A subclass must have `values`, `stderr` and `sum_stderr`, as fields or as properties.
    """

    @provided
    def values(self) -> Array:
        """Values (k, p)."""
        raise _missing(self, "values (k, p)")

    @provided
    def stderr(self) -> Array:
        """Standard errors (k, p); NaN where the method has none."""
        raise _missing(self, "stderr (k, p)")

    @provided
    def sum_stderr(self) -> Array:
        """Standard error of the values' sum (k,)."""
        raise _missing(self, "sum_stderr (k,)")

    @provided
    def centre(self) -> Array | None:
        """What intervals are around (k, p). Default: None, the values."""
        return None

    @provided
    def freedom(self) -> float:
        """Degrees of freedom of the standard errors. Default: infinitely many, they do not come from a sample."""
        return inf

    @provided
    def notes(self) -> tuple[Note, ...]:
        """What is to be said of the errors. Default: nothing."""
        return ()

    def over(self, rows: Array) -> Estimate | None:
        """Return the estimate of sums over regions, rows (r, p) of 0 and 1, instead of features.

        Default: None, errors of sums are not known.
        """
        return None

    def sum_over(self, rows: Array) -> Array | None:
        """Return the joint standard error of every output's sum over its own region (k,), rows (k, p) of 0 and 1.

        Default: None, errors are taken for independent.
        """
        return None

    def with_model_noise(self, noise: Array) -> Estimate:
        """Return the estimate for a model whose answers have noise of deviation (k,).

        Default: the same, since the errors hold the noise already.
        """
        return self


class Method(Storable, ABC):
    """Decides the search for one explicand and baseline, turns answers into values, and declares what they estimate."""

    @provided
    def compares(self) -> bool:
        """Whether x is compared with the baseline. False: the baseline may equal x. Default: True."""
        return True

    @provided
    def mirror(self) -> bool:
        """Whether draws are mirrored pairs of queries. Methods that can ask otherwise have a setting. Default: True."""
        return True

    @provided
    def regresses(self) -> bool:
        """Whether the values are coefficients of a regression already. Default: False."""
        return False

    @provided
    def one_scale(self) -> bool:
        """Whether the method chose one scale of noise for all elements. Default: False."""
        return False

    @abstractmethod
    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        """Return the search, given that `rows` queries may be asked."""

    @abstractmethod
    def estimate(self, answers: Answers) -> Estimate:
        """Return values of the outputs `answers.targets`."""

    @abstractmethod
    def estimand(self, search: Any) -> Estimand:
        """Return what the values estimate, and whether they add up."""

    def regions(self, answers: Answers, rows: Array) -> Estimate | None:
        """Return the estimate of sums over regions, rows (r, p) of 0 and 1; None where errors of sums are not known.

        Default: what `Estimate.over` returns.
        """
        return self.estimate(answers).over(rows)


class RoundsMethod(Method):
    """A method that asks in rounds: what a round asks follows from the answers before it.

    `Method.search` is the search of round 0.
    """

    @abstractmethod
    def round_size(self, number: int) -> int:
        """Return how many draws round `number` has."""

    @abstractmethod
    def next_search(self, number: int, answers: Answers) -> Search:
        """Return what round `number` asks, given the answers before it."""

    def may_stop_after(self, number: int) -> bool:
        """Return whether a rule may end the run after round `number`. Default: True."""
        return True


class Stop(Storable, ABC):
    """Looks at the estimate `now`, at the one `before` it, made of two thirds of the draws (half of them for methods in
    rounds), and at f(x) − f(x̊) (k,)."""

    @abstractmethod
    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        """Return why this is enough, in words; None where it is not."""
