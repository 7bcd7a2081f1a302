"""Which output is explained, and what of the model's answer: the target and the score.

Both act on stored answers (n, k), so either can be changed without a query.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host, like, namespace, owned
from geex._arrays.scalars import entry, has_entries, scalar
from geex._arrays.validation import is_whole
from geex.errors import AnswerError, InputError, TargetError

Score = str | Callable[[Array], Array] | None
Target = int | str | Sequence[int | str] | None


AUTO = "auto"
ROUNDING = 1e-3
LEAST = 1e-3
SUREST = 1e-8
LOST = 1e-6  # what 1 − p of a float32 may be wrong by
SHOWN = 10


def softmax(answers: Array) -> Array:
    """Logits -> probabilities."""
    _several(answers, "softmax")
    xp = namespace(answers)
    with np.errstate(under="ignore"):
        shifted = xp.exp(answers - xp.max(answers, axis=1, keepdims=True))
    return shifted / xp.sum(shifted, axis=1, keepdims=True)


def log_odds(answers: Array, floor: float = 1e-12, slack: float = 1e-6) -> Array:
    """Probabilities p -> log p/(1 − p), p kept `floor` away from 0 and 1."""
    _probabilities(answers, slack)
    xp = namespace(answers)
    p = xp.clip(answers, floor, 1 - floor)
    return xp.log(p) - xp.log1p(-p)


def bounded_log_odds(answers: Array) -> Array:
    """Log-odds between −6.9 and 6.9: of chances that are rounded no more is known."""
    return log_odds(answers, LEAST, slack=0.01)


def sure_log_odds(answers: Array) -> Array:
    """Chances p -> log p/(1 − p) between −6.9 and 18.4: p is kept above 1e-3, and 1 − p above 1e-8.

    Below one in a thousand a chance says nothing more. How sure a model is beyond 0.999 does: what carries a decision
    makes it surer. Where chances add up, 1 − p of a large p is the sum of the others, whose digits 1 − p loses, unless
    1 − p says more: of chances that were rounded, 0.9996 and nothing else, the others are lost.
    """
    _probabilities(answers, slack=0.01)
    xp = namespace(answers)
    p = xp.clip(answers, 0.0, 1.0)
    others = xp.sum(xp.where(p > 0.5, xp.zeros_like(p), p), axis=1, keepdims=True)
    missing = xp.where((p > 0.5) & _adding_up(answers), xp.maximum(others, 1 - p - LOST), 1 - p)
    return xp.log(xp.clip(p, LEAST, 1.0)) - xp.log(xp.clip(missing, SUREST, 1.0))


def margin(answers: Array) -> Array:
    """Every output minus the largest of the others."""
    _several(answers, "margin")
    xp = namespace(answers)
    ranked = xp.sort(answers, axis=1)
    first, second = ranked[:, -1:], ranked[:, -2:-1]
    return answers - xp.where(answers == first, second, first)


def as_it_comes(answers: Array) -> Array:
    """The answer itself."""
    return answers


SCORES: dict[str, Callable[[Array], Array]] = {
    "answer": as_it_comes,
    "softmax": softmax,
    "log_odds": log_odds,
    "bounded_log_odds": bounded_log_odds,
    "sure_log_odds": sure_log_odds,
    "margin": margin,
}


def check_score(score: Score) -> None:
    """Raises InputError where `score` is none of the known names and cannot be called."""
    known = (AUTO, *SCORES)
    if score is not None and not callable(score) and (not isinstance(score, str) or score not in known):
        raise InputError(
            f"score is {score!r}; wanted None, {', '.join(map(repr, known))} or a callable (n, k) -> (n, k)."
        )


def settled(score: Score, ends: Array) -> Score:
    """The score that "auto" stands for, given the answers (n, k) for x and x̊: log-odds where these are chances of k
    classes, bounded ones where they are rounded: some are 0, and none is near it. Where all are 0 or 1 a label seems
    to be all that is told, whose log-odds say no more."""
    if score != AUTO:
        return score
    xp = namespace(ends)
    chances = ends.shape[1] > 1 and bool(xp.all(ends >= -ROUNDING)) and bool(xp.all(_adding_up(ends)))
    if not chances or bool(xp.all((ends == 0) | (ends == 1))):
        return "answer"
    told = xp.where(ends > 0, ends, xp.ones_like(ends))
    rounded = not bool(xp.all(ends > 0)) and bool(xp.all(told > SUREST))
    return "bounded_log_odds" if rounded else "sure_log_odds"


def followed(score: Score) -> Score:
    """What a curve follows where `score` is explained: it is normalised by f(x), for which log-odds have no meaning and
    their chances do."""
    return "answer" if score in (AUTO, "log_odds", "bounded_log_odds", "sure_log_odds") else score


def scored(answers: Array, score: Score) -> Array:
    """What is explained of answers (n, k): (n, k')."""
    if score is None:
        return answers
    if isinstance(score, str):
        return SCORES[score](answers)
    try:
        made = score(owned(answers))
    except Exception as error:
        raise InputError(f"score={score!r} raised {type(error).__name__}: {error}") from error
    xp = namespace(answers)
    result = as_array(f"what score={score!r} made", made, InputError)
    if result.ndim not in (1, 2) or result.shape[0] != answers.shape[0] or 0 in result.shape:
        raise InputError(
            f"score={score!r} made an array of shape {tuple(result.shape)} and type {result.dtype} of answers "
            f"of shape {tuple(answers.shape)}; wanted real numbers, one row for each row."
        )
    result = like(result, answers)
    result = result[:, None] if result.ndim == 1 else result
    if not bool(xp.all(xp.isfinite(result))):
        raise InputError(f"score={score!r} made NaN or infinity of the model's finite answers.")
    return result


def checked_target(target: Any, labels: Sequence[str] | None = None) -> Target:
    """None, "all", an int or a list of ints, labels replaced by their places; raises TargetError for anything else."""
    if target is None or (isinstance(target, str) and target == "all"):
        return target
    if isinstance(target, str):
        return labelled(target, labels)
    target = scalar(target)
    if is_whole(target):
        return int(target)
    entries = list(target) if isinstance(target, Iterable) else []
    entries = [entry(one) for one in entries]
    entries = [labelled(one, labels) if isinstance(one, str) else one for one in entries]
    if not entries or not all(map(is_whole, entries)):
        raise TargetError(f"target is {target!r}; wanted a whole number, a label, a list of them, 'all' or None.")
    return [int(one) for one in entries]


def listed(target: Any) -> Any:
    """The target; one that can be gone through only once as a list."""
    return list(target) if isinstance(target, Iterator) else target


def names_an_output(target: Any) -> bool:
    """Whether it names outputs by their labels."""
    if isinstance(target, str):
        return target != "all"
    return isinstance(target, Iterable) and has_entries(target) and any(isinstance(one, str) for one in target)


def labelled(label: str, labels: Sequence[str] | None) -> int:
    """The output that is called so, in any case."""
    if labels is None:
        raise TargetError(
            f"target is {label!r} and the names of the outputs are not known; give geex.explain labels=[…], one for "
            "each output, or the output's number."
        )
    lower = [name.lower() for name in labels]
    same = [place for place, name in enumerate(labels) if name == label]
    places = same or [place for place, name in enumerate(lower) if name == label.lower()]
    if len(places) == 1:
        return places[0]
    if places:
        raise TargetError(f"outputs {', '.join(map(str, places))} are all called {label!r}; give the number of one.")
    near = difflib.get_close_matches(label.lower(), lower, 3, 0.4)
    near += [name for name in dict.fromkeys(lower) if label.lower() in name and name not in near][: 3 - len(near)]
    told = ", ".join(repr(labels[lower.index(name)]) for name in near)
    if not near:
        told = ", ".join(map(repr, labels[:SHOWN])) + (", …" if len(labels) > SHOWN else "")
    raise TargetError(f"no output is called {label!r}; {'the nearest are' if near else 'outputs are called'} {told}.")


def checked_labels(labels: Any, name: str = "labels", each: str = "output") -> list[str] | None:
    """Names of outputs, or of something else, as texts; None where there are none."""
    if labels is None:
        return None
    try:
        if not isinstance(labels, str):
            return [str(label) for label in labels]
    except TypeError:
        pass
    raise InputError(f"{name} is {labels!r}; wanted a list of names, one for each {each}.")


def check_count(labels: Sequence[str] | None, outputs: int) -> None:
    """Raises InputError where there are labels and not one for each output."""
    if labels is not None and len(labels) != outputs:
        raise InputError(f"there are {len(labels)} labels and the model has {outputs} outputs; wanted one for each.")


def chosen(target: Target, output: Array) -> tuple[list[int], bool]:
    """The outputs that `target` names among the scored output (k,) of x, and whether it names several."""
    k = int(output.shape[0])
    if target is None:
        return [int(namespace(output).argmax(output))], False
    if isinstance(target, str):
        return list(range(k)), True
    entries = [target] if isinstance(target, int) else [int(one) for one in target]
    for one in entries:
        if not -k <= one < k:
            told = f"{k} outputs, 0 … {k - 1}" if k > 1 else "one output, 0"
            raise TargetError(f"target {one} is out of range: the model has {told}.")
    return [one % k for one in entries], not isinstance(target, int)


def _adding_up(answers: Array) -> Array:
    """Of every row (n, 1) of answers (n, k), whether they are chances of which one holds."""
    xp = namespace(answers)
    return xp.abs(xp.sum(answers, axis=1, keepdims=True) - 1) <= ROUNDING


def _probabilities(answers: Array, slack: float) -> None:
    xp = namespace(answers)
    low, high = float(host(xp.min(answers))), float(host(xp.max(answers)))
    if low < -slack or high > 1 + slack:
        raise AnswerError(
            f"log-odds want probabilities and the model answered between {low:.4g} and {high:.4g}; score='answer' "
            "explains the numbers as they are, and for logits there are 'softmax' and 'margin'."
        )


def _several(answers: Array, name: str) -> None:
    if answers.shape[1] < 2:
        raise AnswerError(f"score={name!r} wants two outputs or more and the model has one; take score=None.")
