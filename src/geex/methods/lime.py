"""LIME: a linear model of the score over segments that are there or not (Ribeiro, Singh and Guestrin, 2016).

    z = x where its segment is present, x̊ elsewhere;   m_s ~ Bernoulli(½), the first m all ones

    ξ = argmin_{b,ξ} Σ_i ω_i (f(z_i) − b − ξᵀm_i)² + ridge ‖ξ‖²,   ω = √exp(−d²/width²),   d = 1 − cos(m, 1)

As the package `lime` does it, with two differences: what is absent is the baseline, and the answer for the first
row, x itself, is the one that is there already.

The standard error is that of a weighted least-squares fit to random draws, robust to unequal variances (HC3):

    V = A⁻¹ (Σ_i ω_i² ê_i² m̃_i m̃_iᵀ) A⁻¹,   A = M̃ᵀΩM̃ + ridge,   ê_i = residual/(1 − leverage),   m̃ = m − mean
"""

import hashlib
import importlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, Shape, host, like, namespace
from geex._arrays.random_stream import Stream
from geex._arrays.validation import positive, whole
from geex._estimate.answers import Answers
from geex._plan.plan import Plan
from geex._plan.search import Draws
from geex._problem.estimand import Estimand, Quantity
from geex._problem.features import image_axes, label_map, regular, spread
from geex._protocols import Estimate, Features, Method, Search
from geex._stored_names import stored
from geex.errors import FeaturesError, MethodError, MissingPackage
from geex.methods.rise import mean_over

# The most elements of the queries that are weighted at once.
LIME_BLOCK_ELEMENTS = 2**22


@stored("LIME/1")
@dataclass(frozen=True, eq=False)
class LIME(Method):
    """The coefficients of a linear model over segments. Samples close to x weigh more. Values do not add up.

    A feature has the coefficient of its segment. A feature in several segments has the mean of theirs; its standard
    error is the mean of theirs too, an upper bound. With features=Groups(map) there is one value for each segment.

    Parameters
    ----------
    segments
        Whole numbers, one label for each element of x or for each pixel. None: the map of features=Groups(map); else
        every element of a 1-d x, and slic superpixels of an image.
    superpixels
        About how many superpixels there are.
    width
        The width of the kernel, in cosine distance.
    ridge
        The penalty of the ridge regression.

    Raises
    ------
    MethodError
        A setting is wrong.
    MissingPackage
        When an image is explained without `segments`: scikit-image is not installed.

    Notes
    -----
    ξ = argmin Σ_i ω_i (f(z_i) − b − ξᵀm_i)² + ridge ‖ξ‖² over b and ξ, with m_s ~ Bernoulli(½) and ω =
    √exp(−d²/width²), d = 1 − cos(m, 1).

    References
    ----------
    Ribeiro, Singh and Guestrin, *"Why Should I Trust You?": Explaining the Predictions of Any Classifier*, 2016.

    Examples
    --------
    >>> import geex
    >>> method = geex.methods.LIME(superpixels=80)
    """

    segments: Any = field(default=None, repr=False)
    superpixels: int = 50
    width: float = 0.25
    ridge: float = 1.0

    def __post_init__(self) -> None:
        if self.segments is not None:
            object.__setattr__(self, "segments", label_map("segments", self.segments, MethodError))
        object.__setattr__(self, "superpixels", whole("superpixels", self.superpixels, 2, MethodError))
        for name in ("width", "ridge"):
            object.__setattr__(self, name, positive(name, getattr(self, name), MethodError))

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> "Presences":
        return Presences.of(self._map(explicand, features))

    def _map(self, explicand: Array, features: Features) -> np.ndarray:
        """A label for every element of x."""
        shape = tuple(explicand.shape)
        if self.segments is not None:
            return _spread(self.segments, shape, features)
        if not regular(features, shape):
            return features.index(shape)
        if len(shape) == 1:
            return np.arange(shape[0])
        axes = image_axes(shape, features.channels)
        return _spread(superpixels(host(explicand), axes, self.superpixels), shape, features)

    def estimate(self, answers: Answers) -> "Regions":
        plan, ends, xp = answers.plan, answers.ends, namespace(answers.ends)
        assert isinstance(plan.search, Presences)
        presence, raw = [like(np.ones((1, plan.search.count)), ends)], [ends[:1, :]]
        for chunk, block in answers.chunks:
            presence.append(xp.astype(chunk.draws.noise, ends.dtype))
            raw.append(block)
        rows = xp.concat(presence, axis=0)
        scores = xp.concat([answers.ends_scored[:1, :], answers.outputs(xp.concat(raw[1:], axis=0))], axis=0)
        return Regions(plan, *ridge(rows, scores, kernel(rows, self.width), self.ridge))

    def estimand(self, search: "Presences") -> Estimand:
        return Estimand(Quantity.SEGMENT_WEIGHT, segments=search.count)


