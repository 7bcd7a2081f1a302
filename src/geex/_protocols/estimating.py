"""What is made of answers: methods, estimates and rules that stop a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from geex._protocols.provided import provided
from geex._protocols.querying import Features, Search
from geex._stored_names import Storable
from geex.errors import MethodError

if TYPE_CHECKING:
    from geex._arrays.arrays import Array
    from geex._estimate.answers import Answers
    from geex._estimate.shapley.pairs import Interactions
    from geex._problem.estimand import Estimand, Note


@dataclass(frozen=True, eq=False)
class ModelNoise:
    """The noise of a model's answers, of k outputs. All are 0 for a model that answers the same each time.

    Attributes
    ----------
    answer
        The standard deviation of one answer for x (k,).
    ends
        The standard error of f(x) − f(x̊) as it was estimated, from all answers for x and the baseline (k,).
    draws
        The standard deviation of one answer to a query of the plan (k,), a mean over queries.
    freedom
        Degrees of freedom of `ends`.
    """

    answer: Array
    ends: Array
    draws: Array
    freedom: float = 1.0

    def taken(self, places: Array) -> ModelNoise:
        """Return the noise of some outputs, by their numbers."""
        return ModelNoise(self.answer[places], self.ends[places], self.draws[places], self.freedom)


def _missing(estimate: Estimate, what: str) -> MethodError:
    return MethodError(
        f"{type(estimate).__name__} must have {what}, as a field or as a property.", code="estimate-incomplete"
    )


class Estimate:
    """Values and standard errors for k outputs and p features. Base class.

    A subclass must have `values`, `stderr` and `sum_stderr`, as fields or as properties.
    """

    @provided
    def values(self) -> Array:
        """Values (k, p)."""
        raise _missing(self, "values (k, p)")

    @provided
    def stderr(self) -> Array:
        """Standard errors (k, p); NaN if the method has none."""
        raise _missing(self, "stderr (k, p)")

    @provided
    def sum_stderr(self) -> Array:
        """The standard error of the sum of the values (k,)."""
        raise _missing(self, "sum_stderr (k,)")

    @provided
    def centre(self) -> Array | None:
        """The centre of intervals (k, p), if it differs from the values. Default: None."""
        return None

    @provided
    def freedom(self) -> float:
        """Degrees of freedom of the standard errors. Default: infinite, they do not come from a sample."""
        return inf

    @provided
    def notes(self) -> tuple[Note, ...]:
        """What standard errors include, and what they do not. Default: nothing to note."""
        return ()

    def over(self, rows: Array) -> Estimate | None:
        """Return the estimate of sums over regions, rows (r, p) of 0 and 1, in place of features.

        Default: None, there are no errors of sums.
        """
        return None

    def sum_over(self, rows: Array) -> Array | None:
        """Return the joint standard error (k,) of the sum of each output over its own region, rows (k, p) of 0 and 1.

        Default: None, errors are assumed to be independent.
        """
        return None

    @provided
    def left_over(self) -> Array | None:
        """What the fit leaves of the differences of answers, leave-one-out, as a share of their mean square (k,).

        Default: None, there is no fit.
        """
        return None

    @provided
    def noise_stderr(self) -> Array | None:
        """The part of the standard errors that is the model's noise (k, p). Default: None, not known."""
        return None

    def with_model_noise(self, noise: ModelNoise) -> Estimate:
        """Return the estimate for a model whose answers have this noise.

        Default: the same, if the errors include the noise of the draws already, and values do not depend on the answers
        for x and the baseline.
        """
        return self


class Method(Storable, ABC):
    """How queries are chosen, and how values are computed from their answers. Base class of methods.

    The abstract methods are `search`, `estimate` and `estimand`.
    """

    @provided
    def compares(self) -> bool:
        """Whether values compare x with the baseline. False: the baseline may equal x. Default: True."""
        return True

    @provided
    def mirror(self) -> bool:
        """Whether draws are mirrored pairs of queries. Default: True."""
        return True

    @provided
    def regresses(self) -> bool:
        """Whether the values are coefficients of a regression already. Default: False."""
        return False

    @provided
    def one_scale(self) -> bool:
        """Whether the method chose one standard deviation of noise for all elements. Default: False."""
        return False

    def draws_among_rows(self, explicand: Array, background: Array, features: Features) -> bool:
        """Return whether one plan draws among the rows of a background (rows, *shape), passed as `baseline`.

        Default: no, every row is a baseline with a plan of its own.
        """
        return False

    @abstractmethod
    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        """Return the search for this x and baseline, for at most `rows` queries."""

    @abstractmethod
    def estimate(self, answers: Answers) -> Estimate:
        """Return values and standard errors of the outputs `answers.targets`."""

    @abstractmethod
    def estimand(self, search: Any) -> Estimand:
        """Return what the values estimate, and whether they add up."""

    def interactions(self, answers: Answers, noise: np.ndarray | None) -> list[Interactions] | None:
        """Return the Shapley interaction values of pairs of features, for every output.

        noise (k,): the deviation of the model's answers; None if it is not known. Default: None, the method has none.
        """
        return None

    def regions(self, answers: Answers, rows: Array) -> Estimate | None:
        """Return the estimate of sums over regions, rows (r, p) of 0 and 1. None: there are no errors of sums.

        Default: what `Estimate.over` returns.
        """
        return self.estimate(answers).over(rows)


class RoundsMethod(Method):
    """A method with rounds: the queries of a round depend on the answers of earlier rounds. Base class.

    `search` returns the search of round 0. The further abstract methods are `round_size` and `next_search`.
    """

    @abstractmethod
    def round_size(self, number: int) -> int:
        """Return the number of draws of round `number`."""

    @abstractmethod
    def next_search(self, number: int, answers: Answers) -> Search:
        """Return the search of round `number`, from the answers of earlier rounds."""

    def may_stop_after(self, number: int) -> bool:
        """Return whether a stop rule may end the run after round `number`. Default: True."""
        return True


class Stop(Storable, ABC):
    """A rule that may end a run before the budget. Base class; `geex.Precise` and `geex.Settled` are built in."""

    @abstractmethod
    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        """Return why the run may end, in words; None to continue.

        Parameters
        ----------
        now
            The estimate from all answers so far.
        before
            The estimate from two thirds of the draws; from half of them for methods with rounds. None: there is none
            yet.
        span
            f(x) − f(x̊) of each output (k,).
        """
