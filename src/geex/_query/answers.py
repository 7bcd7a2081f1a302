"""Checks of a model's answers: one row of finite real numbers for each query, of one width throughout."""

from typing import Any, Protocol

import numpy as np

from geex._arrays.arrays import Array, accelerated, as_array, host, like, namespace, owned
from geex.errors import AnswerError

# Batches on an accelerator that are checked together: each check waits for the accelerator.
UNCHECKED = 32
# The largest answer: sums of squares of such answers are numbers of float64.
LARGEST = 1e100


class QueriedRows(Protocol):
    """Rows that were queried, and can be made again."""

    @property
    def size(self) -> int: ...

    def make_queries(self) -> Array:
        """Return the queries (size, *shape)."""
        ...


class Answers:
    """Check answers to queries like `explicand` as they arrive.

    On an accelerator, several batches are checked together, since each check waits for it.
    """

    def __init__(self, explicand: Array, lazy: bool = True) -> None:
        self.explicand = explicand
        self.lazy = lazy and accelerated(explicand)
        self.width: int | None = None
        self.journaled = False
        self.unchecked: list[tuple[Array, int, QueriedRows]] = []

    def converted(self, answer: Any, start: int, queried: QueriedRows) -> Array:
        """Return the answer to the rows from query number `start` on as float64 (n, k), in the library of x.

        `check` then raises an error if it is not finite.
        """
        xp = namespace(self.explicand)
        count = queried.size
        array = validated(answer, count)
        self._check_width(1 if array.ndim == 1 else int(array.shape[1]), start)
        answers = xp.reshape(owned(like(array, self.explicand, xp.float64)), (count, self.width))
        self.unchecked.append((answers, start, queried))
        return answers

    def check(self) -> None:
        """Check the answers so far, unless they are on an accelerator and few."""
        if not self.lazy or len(self.unchecked) >= UNCHECKED:
            self.check_finite()

    def check_finite(self) -> None:
        """Raise AnswerError if an answer so far is not finite."""
        unchecked, self.unchecked = self.unchecked, []
        if not unchecked:
            return
        xp = namespace(self.explicand)
        if bool(xp.all(xp.abs(xp.concat([answers for answers, _, _ in unchecked], axis=0)) <= LARGEST)):
            return
        for answers, start, queried in unchecked:
            wrong = np.argwhere(~(np.abs(host(answers)) <= LARGEST))  # negated, so that NaN is wrong too
            if len(wrong):
                row, output = (int(i) for i in wrong[0])
                raise AnswerError(
                    f"Answers must be finite numbers of at most {LARGEST:g}; the model answered "
                    f"{float(answers[row, output])} for output {output} of query {start + row}.",
                    query=queried.make_queries()[row, ...],
                    code="answer-not-finite",
                    fix="Pass bounds=(lowest, highest) to keep queries in the valid range; the query is on this error "
                    "as `.query`.",
                )

    def expect_width(self, width: int) -> None:
        """Expect the width that answers in a journal have."""
        self.width = width if self.width is None else self.width
        self.journaled = True

    def _check_width(self, width: int, start: int) -> None:
        if self.width not in (None, width):
            place = "the answers in the journal have" if self.journaled else "earlier answers have"
            hint = " A journal is for one model: use another file for another model." if self.journaled else ""
            raise AnswerError(
                f"Every answer must have the same number of outputs; the answer from query {start} on has {width} and "
                f"{place} {self.width}.{hint}",
                code="answer-width-of-journal" if self.journaled else "answer-width-changed",
            )
        self.width = width


def validated(answer: Any, count: int, finite: bool = False) -> Array:
    """Return the answer to `count` queries as an array (n,) or (n, k) of real numbers.

    Raise AnswerError if it is none, or, where `finite` is set, if a number is not finite.
    """
    shapes = f"({count},) or ({count}, k), one row for each query"
    try:
        array = as_array("the model's answer", answer, AnswerError)
    except AnswerError as error:
        raise AnswerError(
            error.problem, code=error.code, fix=f"Wrap the model in a function that returns scores of shape {shapes}."
        ) from None
    shape = tuple(array.shape)
    if len(shape) not in (1, 2) or shape[0] != count or 0 in shape:
        raise AnswerError(f"The model's answer must have shape {shapes}; got {shape}.", code="answer-shape")
    if finite and not np.isfinite(host(array)).all():
        raise AnswerError(
            f"Answers must be finite numbers; the answer to {count} queries holds NaN or infinity.",
            code="answer-not-finite",
        )
    return array