@stored("segment masks/1")
@dataclass(frozen=True)
class Presences(Search):
    """The search of LIME. A draw's noise is the presence (u, segments) of every segment, 1 or 0."""

    segments: np.ndarray = field(compare=False, repr=False)
    count: int
    digest: str
    rows: int = 1
    block: int = 1

    @classmethod
    def of(cls, labels: np.ndarray) -> "Presences":
        """The search over the segments that `labels`, in the shape of x, tells apart."""
        names, segments = np.unique(labels, return_inverse=True)
        segments = segments.reshape(labels.shape).astype(np.int64)
        return cls(segments, len(names), hashlib.sha256(segments.tobytes()).hexdigest())

    least: int = 2

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        present = Stream(seed, (1, chunk), explicand).uniform((count, self.count)) < 0.5
        noise = namespace(explicand).astype(present, explicand.dtype)
        return Draws(like(np.full(count, 0.5), explicand), noise)

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        return namespace(explicand).where(self._shown(draws, explicand) > 0, explicand, baseline)[:, None, ...]

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        """The plain contrast 4 (m − ½) of E[f(z) w]; LIME itself is a fit and does not use it."""
        return 4 * mean_over(features, self._shown(draws, explicand) - 0.5, tuple(explicand.shape))

    def _shown(self, draws: Draws, explicand: Array) -> Array:
        """Whether every element is present: (u, *shape)."""
        xp = namespace(explicand)
        where = like(self.segments.ravel(), explicand, xp.int64)
        return xp.reshape(xp.take(draws.noise, where, axis=1), (draws.noise.shape[0], *explicand.shape))


@dataclass(frozen=True, eq=False)
class Regions(Estimate):
    """Coefficients (k, segments) and their covariance (k, segments, segments), spread over the plan's features."""

    plan: Plan
    coefficients: Array
    covariance: Array

    @cached_property
    def values(self) -> Array:
        return self._spread(self.coefficients)

    @cached_property
    def stderr(self) -> Array:
        xp = namespace(self.covariance)
        return self._spread(xp.sqrt(xp.linalg.diagonal(self.covariance)))

    @cached_property
    def sum_stderr(self) -> Array:
        """From the sum over all features of every segment's share in them."""
        xp = namespace(self.covariance)
        count = self.coefficients.shape[1]
        size = max(1, LIME_BLOCK_ELEMENTS // int(np.prod(self.plan.explicand.shape)))
        one = like(np.eye(count), self.covariance)
        shares = [xp.sum(self._spread(one[start : start + size, :]), axis=1) for start in range(0, count, size)]
        share = xp.concat(shares)
        return xp.sqrt(xp.matmul(xp.matmul(self.covariance, share), share))

    def _spread(self, rows: Array) -> Array:
        """What is known of segments (k, segments) -> of features (k, p)."""
        assert isinstance(self.plan.search, Presences)
        xp = namespace(rows)
        segments = self.plan.search.segments
        elements = xp.take(rows, like(segments.ravel(), rows, xp.int64), axis=1)
        return mean_over(self.plan.features, xp.reshape(elements, (-1, *segments.shape)), segments.shape)


def kernel(presence: Array, width: float) -> Array:
    """ω (n,) of presence (n, segments); the cosine of m and 1 is the root of the part that is present."""
    xp = namespace(presence)
    distance = 1 - xp.sqrt(xp.mean(presence, axis=1))
    return xp.sqrt(xp.exp(-(distance**2) / width**2))


def ridge(rows: Array, scores: Array, weight: Array, penalty: float) -> tuple[Array, Array]:
    """Coefficients (k, p) of scores (n, k) on rows (n, p) with an intercept, and their covariance (k, p, p)."""
    xp = namespace(rows)
    share = weight / xp.sum(weight)
    rows = rows - xp.matmul(share, rows)
    scores = scores - xp.matmul(share, scores)
    heavy = rows * weight[:, None]
    normal = xp.matmul(rows.T, heavy) + like(penalty * np.eye(rows.shape[1]), rows)
    coefficients = xp.linalg.solve(normal, xp.matmul(heavy.T, scores))
    influence = xp.linalg.solve(normal, heavy.T)
    leverage = share + xp.sum(rows.T * influence, axis=0)
    residual = (scores - xp.matmul(rows, coefficients)) / (1 - leverage)[:, None]
    # The first row is x itself in every run: it has no part in the variance.
    parts = [influence[:, 1:] * residual[1:, j] for j in range(scores.shape[1])]
    return coefficients.T, xp.stack([xp.matmul(part, part.T) for part in parts])


def _spread(labels: np.ndarray, shape: Shape, features: Features) -> np.ndarray:
    return spread("the map of segments", labels, shape, features.channels, FeaturesError)


def superpixels(image: np.ndarray, axes: tuple[int, ...], count: int) -> np.ndarray:
    """About `count` superpixels of an image, by slic: labels in the shape of its image axes. A series has equal runs.

    Compactness is for intensities in [0, 1], to which slic brings them, or in Lab, to which it brings three channels.
    """
    if len(axes) == 1:
        length = image.shape[axes[0]]
        return np.asarray(np.arange(length) * min(count, length) // length)
    try:
        slic = importlib.import_module("skimage.segmentation").slic
    except ImportError as error:
        raise MissingPackage(
            "LIME needs scikit-image to cut an image into superpixels; it is not installed.",
            code="scikit-image-missing",
            fix="Run `pip install scikit-image`, or pass superpixels of your own: LIME(segments=…).",
        ) from error
    image = np.moveaxis(image.astype(np.float64), axes, range(len(axes)))
    channels = image.shape[len(axes) :]
    if channels in ((), (1,)):
        image = image.reshape(image.shape[: len(axes)])
        return np.asarray(slic(image, count, compactness=0.3, start_label=0, channel_axis=None))
    compactness = 30.0 if channels == (3,) else 0.3
    return np.asarray(slic(image, count, compactness=compactness, start_label=0, channel_axis=-1))
