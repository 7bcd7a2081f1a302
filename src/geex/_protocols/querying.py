"""How queries are made: features, searches and families of noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geex._protocols.provided import provided
from geex._stored_names import Storable
from geex.errors import MethodError

if TYPE_CHECKING:
    from geex._arrays.arrays import Array, Shape
    from geex._arrays.random_stream import Stream
    from geex._plan.search import Draws


class Features(Storable, ABC):
    """Which elements of the input make up a feature. Base class; `geex.Elements`, `Pixels` and `Groups` are built in.

    Equal objects (`==`) must be the same features, as those of a frozen dataclass are. The abstract methods are
    `shape`, `total` and `index`. All other members have a default.
    """

    @provided
    def channels(self) -> int | None:
        """The channel axis of an image. Default: None, not known."""
        return None

    @provided
    def elementwise(self) -> bool:
        """Whether every element is a feature. Default: False."""
        return False

    @abstractmethod
    def shape(self, shape: Shape) -> Shape:
        """Return the shape of the values for an x of `shape`."""

    @abstractmethod
    def total(self, weights: Array) -> Array:
        """Sum weights of elements (n, *shape) to weights of features (n, p)."""

    @abstractmethod
    def index(self, shape: Shape) -> np.ndarray:
        """Return the number of the feature of each element, in the shape of x. `total` sums over it."""

    def check(self, shape: Shape) -> None:
        """Raise FeaturesError if the features do not match an x of this shape. Default: they do."""

    def axes(self, shape: Shape) -> tuple[int, ...]:
        """Return the axes of the values along which features have neighbours. Default: none.

        Raise FeaturesError if the axes are not clear.
        """
        return ()

    def merged_axis(self, shape: Shape) -> int | None:
        """Return the axis of x along which all elements are one feature, if the features have all other axes of x.

        Default: None, there is none.
        """
        return None

    def names(self) -> list[str] | None:
        """Return the names of the features. Default: None; they are named by their places."""
        return None

    def of_columns(self, names: Sequence[str] | None) -> Features:
        """Return the features for an x whose elements have these names; None: it has no names. Default: the same."""
        return self


@dataclass(frozen=True)
class LinearDraws:
    """How the mirrored draws of a search enter a linear model, d = e · ξ + noise, with e from `Search.contrasts`.

    Parameters
    ----------
    of_features
        Whether contrasts are of features, and coefficients are values. Else they are of elements.
    slopes
        Whether coefficients are slopes, which do not add up to f(x) − f(x̊). Else they are shares.
    neighbours
        Whether neighbours change together.
    moment
        E[e_k²], if contrasts are independent over k and have mean 0. None: they are not.
    by_size
        Whether contrasts are masks of s features, s drawn ∝ 1/(s(p − s)). Coefficients that add up are then Shapley
        values.
    """

    of_features: bool
    slopes: bool = False
    neighbours: bool = False
    moment: float | None = None
    by_size: bool = False


class Search(Storable, ABC):
    """The draws of a method, and the queries that are made from them. Base class.

    A draw makes `rows` queries; `block` draws are one independent unit. Equal objects (`==`) must make the same
    queries, as those of a frozen dataclass do. The abstract methods are `draws`, `queries` and `weights`.
    """

    @provided
    def rows(self) -> int:
        """The number of queries of a draw. Default: 1."""
        return 1

    @provided
    def block(self) -> int:
        """The number of draws of an independent unit. Default: 1."""
        return 1

    @provided
    def least(self) -> int:
        """The fewest queries that the search needs. Default: two units."""
        return 2 * self.block * self.rows

    @provided
    def drawn(self) -> object:
        """What decides the draws: searches with an equal value share draws. Default: the whole search."""
        return self

    @provided
    def all_draws(self) -> int | None:
        """The number of different draws, if it is finite and none is repeated. Default: None."""
        return None

    @provided
    def sigma(self) -> float | None:
        """The standard deviation of the noise that is added to inputs. Default: None, no noise."""
        return None

    @provided
    def features(self) -> Features | None:
        """The features that are shown and hidden as a whole. Default: None, the answers suit any features."""
        return None

    @abstractmethod
    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        """Return the `count` draws of a chunk: a function of the search, the seed, the chunk and the shape of x
        alone."""

    @abstractmethod
    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return the queries (draws, rows, *shape)."""

    @abstractmethod
    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        """Return the weights (draws, features) of the first queries. The second query of a draw has the weight −w."""

    def afford(self, rows: int) -> int:
        """Return how many draws `rows` queries are enough for; `rows` is at least `least`."""
        return rows // self.rows

    def repeating(self, draws: int) -> Search | None:
        """Return the search that continues this one after `draws` draws, where the model has noise and a query may be
        repeated. It has the same seed.

        Default: None, this search goes on.
        """
        return None

    def linear(self) -> LinearDraws | None:
        """Return how `Regression` uses the draws. Default: None, it cannot.

        Raise MethodError if the settings of the search do not allow it.
        """
        return None

    def contrasts(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return e (draws, coefficients) for `linear`: the difference of the two queries in units of features, ±1 or 0;
        for elements half of the difference.
        """
        raise MethodError(
            f"{type(self).__name__} must have contrasts for a regression.", code="search-without-contrasts"
        )


class Family(Storable, ABC):
    """A symmetric density of mean 0 and standard deviation 1, independent over elements. Base class of noise
    families."""

    @provided
    def normal(self) -> bool:
        """Whether it is the standard normal density, as filters, orthogonal draws and regressions need. Default: no."""
        return False

    @abstractmethod
    def draw(self, stream: Stream, shape: Shape) -> Array:
        """Draw independent noise."""

    @abstractmethod
    def score(self, noise: Array) -> Array:
        """Return −d/dε log π(ε)."""
