"""The score while features are removed, or put back, in descending order of attribution.

    deletion    x⁽ⁱ⁾ = x with its top i·step features replaced
    insertion   x⁽ⁱ⁾ = the replacement with the top i·step features of x put back
    i = 1 … l,  l = ⌈p / step⌉: the last step takes the rest, so a deletion ends at the replacement, an insertion at x

    area = 1/l Σᵢ f(x⁽ⁱ⁾)/f(x)          insertion: higher is better
    aopc = 1/l Σᵢ (1 − f(x⁽ⁱ⁾)/f(x))    deletion: higher is better (the paper's normalised AOPC)

x⁽ⁱ⁾ follows from the rank of each element, rank(e) < i·step, for a batch of i at a time.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from geex._arrays.arrays import Array, as_explicand, host, like, namespace, working
from geex._arrays.random_stream import Stream
from geex._arrays.validation import whole
from geex._problem.baselines import Baseline
from geex._problem.outputs import Score, scored, target_indices
from geex._protocols import Features
from geex._query.ordered_answers import Querier, default_batch
from geex._query.retrying_call import Model
from geex._query.session import engine
from geex.errors import AnswerError, InputError
from geex.evaluate.walk import Walk, checked_walk, in_codes

Kind = Literal["deletion", "insertion"]

# Smaller scores of x cannot normalise a curve.
LOWEST_START = 1e-9
# The stream of the seed that `noise` uses; explanations use others.
NOISE_STREAM = 10


@dataclass(frozen=True, eq=False)
class Curve:
    """The score at each step, and its area.

    Attributes
    ----------
    kind : {"deletion", "insertion"}
        Whether features are removed or put back.
    curve : ndarray (l,)
        f(x⁽ⁱ⁾) for i = 1 … l.
    fractions : ndarray (l,)
        The share of features removed (put back) at each step; the last is 1.
    start : float
        f(x), which normalises both kinds: a deletion starts there, an insertion ends there.
    queries : int
        The number of queries, 1 + l.
    target : int
        The output.
    area : float
        1/l Σ f(x⁽ⁱ⁾)/f(x), the area under the normalised curve. The number for an insertion: higher is better.
    aopc : float
        1/l Σ (1 − f(x⁽ⁱ⁾)/f(x)), the area over the normalised curve. The number for a deletion: higher is better.
    """

    kind: Kind
    curve: np.ndarray
    fractions: np.ndarray
    start: float
    queries: int
    target: int

    @property
    def area(self) -> float:
        """The area under the normalised curve, 1/l Σ f(x⁽ⁱ⁾)/f(x)."""
        return float(np.mean(self.curve / self.start))

    @property
    def aopc(self) -> float:
        """The area over the normalised curve, 1/l Σ (1 − f(x⁽ⁱ⁾)/f(x))."""
        return float(np.mean(1 - self.curve / self.start))

    def __repr__(self) -> str:
        number = f"aopc {self.aopc:.4f}" if self.kind == "deletion" else f"area {self.area:.4f}"
        steps = f"{len(self.curve)} step{'s' * (len(self.curve) > 1)}"
        return (
            f"Curve: {self.kind} of output {self.target}, {number}; f(x) {self.start:.4g}, "
            f"{self.curve[-1]:.4g} after {steps}; {self.queries:,} queries"
        )


def deletion(
    model: Model,
    x: Any,
    values: Any,
    *,
    target: int | None = None,
    score: Score = None,
    features: Features | None = None,
    replacement: Baseline | None = None,
    step: int = 1,
    batch: int | None = None,
) -> Curve:
    """Replace the features of x, the largest value first, and query the model after each `step` of them.

    Parameters
    ----------
    model : callable
        From a batch (n, *x.shape) to answers (n,) or (n, k).
    x : array
        One input, without a batch axis. Its library and device are used throughout.
    values : Explanation or array
        An explanation of one output; or values in the shape of x, in that shape without its channel axis (the first
        or the last; a pixel then has all its channels), or in the shape of `features`. Equal values are taken in the
        order of their index.
    target : int, optional
        The output. By default that of the Explanation, else the largest for x.
    score : str or callable, optional
        The score, as in `geex.explain`; it must be above 0 for x. By default that of the Explanation, else the answer
        as it comes. For an Explanation of log-odds the default is the probability: f(x⁽ⁱ⁾)/f(x) of log-odds has no
        meaning.
    features : Elements, Pixels or Groups, optional
        By default those of the Explanation, else those that follow from the shape of `values`.
    replacement : number, array or callable, optional
        The values of removed features: also `geex.blur(…)`, any callable from x to an array, or `noise(x, …)`. By
        default the baseline of the Explanation, else 0.
    step : int, default 1
        Features per query.
    batch : int, optional
        Rows per call of the model. It does not change the result.

    Returns
    -------
    Curve
        The score at each step; `aopc` is its number.

    Raises
    ------
    InputError
        If a setting is wrong or does not fit x.
    AnswerError
        If the score of x is not above 0.

    Notes
    -----
    x⁽ⁱ⁾ is x with its first i·step features replaced, and aopc = 1/l Σᵢ (1 − f(x⁽ⁱ⁾)/f(x)), the normalised AOPC of
    the paper.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> model = lambda rows: rows.sum(axis=1)
    >>> geex.evaluate.deletion(model, np.array([1.0, 3.0]), [1.0, 3.0])
    Curve: deletion of output 0, aopc 0.8750; f(x) 4, 0 after 2 steps; 3 queries
    """
    model, x = in_codes(model, x, values)
    walk = checked_walk(x, values, target, score, features, replacement, step, batch)
    return _walked("deletion", model, walk, before=walk.explicand, after=walk.replacement)


def insertion(
    model: Model,
    x: Any,
    values: Any,
    *,
    target: int | None = None,
    score: Score = None,
    features: Features | None = None,
    replacement: Baseline | None = None,
    step: int = 1,
    batch: int | None = None,
) -> Curve:
    """Start from the replacement, put the features of x back, the largest value first, and query the model each time.

    Parameters
    ----------
    model, x, values, target, score, features, replacement, step, batch
        As in `deletion`.

    Returns
    -------
    Curve
        The score at each step; `area` is its number.

    Notes
    -----
    x⁽ⁱ⁾ is the replacement with the first i·step features of x, and area = 1/l Σᵢ f(x⁽ⁱ⁾)/f(x).

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> model = lambda rows: rows.sum(axis=1)
    >>> geex.evaluate.insertion(model, np.array([1.0, 3.0]), [1.0, 3.0]).curve
    array([3., 4.])
    """
    model, x = in_codes(model, x, values)
    walk = checked_walk(x, values, target, score, features, replacement, step, batch)
    return _walked("insertion", model, walk, before=walk.replacement, after=walk.explicand)


def noise(x: Any, sigma: float = 1.0, seed: int = 0) -> Array:
    """Draw independent noise from N(0, σ²) in the shape of x, a replacement that several methods can share.

    Parameters
    ----------
    x : array
        The input; its shape, library and device are those of the result.
    sigma : float, default 1
        The standard deviation, in the units of x.
    seed : int, default 0
        The numbers depend on the seed and the shape alone, not on the library or device.

    Returns
    -------
    array
        Noise in the shape of x.

    Raises
    ------
    InputError
        If `sigma` is not positive or `seed` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> geex.evaluate.noise(np.zeros((3, 4)), sigma=0.5, seed=1).shape
    (3, 4)
    """
    explicand = working(as_explicand(x))
    if isinstance(sigma, bool) or not isinstance(sigma, Real) or not 0 < float(sigma) < np.inf:
        raise InputError(f"`sigma` must be positive, in the units of x; got {sigma!r}.", code="sigma-not-positive")
    generator = Stream(whole("seed", seed, 0, InputError), (NOISE_STREAM,), explicand).generator()
    return like(float(sigma) * generator.standard_normal(tuple(explicand.shape)), explicand)


def _walked(kind: Kind, model: Model, walk: Walk, before: Array, after: Array) -> Curve:
    batch = default_batch(walk.explicand) if walk.batch is None else walk.batch
    total = 1 + len(walk.counts)
    with engine(model).opened(batch, total, fixed=walk.batch is not None) as session:
        querier = Querier(session.dispatcher(walk.explicand), total)
        output = scored(querier.rows(namespace(walk.explicand).stack([walk.explicand])), walk.score)[0, :]
        target = target_indices(walk.target, output)[0][0]
        start = _normaliser(float(output[target]), target, walk.explicand)
        answers = map(querier.rows, walk.images(before, after, batch))
        curve = np.concatenate([host(scored(rows, walk.score)[:, target]) for rows in answers])
    return Curve(kind, curve, walk.counts / walk.counts[-1], start, querier.queried, target)


def _normaliser(start: float, target: int, explicand: Array) -> float:
    if start < LOWEST_START:
        raise AnswerError(
            f"The score of x must be above 0 to normalise the curve; f(x) is {start:.3g} for output {target}.",
            query=explicand,
            code="score-not-above-zero",
            fix="Use another target, or another score, such as score='softmax' of logits.",
        )
    return start
