"""Inputs that are no numbers: queries decide which parts are present.

    text    the words of a text; an absent word is left out
    row     the cells of a table's row, of any type; an absent cell has its value from another row

The input x is 1 for every part and the baseline 0, so methods that show and hide features, such as `Shapley()`,
explain them. The model receives whole texts or whole rows, built from the presence masks.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._problem.foreign_model import Carried
from geex._problem.model_identity import identity
from geex._problem.table.cells import Cells, plain
from geex._query.limits import Limits, limits_of
from geex._stored_names import stored
from geex.errors import InputError
from geex.models.scikit_learn import as_model

# A word: letters and digits, with apostrophes and hyphens inside.
WORDS = r"\w+(?:['’\-]\w+)*"


class Parts(Protocol):
    """The parts of an input."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def absence(self) -> str:
        """The baseline in words: "against …"."""
        ...

    def built(self, present: np.ndarray) -> Any:
        """Return the model's input for presence masks (n, p)."""
        ...


@dataclass(frozen=True, eq=False)
class PresenceModel:
    """A model of which parts are present; made by `text` and `row`.

    Attributes
    ----------
    x : ndarray (p,)
        The input to explain: 1 for every part.
    names : tuple of str
        A name for each part.
    absence : str
        What the baseline, all zeros, stands for.
    shape : tuple of int
        The shape of one row, (p,).
    labels : tuple or None
        The labels of the model inside.
    limits : Limits
        The limits of the model inside.
    """

    model: Callable[[Any], Any]
    parts: Parts

    def __call__(self, queries: Array) -> Any:
        present = host(queries)
        if not np.isin(present, (0, 1)).all():
            value = present[~np.isin(present, (0, 1))][0]
            raise InputError(
                f"A word or a cell must be present (1) or absent (0); the method sent {float(value):.3g}.",
                code="presence-not-binary",
                fix="Use a method that shows and hides features, such as method=geex.Shapley(), and a baseline of 0.",
            )
        return self.model(self.parts.built(present.astype(bool)))

    @property
    def identity(self) -> str:
        """A text that changes with the model and with the text or the row: x is all ones for each."""
        return digest(identity(self.model), self.parts)

    @property
    def x(self) -> np.ndarray:
        return np.ones(len(self.parts.names))

    @property
    def names(self) -> tuple[str, ...]:
        return self.parts.names

    @property
    def absence(self) -> str:
        return self.parts.absence

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.parts.names),)

    @property
    def cells(self) -> Cells | None:
        """The cells of a row, in values that a file can hold; None for a text."""
        if not isinstance(self.parts, Cells):
            return None
        values, absent = (tuple(map(plain, row)) for row in (self.parts.values, self.parts.absent))
        return Cells(self.parts.names, values, absent)

    @property
    def labels(self) -> tuple[Any, ...] | None:
        labels: tuple[Any, ...] | None = Carried(self.model).labels
        return labels

    @property
    def limits(self) -> Limits:
        return limits_of(self.model, None)


@stored("words/1")
@dataclass(frozen=True)
class Words:
    """A text in pieces: its words, and what stands before, between and after them."""

    between: tuple[str, ...] = field(repr=False)
    names: tuple[str, ...]
    absent: str = ""

    @property
    def absence(self) -> str:
        return f"{self.absent!r} for every word" if self.absent else "the text without its words"

    def built(self, present: np.ndarray) -> list[str]:
        return [self._text(row) for row in present]

    def _text(self, present: np.ndarray) -> str:
        words = [word if there else self.absent for word, there in zip(self.names, present, strict=True)]
        return "".join(before + word for before, word in zip(self.between, [*words, ""], strict=True))


def text(model: Any, text: str, *, pattern: str = WORDS, absent: str = "") -> PresenceModel:
    """Make a model whose features are the words of a text.

    Explain it with a method that shows and hides features: `explain(review, review.x, method=Shapley())`.

    Parameters
    ----------
    model : callable or estimator
        A callable from a list of n texts to scores, such as `geex.models.http(…)`, or a scikit-learn pipeline.
    text : str
        The text to explain.
    pattern : str
        A regular expression for one part, by default a word. r"[^.!?]+" explains by sentences.
    absent : str, default ""
        The text in place of an absent word, such as "[MASK]".

    Returns
    -------
    PresenceModel
        A model of presence masks. The values of an explanation are in the order of its `names`.

    Raises
    ------
    InputError
        If `text` is no text, or if `pattern` finds no part in it.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> count_good = lambda texts: np.array([float(text.count("good")) for text in texts])
    >>> review = geex.models.text(count_good, "a good film")
    >>> review.names
    ('a', 'good', 'film')
    >>> geex.explain(review, review.x, method=geex.Shapley(), queries=20, progress=False).values
    array([0., 1., 0.])
    """
    if not isinstance(text, str):
        raise InputError(f"`text` must be a str; got a {type(text).__name__}.", code="text-not-text")
    found = list(re.finditer(pattern, text))
    if not found or any(not match.group() for match in found):
        raise InputError(
            f"`pattern` must match one part or more, none of them empty; {pattern!r} does not in {text[:60]!r}.",
            code="text-without-parts",
        )
    ends = [0, *(match.end() for match in found)]
    starts = [*(match.start() for match in found), len(text)]
    between = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    return PresenceModel(as_model(model), Words(between, tuple(match.group() for match in found), absent))


def row(model: Any, row: Mapping[str, Any], absent: Mapping[str, Any]) -> PresenceModel:
    """Make a model whose features are the columns of a table's row, numbers or not.

    `geex.explain(model, row, baseline=absent)` gives the same values for a row without a model of its own. Explain this
    one with a method that shows and hides features: `explain(customer, customer.x, method=Shapley())`.

    Parameters
    ----------
    model : callable or estimator
        A callable from a data frame to scores, or a scikit-learn pipeline that was fitted with a data frame.
    row : mapping
        The row to explain, a value for each column: a dict, or a row of a data frame.
    absent : mapping
        The value of each column when it is absent: its most frequent value, its median, or its value in another row.

    Returns
    -------
    PresenceModel
        A model of presence masks. The values of an explanation are in the order of its `names`.

    Raises
    ------
    InputError
        If `row` is empty, or if `absent` lacks a column.
    MissingPackage
        When called without pandas.

    Examples
    --------
    >>> import geex
    >>> pay = lambda frame: (frame["hours"] * (frame["job"] == "nurse")).to_numpy(float)
    >>> person = geex.models.row(pay, {"hours": 8, "job": "nurse"}, {"hours": 0, "job": "clerk"})
    >>> geex.explain(person, person.x, method=geex.Shapley(), queries=20, progress=False).values
    array([4., 4.])
    """
    names = [str(name) for name in row.keys()]  # noqa: SIM118 (a row of a data frame iterates over its values)
    missing = [name for name in names if name not in absent.keys()]  # noqa: SIM118
    if not names:
        raise InputError("`row` must have a column; got an empty row.", code="row-empty")
    if missing:
        raise InputError(
            f"`absent` must have a value for each column of `row`; {missing[0]!r} has none.", code="absent-lacks-column"
        )
    values, others = ([mapping[name] for name in names] for mapping in (row, absent))
    return PresenceModel(as_model(model), Cells(tuple(names), tuple(values), tuple(others)))
