"""Presence masks: features are shown or hidden.

    z = x̊ + m ∘ (x − x̊),   m_k ~ Bernoulli(α),   w = (m − α)/(α(1 − α))

With α ~ U[0,1] the plain weight has infinite variance. α is drawn as sin²(πu/2) instead, u ~ U[0,1]: the weight is
w = π (m − α)/√(α(1 − α)), and E[w²] = π². The mirror of (m, α) is (1 − m, 1 − α), and its weight is −w.

Masks are independent over features, or thresholds of a smooth Gaussian field, which shows and hides regions.
"""

from dataclasses import dataclass, replace
from math import pi, prod

import numpy as np
from scipy.special import ndtri

from geex._arrays.arrays import Array, Shape, like, namespace
from geex._arrays.blas import one_thread
from geex._arrays.linear_algebra import SIDE
from geex._arrays.random_stream import Stream
from geex._plan.path import Dense
from geex._plan.search import Draws
from geex._protocols import Features, LinearDraws, Search
from geex._stored_names import stored
from geex.errors import MethodError

# Evenly spread positions, from which α is made.
SPREAD_POSITIONS = Dense()
# The smallest α, and the smallest 1 − α: float32 distinguishes 1 − α from 1 down to here.
NEAREST = 2.0**-20
# The most places of an axis whose bumps are one matrix.
DENSE = 4096
# Places of a block of a longer axis: what a block costs grows with its square.
BLOCK = 512
# Widths beyond which a bump is below the rounding of float64.
FAR = 6.5


