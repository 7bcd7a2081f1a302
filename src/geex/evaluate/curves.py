"""The score while features are removed, or put back, in descending order of attribution.

    deletion    x⁽ⁱ⁾ = x with its top i·step features replaced
    insertion   x⁽ⁱ⁾ = the replacement with the top i·step features of x put back
    i = 1 … l,  l = ⌈p / step⌉: the last step takes what is left, so that it ends at the replacement (at x)

    area = 1/l Σᵢ f(x⁽ⁱ⁾)/f(x)          insertion: higher is better
    aopc = 1/l Σᵢ (1 − f(x⁽ⁱ⁾)/f(x))    deletion: higher is better (the paper's normalised AOPC)

x⁽ⁱ⁾ is made of the rank of every element, rank(e) < i·step, a batch of i at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from geex._arrays.arrays import Array, Stream, as_explicand, host, like, namespace, working
from geex._arrays.scalars import scalar
from geex._arrays.validation import is_whole, whole
from geex._problem.baselines import Baseline, baselines
from geex._problem.outputs import AUTO, Score, check_score, chosen, followed, scored
from geex._protocols import Features
from geex._query.ordered_answers import Asker, default_batch
from geex._query.retrying_call import Model
from geex._query.session import engine
from geex._results.explanation import Explanation
from geex.errors import AnswerError, BaselineError, BudgetError, InputError, TargetError
from geex.evaluate.order import attributions, element_ranks, features_of

Kind = Literal["deletion", "insertion"]

NEXT_TO_NOTHING = 1e-9
ROUNDED = 1e-3  # what x may be off by in another type
NOISE = 10  # the noise's place in the seed's streams, apart from those that explanations draw from


@dataclass(frozen=True, eq=False)
class Curve:
    """What the score did, step by step, and the two areas that one number can be made of.

    kind: "deletion" or "insertion".
    curve: f(x⁽ⁱ⁾) for i = 1 … l.
    fractions: the share of features removed (put back) at each of these steps; the last is 1.
    start: f(x), which normalises both kinds. It is where a deletion starts and where an insertion ends.
    queries: how many were asked, 1 + l.
    target: the output that f is.
    """

    kind: Kind
    curve: np.ndarray
    fractions: np.ndarray
    start: float
    queries: int
    target: int

    @property
    def area(self) -> float:
        """1/l Σ f(x⁽ⁱ⁾)/f(x), the area under the normalised curve: the number of an insertion, higher is better."""
        return float(np.mean(self.curve / self.start))

    @property
    def aopc(self) -> float:
        """1/l Σ (1 − f(x⁽ⁱ⁾)/f(x)), the area over the normalised curve: the number of a deletion, higher is better.

        For an insertion it is as well defined, and lower is better: read `area` there.
        """
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
    """Replaces the features of x, the most important first, and asks the model after every `step` of them.

    model: a callable from a batch (n, *x.shape) to answers (n,) or (n, k).
    x: one explicand, without a batch axis. Its library and device decide where everything runs.
    values: an Explanation of one output, or a value for every feature, in any array library: of the shape of x; of
        that shape without its channel axis (the first or the last), and a pixel goes with all its channels; or of
        the shape of `features`. Equal values go in the order of their index.
    target: which output. None: that of the Explanation, or else the largest for x.
    score: what of the answer is followed, as in `geex.explain`; it has to be above 0 for x. None: that of the
        Explanation, or else the answer as it comes. Where the Explanation is of log-odds, as the default for images is
        where a model answers with chances, it is the chances: f(x⁽ⁱ⁾)/f(x) of log-odds has no meaning.
    features: `Elements()`, `Pixels(channels=axis)`, `Groups(map)`. None: those of the Explanation, or else what the
        shape of `values` says.
    replacement: what removed features become: a number, an array, `geex.blur(…)`, any callable from x to an array,
        or `noise(x, …)`. None: the baseline of the Explanation, or else 0.
    step: features per query.
    batch: rows per call of the model, as in `geex.explain`. It does not change the result.
    """
    walk = _prepare(x, values, target, score, features, replacement, step, batch)
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
    """Starts from the replacement and puts the features of x back, the most important first; see `deletion`."""
    walk = _prepare(x, values, target, score, features, replacement, step, batch)
    return _walked("insertion", model, walk, before=walk.replacement, after=walk.explicand)


def noise(x: Any, sigma: float = 1.0, seed: int = 0) -> Array:
    """One image of independent N(0, σ²) in the shape, library and device of x: a replacement that methods can share.

    The numbers depend on the seed and the shape alone, not on the library or device.
    """
    explicand = working(as_explicand(x))
    if isinstance(sigma, bool) or not isinstance(sigma, Real) or not 0 < float(sigma) < np.inf:
        raise InputError(f"sigma is {sigma!r}; wanted a number above 0, in the units of x.")
    generator = Stream(whole("seed", seed, 0, InputError), (NOISE,), explicand).generator()
    return like(float(sigma) * generator.standard_normal(tuple(explicand.shape)), explicand)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Everything a curve is made of, checked before the first query: arrays of the shape of x, on its device."""

    explicand: Array
    replacement: Array
    ranks: Array
    counts: np.ndarray
    target: int | None
    score: Score
    batch: int | None

    def images(self, before: Array, after: Array, batch: int) -> Iterator[Array]:
        """`before` with `after` in its first counts[i] features, in batches (≤ batch, *shape)."""
        xp = namespace(self.ranks)
        ones = (1,) * len(self.ranks.shape)
        for start in range(0, len(self.counts), batch):
            counts = like(self.counts[start : start + batch], self.ranks)
            yield xp.where(self.ranks[None, ...] < xp.reshape(counts, (-1, *ones)), after, before)


