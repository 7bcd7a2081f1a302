"""What a model answered, checked: one row of finite real numbers for each query, of one width throughout."""

from typing import Any, Protocol

import numpy as np

from geex._arrays.arrays import Array, accelerated, as_array, host, like, namespace, owned
from geex.errors import AnswerError

UNSETTLED = 32
LARGEST = 1e100


class Asked(Protocol):
    """Rows that were asked, and can be made again."""

    @property
    def size(self) -> int: ...

    def made(self) -> Array:
        """The queries (size, *shape)."""
        ...


class Answers:
    """Checks answers to queries like `explicand` as they come.

    On an accelerator, whether they are finite is looked up once in UNSETTLED batches and at the end: to look is to
    wait for it.
    """

    def __init__(self, explicand: Array, lazy: bool = True) -> None:
        self.explicand = explicand
        self.lazy = lazy and accelerated(explicand)
        self.width: int | None = None
        self.journaled = False
        self.unsettled: list[tuple[Array, int, Asked]] = []

    def checked(self, answer: Any, start: int, asked: "Asked") -> Array:
        """The answer to what was asked, the first row of which is query `start`, as float64 (n, k) beside x."""
        xp = namespace(self.explicand)
        count = asked.size
        array = usable(answer, count)
        self._same_width(1 if array.ndim == 1 else int(array.shape[1]), start)
        answers = xp.reshape(owned(like(array, self.explicand, xp.float64)), (count, self.width))
        self.unsettled.append((answers, start, asked))
        if not self.lazy or len(self.unsettled) >= UNSETTLED:
            self.settle()
        return answers

    def settle(self) -> None:
        """Raises AnswerError if an answer so far is not finite."""
        unsettled, self.unsettled = self.unsettled, []
        if not unsettled:
            return
        xp = namespace(self.explicand)
        if bool(xp.all(xp.abs(xp.concat([answers for answers, _, _ in unsettled], axis=0)) <= LARGEST)):
            return
        for answers, start, asked in unsettled:
            wrong = np.argwhere(~(np.abs(host(answers)) <= LARGEST))
            if len(wrong):
                row, output = (int(i) for i in wrong[0])
                raise AnswerError(
                    f"the model answered {float(answers[row, output])} for output {output} of query {start + row}; "
                    f"wanted finite numbers up to {LARGEST:g}. bounds=(lowest, highest) keeps queries inside the valid "
                    "range; the query is on this error as `.query`.",
                    query=asked.made()[row, ...],
                )

    def recalled(self, width: int) -> None:
        """Answers of this width came out of a journal."""
        self.width = width if self.width is None else self.width
        self.journaled = True

    def _same_width(self, width: int, start: int) -> None:
        if self.width not in (None, width):
            whose = "in the journal" if self.journaled else "before"
            hint = " Is it another model? A journal is for one." if self.journaled else ""
            raise AnswerError(
                f"the model answered {width} outputs for query {start} and after, and {self.width} {whose}; "
                f"wanted the same number in every answer.{hint}"
            )
        self.width = width


def usable(answer: Any, count: int, finite: bool = False) -> Array:
    """The answer to `count` queries as an array (n,) or (n, k) of real numbers, finite ones where that is wanted."""
    wanted = f"wanted real numbers of shape ({count},) or ({count}, k), one row for each query"
    try:
        array = as_array("the model's answer", answer, AnswerError)
    except AnswerError as error:
        raise AnswerError(f"{error} In all, {wanted}: wrap the model in a function that returns its scores.") from None
    shape = tuple(array.shape)
    if len(shape) not in (1, 2) or shape[0] != count or 0 in shape:
        raise AnswerError(f"the model answered an array of shape {shape} to {count} queries; {wanted}.")
    if finite and not np.isfinite(host(array)).all():
        raise AnswerError(f"the model answered NaN or infinity to some of {count} queries; wanted finite numbers.")
    return array
