"""From answers of a model to scores (n, k): listed labels, one label, or numbers on another scale."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host
from geex._arrays.scalars import entry
from geex._problem.outputs import log_odds, softmax
from geex._stored_names import stored
from geex.errors import AnswerError
from geex.models.redaction import excerpt

# Characters of an answer that a message quotes.
ANSWER_EXCERPT = 120
# From answers of a model to scores.
Conversion = Callable[[Any], Array]


@stored("listed scores/1")
@dataclass(frozen=True)
class ListedScores:
    """Rows of label and score: {label: score}, [(label, score), …] or [{keys[0]: label, keys[1]: score}, …]."""

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
            pass  # raised below, so that no error in the chain holds the answer
        raise AnswerError(
            f"The model must answer {{label: score}}, a list of (label, score), or a list of objects with "
            f"{self.keys[0]!r} and {self.keys[1]!r} for a row; got {shown(row)}.",
            code="answer-not-listed-scores",
            fix="Pass keys=(…, …) for objects with other names.",
        )


@stored("label indicator/1")
@dataclass(frozen=True)
class Indicator:
    """One label for each row: 1 for this label and 0 for the others."""

    labels: tuple[Any, ...]

    def __call__(self, answers: Any) -> np.ndarray:
        rows = [entry(row) for row in answers]
        place = {label: number for number, label in enumerate(self.labels)}
        scores = np.zeros((len(rows), len(place)))
        for number, row in enumerate(rows):
            if isinstance(row, dict | list) or row not in place:
                raise AnswerError(
                    f"The model must answer one of the labels {shown(list(self.labels))} for a row; got {shown(row)}.",
                    code="answer-not-a-label",
                )
            scores[number, place[row]] = 1.0
        return scores


# Smaller probabilities have no usable logarithm.
LOWEST_PROBABILITY = 1e-12


def _percent(answers: Array) -> Array:
    return answers / 100


def _exponential(answers: Array) -> Array:
    return np.exp(answers)


def _sigmoid(answers: Array) -> Array:
    return 0.5 * (1 + np.tanh(answers / 2))


def _logarithm(answers: Array) -> Array:
    return np.log(np.clip(answers, LOWEST_PROBABILITY, None))


def _same(answers: Array) -> Array:
    return answers


# Scales of answers, each with its way to probabilities.
FROM_SCALES: dict[str, Conversion] = {
    "probability": _same,
    "percent": _percent,
    "log": _exponential,
    "log_odds": _sigmoid,
    "logits": softmax,
}
# Scales of scores, each with the way from probabilities.
TO_SCALES: dict[str, Conversion] = {"probability": _same, "log": _logarithm, "log_odds": log_odds}


@stored("link/1")
@dataclass(frozen=True)
class Link:
    """Answers on the scale `of`, converted to the scale `to`."""

    of: str
    to: str

    def __call__(self, answers: Any) -> np.ndarray:
        scores = host(as_array("the model's answer", answers, AnswerError)).astype(np.float64)
        if self.of == self.to:
            return scores
        return np.asarray(TO_SCALES[self.to](FROM_SCALES[self.of](scores)))


def shown(value: Any) -> str:
    """Return the start of a value's repr, without secrets that a service has repeated."""
    return excerpt(repr(value), ANSWER_EXCERPT)