def _prepare(
    x: Any,
    values: Any,
    target: int | None,
    score: Score,
    features: Features | None,
    replacement: Baseline | None,
    step: int,
    batch: int | None,
) -> _Walk:
    array = as_explicand(x)
    explicand = working(array)
    xp, shape = namespace(array), tuple(int(n) for n in array.shape)
    dtype = array.dtype if xp.isdtype(array.dtype, "real floating") else explicand.dtype
    given = attributions(values)
    if isinstance(values, Explanation):
        _same(values, explicand)
    features = features_of(values, features, shape, given.shape)
    check_score(score)
    return _Walk(
        explicand=xp.astype(explicand, dtype),
        replacement=xp.astype(_replacement(replacement, values, explicand, features), dtype),
        ranks=like(element_ranks(given, features, shape), explicand, xp.int64),
        counts=_counts(given.size, whole("step", step, 1, InputError)),
        target=_target(target, values),
        score=_score(score, values),
        batch=None if batch is None else whole("batch", batch, 1, BudgetError),
    )


def _score(score: Score, values: Any) -> Score:
    """The score that is followed: an Explanation brings its own where none is named, of log-odds the chances."""
    if score is None and isinstance(values, Explanation):
        score = followed(_own(values))
    return followed(score) if score == AUTO else score


def _own(explanation: Explanation) -> Score:
    """The score of an Explanation, one that was saved too."""
    if explanation.record is not None:
        return explanation.record.task.score
    score = explanation.settings.score
    if score is not None and not isinstance(score, str):
        raise InputError(
            f"the explanation is of score={score}, which cannot be made again; name it, as score=… or --score.",
            code="score-not-remakable",
        )
    return score


def _same(explanation: Explanation, explicand: Array) -> None:
    """Raises InputError where an Explanation is of another x."""
    if explanation.explicand is None:
        return
    own, given = (host(array).astype(np.float64) for array in (explanation.explicand, explicand))
    if own.shape != given.shape or not np.allclose(own, given, rtol=ROUNDED, atol=ROUNDED * np.abs(own).max()):
        raise InputError("values explains another x than this one; values=explanation.values tests it on this one.")


def _counts(size: int, step: int) -> np.ndarray:
    """How many features are gone after steps 1 … l."""
    return np.minimum(np.arange(1, -(-size // step) + 1) * step, size)


def _target(target: Any, values: Any) -> int | None:
    if target is None and isinstance(values, Explanation):
        target = values.target
    if target is None:
        return None
    target = scalar(target)
    if not is_whole(target):
        raise TargetError(f"target is {target!r}; wanted one whole number, or None for the largest output.")
    return int(target)


def _replacement(spec: Baseline | None, values: Any, explicand: Array, features: Features) -> Array:
    if spec is None:
        known = values.baseline if isinstance(values, Explanation) else None
        spec = 0.0 if known is None else like(host(known), explicand)
    if isinstance(spec, list | tuple):
        raise BaselineError(
            f"replacement is a {type(spec).__name__} of {len(spec)}; wanted one number, array or rule such as "
            "geex.blur(…). For an array, say np.asarray(replacement)."
        )
    try:
        return baselines(spec, explicand, features)[0]
    except BaselineError as error:
        raise BaselineError(f"replacement: {error}") from error


def _walked(kind: Kind, model: Model, walk: _Walk, before: Array, after: Array) -> Curve:
    batch = default_batch(walk.explicand) if walk.batch is None else walk.batch
    total = 1 + len(walk.counts)
    with engine(model).opened(batch, total) as session:
        asker = Asker(session.desk(walk.explicand), total)
        output = scored(asker.rows(namespace(walk.explicand).stack([walk.explicand])), walk.score)[0, :]
        target = chosen(walk.target, output)[0][0]
        start = _normaliser(float(output[target]), target, walk.explicand)
        answers = map(asker.rows, walk.images(before, after, batch))
        curve = np.concatenate([host(scored(rows, walk.score)[:, target]) for rows in answers])
    return Curve(kind, curve, walk.counts / walk.counts[-1], start, asker.asked, target)


def _normaliser(start: float, target: int, explicand: Array) -> float:
    if start < NEXT_TO_NOTHING:
        raise AnswerError(
            f"f(x) is {start:.3g} for output {target}, and the curve is normalised by it: f(x⁽ⁱ⁾)/f(x) has no meaning. "
            "Take another target, or a score that is above 0 for x, such as score='softmax' of logits.",
            query=explicand,
        )
    return start
