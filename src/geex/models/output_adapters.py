"""What real services return, read as scores (n, k): a list of the best labels, one label, or numbers on another scale.

top     score of label j = what the answer lists for it, or the floor
label   score of label j = 1 where it is the answer, else 0
link    score = g(answer), for percentages, log-probabilities, log-odds and logits
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host
from geex._arrays.scalars import entry
from geex._arrays.validation import is_number
from geex._problem.digest import digest
from geex._problem.foreign_model import Carried
from geex._problem.model_identity import identity
from geex._problem.outputs import log_odds, softmax
from geex._query.limits import Limits, limits_of
from geex._stored_names import stored
from geex.errors import AnswerError, InputError

Reader = Callable[[Any], Array]


@dataclass(frozen=True, eq=False)
class Read:
    """A model whose answers are read as scores by `reader`; made by `top`, `label` and `link`."""

    model: Callable[[Any], Any]
    reader: Reader
    labels: tuple[Any, ...] | None = None

    def __call__(self, queries: Array) -> Array:
        return self.reader(self.model(queries))

    @property
    def identity(self) -> str:
        """Another one for another model, or where its answers are read otherwise."""
        return digest(identity(self.model), self.reader)

    @property
    def limits(self) -> Limits:
        """Those of the model that is asked."""
        return limits_of(self.model, None)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """That of the model that is asked."""
        shape: tuple[int, ...] | None = Carried(self.model).shape
        return shape


@stored("listed scores/1")
@dataclass(frozen=True)
class Listed:
    """Rows of label and score, as {label: score}, [(label, score), …] or [{keys[0]: label, keys[1]: score}, …]."""

    labels: tuple[Any, ...]
    floor: float = 0.0
    keys: tuple[str, str] = ("label", "score")

    def __call__(self, answers: Iterable[Any]) -> np.ndarray:
        place = {label: number for number, label in enumerate(self.labels)}
        rows = list(answers)
        scores = np.full((len(rows), len(place)), self.floor)
        for number, row in enumerate(rows):
            for label, score in self._pairs(row):
                if label in place:
                    scores[number, place[label]] = score
        return scores

    def _pairs(self, row: Any) -> list[tuple[Any, float]]:
        try:
            if isinstance(row, Mapping):
                return [(label, float(score)) for label, score in row.items()]
            named = [
                (entry[self.keys[0]], entry[self.keys[1]]) if isinstance(entry, Mapping) else entry for entry in row
            ]
            return [(label, float(score)) for label, score in named]
        except (TypeError, ValueError, KeyError):
            raise AnswerError(
                f"the model answered {_start(row)} for a row; wanted {{label: score}}, a list of (label, score), or a "
                f"list of objects with {self.keys[0]!r} and {self.keys[1]!r} (keys=(…, …) names others)."
            ) from None


@stored("label indicator/1")
@dataclass(frozen=True)
class Indicator:
    """One label for each row: 1 for it and 0 for the others."""

    labels: tuple[Any, ...]

    def __call__(self, answers: Any) -> np.ndarray:
        rows = [entry(row) for row in answers]
        place = {label: number for number, label in enumerate(self.labels)}
        scores = np.zeros((len(rows), len(place)))
        for number, row in enumerate(rows):
            if isinstance(row, dict | list) or row not in place:
                raise AnswerError(
                    f"the model answered {_start(row)} for a row; wanted one of the labels {_start(list(self.labels))}."
                )
            scores[number, place[row]] = 1.0
        return scores


def _percent(answers: Array) -> Array:
    return answers / 100


def _exponential(answers: Array) -> Array:
    return np.exp(answers)


def _sigmoid(answers: Array) -> Array:
    return 0.5 * (1 + np.tanh(answers / 2))


def _logarithm(answers: Array) -> Array:
    return np.log(np.clip(answers, 1e-12, None))


def _same(answers: Array) -> Array:
    return answers


OF: dict[str, Reader] = {
    "probability": _same,
    "percent": _percent,
    "log": _exponential,
    "log_odds": _sigmoid,
    "logits": softmax,
}
TO: dict[str, Reader] = {"probability": _same, "log": _logarithm, "log_odds": log_odds}


@stored("link/1")
@dataclass(frozen=True)
class Link:
    """Answers on the scale `of`, read on the scale `to`."""

    of: str
    to: str

    def __call__(self, answers: Any) -> np.ndarray:
        scores = host(as_array("the model's answer", answers, AnswerError)).astype(np.float64)
        if self.of == self.to:
            return scores
        return np.asarray(TO[self.to](OF[self.of](scores)))


def top(
    model: Callable[[Any], Any],
    labels: Iterable[Any],
    *,
    floor: float = 0.0,
    keys: tuple[str, str] = ("label", "score"),
) -> Read:
    """Scores (n, k) of a service that answers only its best labels, each with a score.

    labels: those that are explained, in the order of the outputs; others in an answer are passed over.
    floor: the score of a label that an answer does not list. 0 says "none at all"; where the service cuts at a
        threshold, about half of it is nearer the truth.
    keys: how a list of objects calls label and score.
    """
    if not is_number(floor):
        raise InputError(f"floor is {floor!r}; wanted a number.")
    if not (isinstance(keys, tuple) and len(keys) == 2):
        raise InputError(f"keys is {keys!r}; wanted the two names of label and score.")
    named = _labels(labels)
    return Read(model, Listed(named, float(floor), keys), named)


def label(model: Callable[[Any], Any], labels: Iterable[Any]) -> Read:
    """Scores (n, k) of a model that answers only a label: 1 for the label it gives, 0 for the others.

    An explanation then tells how often a feature tips the decision. Methods that show and hide features, or a σ large
    enough that the label changes within it, find more than a small σ does.
    """
    named = _labels(labels)
    return Read(model, Indicator(named), named)


def link(model: Callable[[Any], Any], of: str, to: str = "probability") -> Read:
    """A model that answers on the scale `of`, read on the scale `to`.

    of: "percent", "log" (log-probabilities), "log_odds" (of each output), "logits" (of all outputs together) or
        "probability". to: "probability", "log" or "log_odds". Probabilities are kept 1e-12 away from where a logarithm
        ends.
    """
    if of not in OF or to not in TO:
        raise InputError(f"of is {of!r} and to is {to!r}; wanted one of {', '.join(OF)}, and one of {', '.join(TO)}.")
    return Read(model, Link(of, to), Carried(model).labels)


def _labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    named = () if isinstance(labels, str) else tuple(entry(label) for label in labels)
    if not named or len(set(named)) != len(named):
        raise InputError(f"labels is {labels!r}; wanted a list of different labels, one for each output.")
    return named


def _start(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}…"
