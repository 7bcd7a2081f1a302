"""Answers of services as scores (n, k): a list of the best labels, one label, or numbers on another scale.

top     score of label j = its score in the answer, or the floor
label   score of label j = 1 if it is the answer, else 0
link    score = g(answer), for percentages, log-probabilities, log-odds and logits
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array
from geex._arrays.scalars import entry
from geex._arrays.validation import is_number
from geex._problem.digest import digest
from geex._problem.foreign_model import Carried
from geex._problem.model_identity import identity
from geex._query.limits import Limits, limits_of
from geex.errors import InputError
from geex.models.output_conversions import FROM_SCALES, TO_SCALES, Conversion, Indicator, Link, ListedScores, shown


@dataclass(frozen=True, eq=False)
class Converted:
    """A model whose answers are converted to scores; made by `top`, `label` and `link`."""

    model: Callable[[Any], Any]
    conversion: Conversion
    labels: tuple[Any, ...] | None = None

    def __call__(self, queries: Array) -> Array:
        return self.conversion(self.model(queries))

    @property
    def identity(self) -> str:
        """A text that changes with the model and with the conversion."""
        return digest(identity(self.model), self.conversion)

    @property
    def limits(self) -> Limits:
        """The limits of the model inside."""
        return limits_of(self.model, None)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of one row, or None."""
        shape: tuple[int, ...] | None = Carried(self.model).shape
        return shape


def top(
    model: Callable[[Any], Any],
    labels: Iterable[Any],
    *,
    floor: float = 0.0,
    keys: tuple[str, str] = ("label", "score"),
) -> Converted:
    """Make scores out of a service that answers only its best labels, each with a score.

    Parameters
    ----------
    model : callable
        A model that answers a list of labels and scores for each row.
    labels : iterable
        The labels to explain, in the order of the outputs. Other labels in an answer are ignored.
    floor : float, default 0
        The score of a label that an answer does not list. If the service cuts at a threshold, half the threshold is a
        better guess than 0.
    keys : (str, str), default ("label", "score")
        The keys of label and score in a list of objects.

    Returns
    -------
    Converted
        A callable from queries to scores (n, k).

    Raises
    ------
    InputError
        If a setting is wrong.
    AnswerError
        When called, if an answer has another form.

    Examples
    --------
    >>> import geex
    >>> service = lambda rows: [[{"label": "cat", "score": 0.7}] for row in rows]
    >>> geex.models.top(service, ["dog", "cat"], floor=0.1)([[1.0]])
    array([[0.1, 0.7]])
    """
    if not is_number(floor):
        raise InputError(f"`floor` must be a number; got {floor!r}.", code="floor-not-a-number")
    if not (isinstance(keys, tuple) and len(keys) == 2):
        raise InputError(f"`keys` must hold two names, of label and score; got {keys!r}.", code="keys-not-two")
    names = _checked_labels(labels)
    return Converted(model, ListedScores(names, float(floor), keys), names)


def label(model: Callable[[Any], Any], labels: Iterable[Any]) -> Converted:
    """Make scores out of a model that answers only a label: 1 for this label and 0 for the others.

    An explanation then shows how often a feature changes the decision. Use a method that shows and hides features, or
    a σ large enough that the label changes within it.

    Parameters
    ----------
    model : callable
        A model that answers one label for each row.
    labels : iterable
        All labels, in the order of the outputs.

    Returns
    -------
    Converted
        A callable from queries to scores (n, k).

    Raises
    ------
    InputError
        If `labels` is empty, a text, or names a label twice.
    AnswerError
        When called, if an answer is none of the labels.

    Examples
    --------
    >>> import geex
    >>> geex.models.label(lambda rows: ["b" for row in rows], ["a", "b"])([[1.0]])
    array([[0., 1.]])
    """
    names = _checked_labels(labels)
    return Converted(model, Indicator(names), names)


def link(model: Callable[[Any], Any], of: str, to: str = "probability") -> Converted:
    """Convert the answers of a model from one scale to another.

    Parameters
    ----------
    model : callable
        A model that answers numbers (n,) or (n, k).
    of : {"probability", "percent", "log", "log_odds", "logits"}
        The scale of the answers: "log" are log-probabilities, "log_odds" those of each output, "logits" those of all
        outputs together.
    to : {"probability", "log", "log_odds"}, default "probability"
        The scale of the scores. Probabilities are kept 1e-12 away from 0 and 1 before a logarithm.

    Returns
    -------
    Converted
        A callable from queries to scores of the same shape.

    Raises
    ------
    InputError
        If `of` or `to` is no known scale.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> geex.models.link(lambda rows: np.array([[25.0, 75.0]]), "percent")([[1.0]])
    array([[0.25, 0.75]])
    """
    if of not in FROM_SCALES:
        raise InputError(f"`of` must be one of {', '.join(FROM_SCALES)}; got {of!r}.", code="scale-unknown")
    if to not in TO_SCALES:
        raise InputError(f"`to` must be one of {', '.join(TO_SCALES)}; got {to!r}.", code="scale-unknown")
    return Converted(model, Link(of, to), Carried(model).labels)


def _checked_labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    names = () if isinstance(labels, str) else tuple(entry(label) for label in labels)
    if not names or len(set(names)) != len(names):
        raise InputError(
            f"`labels` must be different labels, one for each output; got {shown(labels)}.",
            code="labels-not-distinct",
        )
    return names
