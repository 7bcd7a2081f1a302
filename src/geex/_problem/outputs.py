"""Targets and scores: which output is explained, and which function of the answer.

Both act on stored answers (n, k), so either can be changed without a query.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host, like, namespace, owned
from geex._arrays.scalars import entry, has_entries, scalar
from geex._arrays.validation import is_whole, shown
from geex.errors import AnswerError, InputError, TargetError

Score = str | Callable[[Array], Array] | None
Target = int | str | Sequence[int | str] | None


# The score that depends on the answers for x and the baseline; see `resolved_score`.
AUTO = "auto"
# How far the sum of rounded probabilities may be from 1.
SUM_ROUNDING = 1e-3
# The smallest probability in log-odds: log-odds are at least −6.9.
LEAST_PROBABILITY = 1e-3
# The smallest 1 − p in log-odds: log-odds are at most 18.4.
SUREST = 1e-8
# The rounding error of 1 − p in float32.
LOST = 1e-6
# Names of outputs that a message lists.
LISTED_OUTPUTS = 10


def softmax(answers: Array) -> Array:
    """Return the probabilities of logits."""
    _several(answers, "softmax")
    xp = namespace(answers)
    with np.errstate(under="ignore"):
        shifted = xp.exp(answers - xp.max(answers, axis=1, keepdims=True))
    return shifted / xp.sum(shifted, axis=1, keepdims=True)


def log_odds(answers: Array, floor: float = 1e-12, slack: float = 1e-6) -> Array:
    """Return log p/(1 − p) of probabilities p, which are kept `floor` away from 0 and 1."""
    _probabilities(answers, slack)
    xp = namespace(answers)
    p = xp.clip(answers, floor, 1 - floor)
    return xp.log(p) - xp.log1p(-p)


def bounded_log_odds(answers: Array) -> Array:
    """Return log-odds between −6.9 and 6.9, for rounded probabilities."""
    return log_odds(answers, LEAST_PROBABILITY, slack=0.01)


def sure_log_odds(answers: Array) -> Array:
    """Return log p/(1 − p) between −6.9 and 18.4: p is kept above 1e-3, and 1 − p above 1e-8.

    Differences of p below 1e-3 are ignored. Those above 0.999 are not: the features behind a decision raise p there. If
    probabilities sum to 1, 1 − p of a large p is the sum of the others, which keeps the digits that 1 − p loses. If
    1 − p is larger than this sum, the others were rounded to 0, and 1 − p is used.
    """
    _probabilities(answers, slack=0.01)
    xp = namespace(answers)
    p = xp.clip(answers, 0.0, 1.0)
    others = xp.sum(xp.where(p > 0.5, xp.zeros_like(p), p), axis=1, keepdims=True)
    missing = xp.where((p > 0.5) & _sum_to_one(answers), xp.maximum(others, 1 - p - LOST), 1 - p)
    return xp.log(xp.clip(p, LEAST_PROBABILITY, 1.0)) - xp.log(xp.clip(missing, SUREST, 1.0))


def margin(answers: Array) -> Array:
    """Return every output minus the largest of the others."""
    _several(answers, "margin")
    xp = namespace(answers)
    ranked = xp.sort(answers, axis=1)
    first, second = ranked[:, -1:], ranked[:, -2:-1]
    return answers - xp.where(answers == first, second, first)


def as_it_comes(answers: Array) -> Array:
    """Return the answer itself."""
    return answers


# The scores that have a name.
SCORES: dict[str, Callable[[Array], Array]] = {
    "answer": as_it_comes,
    "softmax": softmax,
    "log_odds": log_odds,
    "bounded_log_odds": bounded_log_odds,
    "sure_log_odds": sure_log_odds,
    "margin": margin,
}


def check_score(score: Score) -> None:
    """Raise InputError if `score` is neither a name of a score nor a callable nor None."""
    names = (AUTO, *SCORES)
    if score is not None and not callable(score) and (not isinstance(score, str) or score not in names):
        raise InputError(
            f"`score` must be None, {', '.join(map(repr, names))} or a callable (n, k) -> (n, k); got {shown(score)}.",
            code="score-unknown",
        )


def resolved_score(score: Score, ends: Array) -> Score:
    """Return the score that "auto" stands for, given the answers (n, k) for x and x̊.

    These are log-odds if the answers are probabilities of k classes, and bounded log-odds if the probabilities are
    rounded: some are 0, and none is close to 0. If all are 0 or 1, the model returns a label, whose log-odds hold no
    more than the answer itself.
    """
    if score != AUTO:
        return score
    xp = namespace(ends)
    probabilities = ends.shape[1] > 1 and bool(xp.all(ends >= -SUM_ROUNDING)) and bool(xp.all(_sum_to_one(ends)))
    if not probabilities or bool(xp.all((ends == 0) | (ends == 1))):
        return "answer"
    above = xp.where(ends > 0, ends, xp.ones_like(ends))
    rounded = not bool(xp.all(ends > 0)) and bool(xp.all(above > SUREST))
    return "bounded_log_odds" if rounded else "sure_log_odds"


def curve_score(score: Score) -> Score:
    """Return the score of a curve where `score` is explained.

    A curve is divided by f(x): this suits probabilities, and not their log-odds, whose zero is arbitrary.
    """
    return "answer" if score in (AUTO, "log_odds", "bounded_log_odds", "sure_log_odds") else score


def scored(answers: Array, score: Score) -> Array:
    """Return the score (n, k') of answers (n, k)."""
    if score is None:
        return answers
    if isinstance(score, str):
        return SCORES[score](answers)
    try:
        made = score(owned(answers))
    except Exception as error:
        raise InputError(f"The `score` function raised {type(error).__name__}: {error}", code="score-raised") from error
    xp = namespace(answers)
    result = as_array("the result of the score", made, InputError)
    if result.ndim not in (1, 2) or result.shape[0] != answers.shape[0] or 0 in result.shape:
        raise InputError(
            f"The `score` function must return one row for each row of answers of shape {tuple(answers.shape)}; got "
            f"shape {tuple(result.shape)}.",
            code="score-shape",
        )
    result = like(result, answers)
    result = result[:, None] if result.ndim == 1 else result
    if not bool(xp.all(xp.isfinite(result))):
        raise InputError(
            "The `score` function must return finite numbers for finite answers; got NaN or infinity.",
            code="score-not-finite",
        )
    return result


def checked_target(target: Any, labels: Sequence[str] | None = None) -> Target:
    """Return None, "all", an int or a list of ints, labels replaced by their places. Raise TargetError otherwise."""
    if target is None or (isinstance(target, str) and target == "all"):
        return target
    if isinstance(target, str):
        return label_index(target, labels)
    target = scalar(target)
    if is_whole(target):
        return int(target)
    entries = list(target) if isinstance(target, Iterable) else []
    entries = [entry(one) for one in entries]
    entries = [label_index(one, labels) if isinstance(one, str) else one for one in entries]
    if not entries or not all(map(is_whole, entries)):
        raise TargetError(
            f"`target` must be a whole number, a label, a list of them, 'all' or None; got {shown(target)}.",
            code="target-unknown",
        )
    return [int(one) for one in entries]


def reusable_target(target: Any) -> Any:
    """Return the target; an iterator as a list, since it can be read only once."""
    return list(target) if isinstance(target, Iterator) else target


def has_label(target: Any) -> bool:
    """Return whether the target contains a label of an output."""
    if isinstance(target, str):
        return target != "all"
    return isinstance(target, Iterable) and has_entries(target) and any(isinstance(one, str) for one in target)


def label_index(label: str, labels: Sequence[str] | None) -> int:
    """Return the number of the output with this label; upper and lower case are the same unless both occur."""
    if labels is None:
        raise TargetError(
            f"`target` {label!r} is a label, and the model has no labels.",
            code="target-without-labels",
            fix="Pass labels=[…] to geex.explain, one for each output, or the number of the output.",
        )
    lower = [name.lower() for name in labels]
    same = [place for place, name in enumerate(labels) if name == label]
    places = same or [place for place, name in enumerate(lower) if name == label.lower()]
    if len(places) == 1:
        return places[0]
    if places:
        raise TargetError(
            f"`target` {label!r} is the label of outputs {', '.join(map(str, places))}. Pass the number of one.",
            code="target-ambiguous",
        )
    near = difflib.get_close_matches(label.lower(), lower, 3, 0.4)
    near += [name for name in dict.fromkeys(lower) if label.lower() in name and name not in near][: 3 - len(near)]
    names = ", ".join(repr(labels[lower.index(name)]) for name in near)
    if not near:
        names = ", ".join(map(repr, labels[:LISTED_OUTPUTS])) + (", …" if len(labels) > LISTED_OUTPUTS else "")
    which = ("the nearest label is" if len(near) == 1 else "the nearest labels are") if near else "the labels are"
    raise TargetError(
        f"`target` {label!r} is not the label of an output; {which} {names}.",
        code="target-not-a-label",
    )


def checked_labels(labels: Any, name: str = "labels", each: str = "output") -> list[str] | None:
    """Return names, of outputs or of features, as texts; None where there are none."""
    if labels is None:
        return None
    try:
        if not isinstance(labels, str):
            return [str(label) for label in labels]
    except TypeError:
        pass
    raise InputError(
        f"`{name}` must be a list of names, one for each {each}; got {shown(labels)}.", code=f"{name}-not-a-list"
    )


def check_label_count(labels: Sequence[str] | None, outputs: int) -> None:
    """Raise InputError if there are labels, and not one for each output."""
    if labels is not None and len(labels) != outputs:
        raise InputError(
            f"`labels` must have one name for each of the {outputs} outputs; got {len(labels)} names.",
            code="labels-count",
        )


def target_indices(target: Target, output: Array) -> tuple[list[int], bool]:
    """Return the outputs of `target`, given the scored output (k,) of x, and whether `target` is a list or "all"."""
    k = int(output.shape[0])
    if target is None:
        return [int(namespace(output).argmax(output))], False
    if isinstance(target, str):
        return list(range(k)), True
    entries = [target] if isinstance(target, int) else [int(one) for one in target]
    for one in entries:
        if not -k <= one < k:
            outputs = f"{k} outputs, 0 … {k - 1}" if k > 1 else "one output, 0"
            raise TargetError(
                f"`target` must be an output of the model, which has {outputs}; got {one}.", code="target-out-of-range"
            )
    return [one % k for one in entries], not isinstance(target, int)


def _sum_to_one(answers: Array) -> Array:
    """Return for each row of answers (n, k) whether it sums to 1 (n, 1)."""
    xp = namespace(answers)
    return xp.abs(xp.sum(answers, axis=1, keepdims=True) - 1) <= SUM_ROUNDING


def _probabilities(answers: Array, slack: float) -> None:
    xp = namespace(answers)
    low, high = float(host(xp.min(answers))), float(host(xp.max(answers)))
    if low < -slack or high > 1 + slack:
        raise AnswerError(
            f"Log-odds need probabilities; the model's answers lie between {low:.4g} and {high:.4g}.",
            code="answer-not-probabilities",
            fix="Pass score='answer' to explain the numbers as they are, or 'softmax' or 'margin' for logits.",
        )


def _several(answers: Array, name: str) -> None:
    if answers.shape[1] < 2:
        raise AnswerError(
            f"The score {name!r} needs at least two outputs; the model has one.",
            code="score-needs-outputs",
            fix="Pass score='answer'.",
        )
