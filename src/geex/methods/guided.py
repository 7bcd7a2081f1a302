"""Guided: ask where it matters.

    coarse leg   smooth masks over everything                                        fit all answers so far
    fine leg     finer masks inside the top of the fit, all else showing in both     fit all answers so far
    and again, with twice the draws

What a leg asks is a function of the answers before it, so a run resumes, and can be given more queries, like any other.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.ndimage import gaussian_filter

from geex._arrays.arrays import Array, host, largest, namespace
from geex._arrays.validation import is_number, share, shown, whole
from geex._estimate.answers import Answers
from geex._estimate.linear.fit import Fits
from geex._plan.plan import Plan
from geex._plan.presence_masks import PresenceMasks
from geex._problem.estimand import Additive, Estimand, Quantity
from geex._problem.features import neighbour_axes
from geex._protocols import Features, RoundsMethod
from geex._stored_names import stored
from geex.errors import MethodError
from geex.methods.regression import Regression

# The estimate of every round.
BY = Regression()
QUICKLY = Regression(choice=96, most=512)  # a region needs no more
FAR_WIDTHS = 6.0  # widths from which on values do not count in the smoothing of a region


@stored("Guided/1")
@dataclass(frozen=True)
class Guided(RoundsMethod):
    """Regression on smooth presence masks, in rounds: wide masks over the whole image, finer ones where it matters.

    The default method for images. It needs features with neighbours: pixels, or the elements of a series. Values rank
    regions well; they do not add up.

    Parameters
    ----------
    coarse, fine
        The widths of coarse and of fine masks, as shares of the side of the image.
    top
        The share of features that fine masks cover.
    explore
        The share of a round that has coarse masks.
    first
        The number of draws of the first round; a draw is two queries. The second round has as many, and each later
        round twice as many as the one before it.
    wider
        The masks of the first round are `wider` times as wide as coarse ones.

    Raises
    ------
    MethodError
        A setting is wrong. When x is explained: the features have no neighbours.

    Notes
    -----
    Round r + 1 masks the features with the largest smoothed values after round r; all other features are present in
    both queries of a pair. All pairs are then fitted together, as by `Regression`.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> x = np.ones((8, 8))
    >>> model = lambda z: z[:, 2:4, 2:4].mean((1, 2))
    >>> found = geex.explain(model, x, method=geex.Guided(), queries=300, progress=False)
    >>> bool(found.values[2:4, 2:4].min() > found.values[5:, 5:].max())
    True
    """

    coarse: float = 20 / 299
    fine: float = 7 / 299
    top: float = 0.3
    explore: float = 0.4
    first: int = 50
    wider: float = 2.0

    def __post_init__(self) -> None:
        for name in ("coarse", "fine", "top", "explore"):
            share(name, getattr(self, name), MethodError)
        whole("first", self.first, 4, MethodError)
        if not is_number(self.wider) or not self.wider >= 1:
            raise MethodError(
                f"`wider` must be a number of at least 1; got {shown(self.wider)}.", code="wider-below-one"
            )

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> PresenceMasks:
        shape = tuple(explicand.shape)
        if not neighbour_axes(features, shape):
            raise MethodError(
                "Guided() needs features with neighbours; these have none.",
                code="features-without-neighbours",
                fix="Use geex.Shapley(). Or pass features=geex.Pixels(channels=axis) for an image, or "
                "features=geex.Elements(line=True) for a series.",
            )
        return self._masks(features, shape, self._width(0))

    @property
    def regresses(self) -> bool:
        return True

    def round_size(self, number: int) -> int:
        """Return how many draws round `number` has."""
        size = self.first << max(0, number // 2 - 1)
        coarse = max(2, round(self.explore * size))
        return max(2, size - coarse) if number % 2 else coarse

    def may_stop_after(self, number: int) -> bool:
        """Return whether round `number` is a fine one."""
        return number % 2 == 1

    def next_search(self, number: int, answers: Answers) -> PresenceMasks:
        """Return what round `number` asks, given the answers before it."""
        plan = answers.plan
        shape = tuple(plan.explicand.shape)
        width = self._width(number)
        if number % 2 == 0:
            return self._masks(plan.features, shape, width)
        values = QUICKLY.estimate(answers).values
        return self._masks(plan.features, shape, width, _top(values, plan, self.top, self.fine))

    def estimate(self, answers: Answers) -> Fits:
        return BY.estimate(answers)

    def regions(self, answers: Answers, rows: Array) -> Fits:
        return BY.regions(answers, rows)

    def estimand(self, search: PresenceMasks) -> Estimand:
        return Estimand(Quantity.GUIDED_PRESENCE, Additive.NO, regression=True)

    def _width(self, number: int) -> float:
        """That of the masks of leg `number`."""
        return (self.fine if number % 2 else self.coarse) * (self.wider if number < 2 else 1)

    def _masks(
        self, features: Features, shape: tuple[int, ...], width: float, within: bytes | None = None
    ) -> PresenceMasks:
        axes = neighbour_axes(features, shape)
        return PresenceMasks(features, 0.5, (max(0.5, width * _side(features, shape)),), axes, within=within)


def _side(features: Features, shape: tuple[int, ...]) -> float:
    """The side of the features' grid: the geometric mean of its axes."""
    grid, axes = features.shape(shape), neighbour_axes(features, shape)
    return float(prod(grid[axis] for axis in axes) ** (1 / len(axes)))


def _top(values: Array, plan: Plan, share: float, width: float) -> bytes:
    """The features with the largest smoothed values (k, p), summed over outputs, as packed bits."""
    shape = tuple(plan.explicand.shape)
    grid, axes = plan.features.shape(shape), neighbour_axes(plan.features, shape)
    xp = namespace(values)
    size = xp.max(xp.abs(values), axis=1, keepdims=True)
    values = xp.sum(values / xp.where(size == 0, xp.ones_like(size), size), axis=0)
    widths = [width * _side(plan.features, shape) if axis in axes else 0 for axis in range(len(grid))]
    smooth = gaussian_filter(host(values).reshape(grid), widths, mode="constant", truncate=FAR_WIDTHS).ravel()
    differing = host(plan.search.differing(plan.explicand, plan.baseline))  # type: ignore[attr-defined]
    return np.packbits(largest(np.where(differing > 0, smooth, -np.inf), share)).tobytes()
