"""What an extension of geex must provide, and what it may provide: one base class for each kind of extension.

Abstract methods must be there. All other members have a default, which their docstrings state.

Method     decides what is asked, and makes values of the answers; RoundsMethod asks in rounds
Search     draws, and turns draws into queries and weights
Estimate   values and their errors
Features   which elements of the input belong together
Family     a density of noise
Stop       a rule that ends a run
Runner     where the model is called; Workers are its pool
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    import threading
    from builtins import property as provided

    from geex._arrays.arrays import Array, Shape, Stream
    from geex._estimate.score_function import Answered
    from geex._plan.plan import Plan
    from geex._plan.search import Draws
    from geex._problem.estimand import Estimand, Note
    from geex._problem.outputs import Score
    from geex._query.jobs import Job
    from geex._query.limits import Limits
    from geex._query.retrying_call import Model
else:

    class provided:
        """A property that a subclass may replace by another, by a class attribute or by a field of a dataclass."""

        def __init__(self, make):
            self.make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, owner, kind=None):
            if owner is None:  # a dataclass must not find a default here
                raise AttributeError(self.name)
            return self.make(owner)


class Features(ABC):
    """Which elements of the input make up a feature.

    Features that are equal (`==`) must be the same features: a frozen dataclass is.
    """

    @provided
    def channels(self) -> int | None:
        """The channel axis of an image; None where it is not known."""
        return None

    @provided
    def elementwise(self) -> bool:
        """Whether every element is a feature. Default: False."""
        return False

    @abstractmethod
    def shape(self, shape: Shape) -> Shape:
        """Return the shape of the values for an explicand of `shape`."""

    @abstractmethod
    def total(self, weights: Array) -> Array:
        """Sum weights of elements (u, *shape) to weights of features (u, p)."""

    @abstractmethod
    def index(self, shape: Shape) -> np.ndarray:
        """Return the number of every element's feature, in the shape of x: what `total` sums over."""

    def check(self, shape: Shape) -> None:  # noqa: B027
        """Raise FeaturesError where the features do not go with an explicand of this shape. Default: they do."""

    def axes(self, shape: Shape) -> tuple[int, ...]:
        """Return the axes of the features' own shape along which they have neighbours. Default: none.

        Raise FeaturesError where it is not clear which axes these are.
        """
        return ()

    def merged_axis(self, shape: Shape) -> int | None:
        """Return the axis of x along which all elements are one feature, the other axes being those of the features.

        Default: None, there is no such axis.
        """
        return None

    def names(self) -> list[str] | None:
        """Return what the features are called. Default: None, they are called by their places."""
        return None


@dataclass(frozen=True)
class LinearDraws:
    """How the mirrored draws of a search enter a linear model, d = e · ξ + noise, with e from `Search.contrasts`.

    of_features: whether contrasts are of features, and coefficients are values; else they are of elements.
    slopes: whether coefficients are slopes, which do not add up to f(x) − f(x̊). False: they are shares.
    neighbours: whether neighbours change together.
    moment: E[e_k²] where contrasts are independent over k and mean 0; None where they are not.
    by_size: whether contrasts are of masks of s features, s drawn ∝ 1/(s(p − s)): coefficients that add up are then
        Shapley values.
    """

    of_features: bool
    slopes: bool = False
    neighbours: bool = False
    moment: float | None = None
    by_size: bool = False


class Search(ABC):
    """Draws, and what they ask. A draw is asked as `rows` queries; `block` draws are one independent unit.

    Searches that ask the same must be equal: a frozen dataclass is.
    """

    @provided
    def rows(self) -> int:
        """How many queries a draw is. Default: 1."""
        return 1

    @provided
    def block(self) -> int:
        """How many draws are one independent unit. Default: 1."""
        return 1

    @provided
    def least(self) -> int:
        """How many queries the search needs. Default: two units."""
        return 2 * self.block * self.rows

    @provided
    def drawn(self) -> object:
        """What of the search decides its draws: searches that have it in common share them. Default: all of it."""
        return self

    @provided
    def all_draws(self) -> int | None:
        """How many draws there are, no two of which are alike. Default: None, there is no end of them."""
        return None

    @provided
    def sigma(self) -> float | None:
        """The standard deviation of noise that is added to inputs. Default: None, no noise is added."""
        return None

    @provided
    def features(self) -> Features | None:
        """The features that are shown and hidden as a whole. Default: None, answers serve any features."""
        return None

    @abstractmethod
    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        """Return the draws of a chunk, `count` in every chunk: a function of (self, seed, chunk) and the shape of x."""

    @abstractmethod
    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return the queries z (u, rows, *shape)."""

    @abstractmethod
    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        """Return w (u, features) of the first query of every draw; a second query is its mirror and has −w."""

    def afford(self, rows: int) -> int:
        """Return how many draws `rows` queries pay for, `rows` being at least `least`."""
        return rows // self.rows

    def linear(self) -> LinearDraws | None:
        """Return how `Regression` uses the draws. Default: None, it cannot.

        Raise MethodError where the settings of the search are in its way.
        """
        return None

    def contrasts(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return e (u, coefficients) of `linear`: what the two queries differ by in units of features, each ±1 or 0;
        or half of what they differ by, in elements."""
        raise NotImplementedError(f"{type(self).__name__} has no contrasts")