@stored("presence masks/1")
@dataclass(frozen=True)
class PresenceMasks(Search):
    """The search of `Presence`. A draw's noise is its mask over features (u, p), 1 where a feature shows.

    by_size: masks of exactly s features, s drawn ∝ 1/(s(p − s)); their regression estimates Shapley values.
    within: the features that are masked, as packed bits; the others show in both queries. None: all.
    """

    features: Features
    alpha: float | None
    widths: tuple[float, ...] = ()
    axes: tuple[int, ...] = ()
    by_size: bool = False
    within: bytes | None = None
    rows: int = 2
    block: int = 1
    least: int = 4

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        xp = namespace(explicand)
        alpha = np.full(count, self.alpha)
        if self.alpha is None:
            alpha = np.sin(pi / 2 * SPREAD_POSITIONS.alpha(seed, chunk * count, count)) ** 2
            alpha = np.clip(alpha, NEAREST, 1 - NEAREST)
        stream = Stream(seed, (4, chunk), explicand)
        shape = self.features.shape(tuple(explicand.shape))
        if self.by_size:
            return _by_size(stream, count, prod(shape))
        if self.widths:
            fields = smooth_fields(stream, shape, self.axes, _turns(self.widths, chunk * count, count))
            masks = xp.reshape(fields, (count, -1)) < like(ndtri(alpha), explicand)[:, None]
        else:
            masks = stream.uniform((count, prod(shape))) < like(alpha, explicand)[:, None]
        return Draws(like(alpha, explicand), xp.astype(masks, explicand.dtype))

    @property
    def drawn(self) -> object:
        return replace(self, within=None)

    def linear(self) -> LinearDraws:
        if self.alpha != 0.5 and not self.by_size:
            raise MethodError(
                f"`of` must have alpha=0.5 for a regression; got {self.alpha}.",
                code="alpha-not-half",
                fix="Use geex.Presence(alpha=0.5) for Banzhaf values, or geex.Shapley() for Shapley values.",
            )
        dependent = self.by_size or self.widths or self.within is not None
        return LinearDraws(True, False, bool(self.widths), None if dependent else 1.0, self.by_size)

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        xp = namespace(explicand)
        absent = baseline
        if self.within is not None:
            inside = self.on_elements(self.region(explicand)[None, :], explicand)[0, ...] > 0
            absent = xp.where(inside, baseline, explicand)
        shown = self.on_elements(draws.noise, explicand)[:, None, ...] > 0
        return xp.where(shown, xp.stack([explicand, absent]), xp.stack([absent, explicand]))

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        alpha = draws.alpha[:, None]
        steepness = pi * (alpha * (1 - alpha)) ** -0.5 if self.alpha is None else 1 / (alpha * (1 - alpha))
        return (draws.noise - alpha) * steepness * self.differing(explicand, baseline)

    def contrasts(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return the difference of a draw's two queries in features (u, p): 1 shown, −1 hidden, 0 equal."""
        contrasts = (2 * draws.noise - 1) * self.differing(explicand, baseline)
        return contrasts if self.within is None else contrasts * self.region(explicand)

    def region(self, explicand: Array) -> Array:
        """Return `within` as 1 and 0 for every feature (p,)."""
        count = prod(self.features.shape(tuple(explicand.shape)))
        bits = np.unpackbits(np.frombuffer(self.within or b"", np.uint8), count=count)
        return like(bits, explicand)

    def on_elements(self, masks: Array, explicand: Array) -> Array:
        """Return masks over features (u, p) as masks that broadcast to elements (u, *shape)."""
        xp = namespace(explicand)
        shape = tuple(explicand.shape)
        merged = self.features.merged_axis(shape)
        if merged is not None:
            grid = xp.reshape(masks, (masks.shape[0], *self.features.shape(shape)))
            return xp.expand_dims(grid, axis=1 + merged)
        index = self.features.index(shape).ravel()
        if len(index) == masks.shape[1] and (index == np.arange(len(index))).all():
            return xp.reshape(masks, (masks.shape[0], *shape))
        return xp.reshape(xp.take(masks, like(index, explicand, xp.int64), axis=1), (masks.shape[0], *shape))

    def differing(self, explicand: Array, baseline: Array) -> Array:
        """Return 1 for features that differ from the baseline, and 0 for others (p,), whose value is 0."""
        xp = namespace(explicand)
        changed = xp.astype(explicand != baseline, explicand.dtype)
        return xp.astype(self.features.total(changed[None, ...])[0, :] > 0, explicand.dtype)


def _by_size(stream: Stream, count: int, players: int) -> Draws:
    """Draw masks of s features each, s ∝ 1/(s(p − s)) for 1 ≤ s ≤ p − 1."""
    xp = namespace(stream.model)
    possible = np.arange(1, max(players, 2))
    share = 1 / (possible * np.maximum(players - possible, 1))
    sizes = (
        Stream(stream.seed, (*stream.place, 0), stream.model).generator().choice(possible, count, p=share / share.sum())
    )
    ranks = xp.argsort(xp.argsort(stream.uniform((count, players)), axis=1), axis=1)
    masks = ranks < like(sizes, stream.model, xp.int64)[:, None]
    return Draws(like(sizes / players, stream.model), xp.astype(masks, stream.model.dtype))


def smooth_fields(stream: Stream, shape: Shape, axes: tuple[int, ...], widths: np.ndarray) -> Array:
    """Draw Gaussian fields of standard deviation 1 (u, *shape), smooth along `axes`, field i with width widths[i].

    A field is white noise on knots half a width apart, times Gaussian bumps. Knots beyond the border make its
    distribution the same there as inside.
    """
    xp = namespace(stream.model)
    fields = []
    for place, width in enumerate(np.unique(widths)):
        count = int((widths == width).sum())
        places = {axis: _knots(shape[axis], float(width)) for axis in axes}
        knots = tuple(len(places[axis]) if axis in places else n for axis, n in enumerate(shape))
        field = Stream(stream.seed, (*stream.place, place), stream.model).normal((count, *knots))
        with one_thread(max(shape) <= SIDE):
            for axis in axes:
                moved = xp.moveaxis(field, axis + 1, -1)
                field = xp.moveaxis(_smoothed(moved, shape[axis], float(width)), -1, axis + 1)
        fields.append(field)
    # fields were made width by width; this puts them back into the order of `widths`
    order = np.argsort(np.argsort(widths, kind="stable"), kind="stable")
    return xp.take(xp.concat(fields, axis=0), like(order, stream.model, xp.int64), axis=0)


def _smoothed(noise: Array, length: int, width: float) -> Array:
    """Return noise on knots (…, knots) times Gaussian bumps: a field (…, length).

    Along an axis of more than DENSE places this is done block by block, each with the knots that reach it: a matrix of
    all places and all knots would not fit into memory.
    """
    knots = _knots(length, width)
    if length <= DENSE:
        return noise @ like(_bumps(np.arange(length), knots, width).T, noise)
    parts = []
    for start in range(0, length, BLOCK):
        places = np.arange(start, min(start + BLOCK, length))
        first, last = np.searchsorted(knots, [places[0] - FAR * width, places[-1] + FAR * width])
        bumps = _bumps(places, knots[first:last], width)
        parts.append(noise[..., int(first) : int(last)] @ like(bumps.T, noise))
    return namespace(noise).concat(parts, axis=-1)


def _knots(length: int, width: float) -> np.ndarray:
    """Return the places of knots along an axis, half a width apart, and some beyond the border."""
    spacing = max(width / 2, 0.5)
    return np.arange(-3 * width, length - 1 + 3 * width + spacing, spacing)


def _bumps(places: np.ndarray, knots: np.ndarray, width: float) -> np.ndarray:
    """Return Gaussian bumps (places, knots), whose squares sum to 1 at every place: their field has deviation 1."""
    bumps = np.exp(-((places[:, None] - knots) ** 2) / width**2)
    return np.asarray(bumps / np.linalg.norm(bumps, axis=1, keepdims=True))


def _turns(widths: tuple[float, ...], first: int, count: int) -> np.ndarray:
    """Return the width of every draw: pairs of draws share one, and widths alternate over pairs."""
    return np.asarray(widths)[np.arange(first, first + count) // 2 % len(widths)]
