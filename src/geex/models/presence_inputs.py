"""Explicands that are no numbers: what is asked is which parts are there.

    text    the words of a text; an absent word is left out
    row     the cells of a table's row, of any type; an absent cell has its value from another row

The explicand x is a one for every part and the baseline a zero, so methods that show and hide features, such as
`Shapley()`, explain them. The model gets whole texts or whole rows, rebuilt from the masks.
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
from geex._query.limits import Limits, limits_of
from geex._stored_names import stored
from geex.errors import InputError, MissingPackage
from geex.models.scikit_learn import sklearn

WORDS = r"\w+(?:['’\-]\w+)*"


class Parts(Protocol):
    """What the model is handed, built from the parts that are there."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def absence(self) -> str:
        """What is compared with, in words."""
        ...

    def built(self, present: np.ndarray) -> Any:
        """Presence (n, p) -> what the model is asked."""
        ...


@dataclass(frozen=True, eq=False)
class Shown:
    """A model of which parts are present; made by `text` and `row`."""

    model: Callable[[Any], Any]
    parts: Parts

    def __call__(self, queries: Array) -> Any:
        present = host(queries)
        if not np.isin(present, (0, 1)).all():
            raise InputError(
                f"a word or a cell is there or is not, and this method asked for {float(present.flat[0]):.3g} of one; "
                "take a method that shows and hides features, such as method=geex.Shapley(), and a baseline of zeros."
            )
        return self.model(self.parts.built(present.astype(bool)))

    @property
    def identity(self) -> str:
        """Another one for another model, another text or another row: x is all ones for each."""
        return digest(identity(self.model), self.parts)

    @property
    def x(self) -> np.ndarray:
        """The explicand: every part is there."""
        return np.ones(len(self.parts.names))

    @property
    def names(self) -> tuple[str, ...]:
        """A name for every feature."""
        return self.parts.names

    @property
    def absence(self) -> str:
        """What the baseline, all zeros, stands for."""
        return self.parts.absence

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.parts.names),)

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
    """A text in pieces: what stands before, between and after the words, and the words."""

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


@stored("cells/1")
@dataclass(frozen=True, eq=False)
class Cells:
    """A row and what stands for the absence of its cells, each with a name."""

    names: tuple[str, ...]
    values: tuple[Any, ...] = field(repr=False)
    absent: tuple[Any, ...] = field(repr=False)

    @property
    def absence(self) -> str:
        return "the row of absent values"

    def built(self, present: np.ndarray) -> Any:
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingPackage("a row with names needs pandas: pip install 'geex[sklearn]'") from None
        columns = zip(self.names, self.values, self.absent, strict=True)
        return DataFrame(
            {
                name: [value if there else absent for there in present[:, place]]
                for place, (name, value, absent) in enumerate(columns)
            }
        )


def text(model: Any, text: str, *, pattern: str = WORDS, absent: str = "") -> Shown:
    """A text explained by its words: `shown = text(model, "…")`, then `explain(shown, shown.x, method=Shapley())`.

    model: a callable from a list of n texts to scores, such as `geex.models.http(…)`, or a scikit-learn pipeline.
    pattern: what a part is, as a regular expression; r"[^.!?]+" explains by sentences.
    absent: what stands where a word is left out, such as "[MASK]".
    The values are in the order of `shown.names`.
    """
    if not isinstance(text, str):
        raise InputError(f"text is a {type(text).__name__}; wanted a str.")
    found = list(re.finditer(pattern, text))
    if not found or any(not match.group() for match in found):
        raise InputError(f"the pattern {pattern!r} finds no words in {text[:60]!r}; wanted one part or more.")
    ends = [0, *(match.end() for match in found)]
    starts = [*(match.start() for match in found), len(text)]
    between = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    return Shown(_called(model), Words(between, tuple(match.group() for match in found), absent))


def row(model: Any, row: Mapping[str, Any], absent: Mapping[str, Any]) -> Shown:
    """A row of a table explained by its columns, numbers or not: `shown = row(pipeline, frame.iloc[0], typical)`.

    model: a scikit-learn pipeline that was fitted with a data frame, or any callable from a data frame to scores.
    row, absent: a value for every column: a dict, or a row of a data frame. `absent` is what stands for a column that
        is left out: its most frequent value, its median, or another row to be told apart from.
    """
    names = [str(name) for name in row.keys()]  # noqa: SIM118 (a row of a data frame iterates over its values)
    missing = [name for name in names if name not in absent.keys()]  # noqa: SIM118
    if not names or missing:
        raise InputError(
            f"absent has no {missing[0]!r}; wanted a value for every column of row." if names else "row is empty."
        )
    values, others = ([mapping[name] for name in names] for mapping in (row, absent))
    return Shown(_called(model), Cells(tuple(names), tuple(values), tuple(others)))


def _called(model: Any) -> Callable[[Any], Any]:
    """The model itself, or the estimator that it is, made callable."""
    return model if callable(model) else sklearn(model)