class Family(ABC):
    """A symmetric density of mean 0 and deviation 1, independent over elements."""

    @provided
    def normal(self) -> bool:
        """Whether it is the standard normal density: smoothed, orthogonal and regressed noise must be. Default: no."""
        return False

    @abstractmethod
    def draw(self, stream: Stream, shape: Shape) -> Array:
        """Draw independent noise."""

    @abstractmethod
    def score(self, noise: Array) -> Array:
        """Return −d/dε log π(ε)."""


class Estimate:
    """Values and their uncertainty for k outputs and p features.

    A subclass must have `values`, `stderr` and `sum_stderr`, as fields or as properties.
    """

    @provided
    def values(self) -> Array:
        """Values (k, p)."""
        raise NotImplementedError(f"{type(self).__name__} must have values (k, p)")

    @provided
    def stderr(self) -> Array:
        """Standard errors (k, p); NaN where the method has none."""
        raise NotImplementedError(f"{type(self).__name__} must have stderr (k, p)")

    @provided
    def sum_stderr(self) -> Array:
        """Standard error of the values' sum (k,)."""
        raise NotImplementedError(f"{type(self).__name__} must have sum_stderr (k,)")

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


class Method(ABC):
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
    def estimate(self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Estimate:
        """Return values of the outputs `targets`. `ends` (2, k) are the raw answers for x and the baseline."""

    @abstractmethod
    def estimand(self, search: Any) -> Estimand:
        """Return what the values estimate, and whether they add up."""

    def regions(
        self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score, rows: Array
    ) -> Estimate | None:
        """Return the estimate of sums over regions, rows (r, p) of 0 and 1; None where errors of sums are not known.

        Default: what `Estimate.over` returns.
        """
        return self.estimate(plan, answered, ends, targets, score).over(rows)


class RoundsMethod(Method):
    """A method that asks in rounds: what a round asks follows from the answers before it.

    `Method.search` is the search of round 0.
    """

    @abstractmethod
    def round_size(self, number: int) -> int:
        """Return how many draws round `number` has."""

    @abstractmethod
    def next_search(
        self, number: int, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score
    ) -> Search:
        """Return what round `number` asks, given the answers before it."""

    def may_stop_after(self, number: int) -> bool:
        """Return whether a rule may end the run after round `number`. Default: True."""
        return True


class Stop(ABC):
    """Looks at the estimate `now`, at the one `before` it, made of two thirds of the draws (half of them for methods in
    rounds), and at f(x) − f(x̊) (k,)."""

    @abstractmethod
    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        """Return why this is enough, in words; None where it is not."""


class Source(Protocol):
    """What is asked, row by row: a plan, or its ends."""

    @property
    def fingerprint(self) -> str: ...

    def rows(self, start: int, stop: int) -> Array:
        """Return queries number `start` … `stop` − 1."""
        ...


class Workers(Protocol):
    """A pool that answers jobs elsewhere than in the caller's thread.

    batch: the rows of a job. remote: whether workers make the queries; then a job is whole chunks, one at the least.
    window: how many jobs may be in flight.
    """

    @property
    def batch(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    @property
    def window(self) -> int: ...

    def submit(self, job: Job) -> Future[Any]:
        """Return what the model answers to the job's queries, or its error."""
        ...

    def look(self) -> None:
        """Raise RunError where the workers have gone."""
        ...

    def halt(self) -> None:
        """Give up what has not begun; what is being answered is finished."""
        ...

    def close(self) -> None: ...


class Runner(ABC):
    """Opens a pool for one model."""

    @abstractmethod
    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> Workers:
        """Return a pool that answers jobs of `batch` rows. `stop` is set when the run is to end."""
