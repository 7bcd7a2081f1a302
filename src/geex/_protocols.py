"""What an extension of geex provides: one protocol for each kind of extension."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    import threading

    from geex._arrays.arrays import Array, Shape, Stream
    from geex._estimate.score_function import Answered
    from geex._plan.plan import Plan
    from geex._plan.search import Draws
    from geex._problem.outputs import Score
    from geex._query.jobs import Job
    from geex._query.limits import Limits
    from geex._query.retrying_call import Model


class Features(Protocol):
    """Sums what is known of elements into what is known of features."""

    @property
    def channels(self) -> int | None:
        """The channel axis of an image, where it is known."""
        ...

    def check(self, shape: Shape) -> None:
        """Raises FeaturesError where the features do not go with an explicand of this shape."""
        ...

    def shape(self, shape: Shape) -> Shape:
        """The shape of the values for an explicand of `shape`."""
        ...

    def total(self, weights: Array) -> Array:
        """Weights of elements (u, *shape) -> weights of features (u, p)."""
        ...

    def index(self, shape: Shape) -> np.ndarray:
        """The number of every element's feature, in the shape of x: what `total` sums over."""
        ...


class Search(Protocol):
    """Draws, and what they ask. A draw is asked as `rows` queries; `block` draws are one independent unit."""

    @property
    def rows(self) -> int: ...

    @property
    def block(self) -> int: ...

    @property
    def least(self) -> int:
        """How many queries it takes at the least."""
        ...

    @property
    def drawn(self) -> object:
        """What of the search decides its draws: searches that have it in common share them."""
        return self

    def afford(self, rows: int) -> int:
        """How many draws `rows` queries pay for, `rows` being at least `least`."""
        return rows // self.rows

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        """The draws of a chunk, `count` in every chunk: a function of (self, seed, chunk) and the shape of x alone."""
        ...

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """z: (u, rows, *shape)."""
        ...

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        """w (u, features) of the first query of every draw; a second query is its mirror and has −w."""
        ...


class Family(Protocol):
    """A symmetric density of mean 0 and deviation 1, independent over elements."""

    def draw(self, stream: Stream, shape: Shape) -> Array:
        """Independent noise."""
        ...

    def score(self, noise: Array) -> Array:
        """−d/dε log π(ε)."""
        ...


class Estimate(Protocol):
    """Values and their uncertainty for k outputs and p features."""

    @property
    def values(self) -> Array:
        """(k, p)."""
        ...

    @property
    def stderr(self) -> Array:
        """(k, p); NaN where the method has none."""
        ...

    @property
    def sum_stderr(self) -> Array:
        """Standard error of the values' sum (k,)."""
        ...


class Method(Protocol):
    """Decides the search for one explicand and baseline, turns answers into values, and says what they estimate."""

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Search:
        """The search, given that `rows` queries may be asked."""
        ...

    def estimate(self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Estimate:
        """Values of the outputs `targets`. `ends` (2, k) are the raw answers for x and the baseline."""
        ...

    def estimand(self, search: Any) -> str:
        """What the values estimate, and whether they add up."""
        ...


class Stop(Protocol):
    """Looks at the estimate `now`, at the one `before` it, made of two thirds of the draws (half of them for methods in
    legs), and at f(x) − f(x̊) (k,)."""

    def met(self, now: Estimate, before: Estimate | None, span: np.ndarray) -> str | None:
        """Why this is enough, in words; None where it is not."""
        ...


class Source(Protocol):
    """What is asked, row by row: a plan, or its ends."""

    @property
    def fingerprint(self) -> str: ...

    def rows(self, start: int, stop: int) -> Array:
        """Queries number `start` … `stop` − 1."""
        ...


class Workers(Protocol):
    """A pool that answers jobs elsewhere than in the caller's thread.

    batch: the rows of a job. remote: whether workers make the queries; then a job is whole chunks, one at the least.
    window: how many jobs it wants under way.
    """

    @property
    def batch(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    @property
    def window(self) -> int: ...

    def submit(self, job: Job) -> Future[Any]:
        """What the model answers to the job's queries, or its error."""
        ...

    def look(self) -> None:
        """Raises RunError where the workers have gone."""
        ...

    def halt(self) -> None:
        """Gives up what has not begun; what is being answered is finished."""
        ...

    def close(self) -> None: ...


class Runner(Protocol):
    """Opens a pool for one model."""

    def open(self, model: Model, limits: Limits, batch: int, stop: threading.Event) -> Workers: ...
