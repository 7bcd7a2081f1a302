"""The score estimator: values are means of answers times weights.

    ξ = 1/n Σ_i d_i w_i,   d_i = (f(z_i) − f(z̃_i))/2 for a mirrored pair,  f(z_i) for a single query

Independent units are the draws, or the blocks of orthogonal draws. Two units that follow each other stand in
neighbouring strata of α, so that half the squared difference of their terms estimates a unit's own variance:

    Var[Σ_i t_i] ≈ Σ_couples (t_{2c} − t_{2c+1})²

Values are summed in float64, chunk by chunk, so they do not depend on the batch.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from geex._arrays.arrays import Array, namespace
from geex._estimate.answers import Answers
from geex._plan.plan import Chunk
from geex._protocols import Estimate, ModelNoise

# Terms so far from 1 have squares that float64 does not hold, or nearly.
FAR_TERMS = 1e140


@dataclass(frozen=True, eq=False)
class Moments(Estimate):
    """Sums over draws for k outputs and p features: mergeable with +.

    total (k, p) Σ t;  spread (k, p) Σ_couples (t − t')²;  sum_spread (k,) the same for t summed over features;
    draws, how many of them are in couples, and the number of couples of units; square (k,) Σ d², and variance: that of
    d where that of an answer is 1. unit (k,): spread and sum_spread are in its square. noise: that of the model.
    """

    total: Array
    spread: Array
    sum_spread: Array
    draws: int
    coupled: int
    couples: int
    square: Array
    unit: Array
    variance: float = 0.5
    noise: ModelNoise | None = None

    def __add__(self, other: "Moments") -> "Moments":
        xp = namespace(self.unit)
        unit = xp.maximum(self.unit, other.unit)
        own, others = (self.unit / unit) ** 2, (other.unit / unit) ** 2
        return Moments(
            self.total + other.total,
            self.spread * own[:, None] + other.spread * others[:, None],
            self.sum_spread * own + other.sum_spread * others,
            self.draws + other.draws,
            self.coupled + other.coupled,
            self.couples + other.couples,
            self.square + other.square,
            unit,
            self.variance,
        )

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the standard errors: every couple gives one."""
        return float(self.couples)

    @property
    def values(self) -> Array:
        """ξ (k, p)."""
        return self.total / self.draws

    @property
    def stderr(self) -> Array:
        """Standard error of every value (k, p); NaN where there is no couple of units."""
        return self._deviation(self.spread) * self.unit[:, None]

    @property
    def sum_stderr(self) -> Array:
        """Standard error of Σ_k ξ_k (k,)."""
        return self._deviation(self.sum_spread) * self.unit

    @property
    def noise_stderr(self) -> Array:
        """The part of the standard errors that is the model's noise: as much as its variance is of the mean of d²."""
        if self.noise is None:
            return 0 * self.stderr
        xp = namespace(self.square)
        mean = xp.where(self.square > 0, self.square, xp.ones_like(self.square)) / self.draws
        part = xp.clip(self.variance * self.noise.draws**2 / mean, None, 1.0)
        return self.stderr * xp.sqrt(part)[:, None]

    def with_model_noise(self, noise: ModelNoise) -> "Moments":
        """Return the same for a model with noise. The errors include that of the draws, and values have none of the
        ends."""
        return replace(self, noise=noise)

    def _deviation(self, spread: Array) -> Array:
        if not self.coupled:
            return spread * float("nan")
        return namespace(spread).sqrt(spread) / sqrt(self.draws * self.coupled)


def moments(chunk: Chunk, outputs: Array, regions: Array | None = None) -> Moments:
    """Return the sums of one chunk for its scored answers (rows, k); over `regions` (r, p) of features if given."""
    search = chunk.plan.search
    xp = namespace(outputs)
    outputs = xp.reshape(outputs, (chunk.count, search.rows, -1))
    weights = chunk.weights() if regions is None else chunk.weights() @ regions.T
    sums = xp.astype(xp.sum(weights, axis=1), xp.float64)
    rows = [_output(contrast(outputs[:, :, target]), weights, sums, search.block) for target in range(outputs.shape[2])]
    units = chunk.count // search.block
    return Moments(
        xp.stack([total for total, *_ in rows]),
        xp.stack([spread for _, spread, *_ in rows]),
        xp.stack([sum_spread for *_, sum_spread, _ in rows]),
        chunk.count,
        units // 2 * 2 * search.block,
        units // 2,
        xp.sum(xp.stack([contrast(outputs[:, :, target]) for target in range(outputs.shape[2])]) ** 2, axis=1),
        xp.stack([unit for *_, unit in rows]),
        0.5 if search.rows == 2 else 1.0,
    )


def contrast(outputs: Array) -> Array:
    """d (u,) of one output (u, rows)."""
    return (outputs[:, 0] - outputs[:, 1]) / 2 if outputs.shape[1] == 2 else outputs[:, 0]


def _output(d: Array, weights: Array, sums: Array, block: int) -> tuple[Array, Array, Array, Array]:
    """Σ t (p,), Σ_couples (t − t')² (p,) and () for one output, the latter two in the square of a unit (), the last.

    Terms are scaled to about 1 on the way: the squares of tiny ones would vanish in float32.
    """
    xp = namespace(weights)
    scale = _largest(d) * _largest(sums)
    if not 1 / FAR_TERMS < float(scale) < FAR_TERMS:
        return _far_output(d, weights, sums, block)
    terms = xp.astype(d / scale, weights.dtype, copy=False)[:, None] * weights
    total = scale * xp.sum(terms, axis=0, dtype=xp.float64)
    spread = scale**2 * xp.astype(xp.sum(_couples(terms, block) ** 2, axis=0), xp.float64)
    return total, spread, xp.sum(_couples((d * sums)[:, None], block) ** 2), xp.ones_like(scale)


def _far_output(d: Array, weights: Array, sums: Array, block: int) -> tuple[Array, Array, Array, Array]:
    """Return the same where squares of terms, or the terms, are beyond the range of float64."""
    xp = namespace(weights)
    weights, sums = xp.astype(weights, xp.float64), xp.astype(sums, xp.float64)
    # powers of two: dividing by them is exact, and a subnormal number has no reciprocal
    answer, weight = (2.0 ** np.floor(np.log2(float(size))) for size in (_largest(d), _largest(weights)))
    d, weights, sums = d / answer, weights / weight, sums / weight
    terms = d[:, None] * weights
    total = answer * xp.sum(terms, axis=0) * weight
    spread, sum_spread = (xp.sum(_couples(one, block) ** 2, axis=0) for one in (terms, (d * sums)[:, None]))
    return total, spread, sum_spread[0], xp.sum(0 * d) + answer * weight


def _largest(numbers: Array) -> Array:
    """The largest size among numbers, 1 where all are 0."""
    xp = namespace(numbers)
    size = xp.max(xp.abs(numbers))
    return xp.where(size == 0, xp.ones_like(size), size)


def _couples(terms: Array, block: int) -> Array:
    """Differences of units that follow each other: (couples, p)."""
    if block > 1:
        xp = namespace(terms)
        whole = terms.shape[0] // block * block
        terms = xp.sum(xp.reshape(terms[:whole, :], (-1, block, terms.shape[1])), axis=1)
    even = terms.shape[0] // 2 * 2
    return terms[0:even:2, :] - terms[1:even:2, :]


def estimate(answers: Answers, regions: Array | None = None) -> Moments:
    """Return the sums of a whole run, in the order of its chunks."""
    parts = (moments(chunk, answers.outputs(raw), regions) for chunk, raw in answers.chunks)
    result = next(parts)
    for part in parts:
        result = result + part
    return result
