"""What is asked: features, searches and families of noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
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

    def check(self, shape: Shape) -> None:
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


class Search(Storable, ABC):
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
        raise MethodError(
            f"{type(self).__name__} must have contrasts for a regression.", code="search-without-contrasts"
        )


class Family(Storable, ABC):
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
