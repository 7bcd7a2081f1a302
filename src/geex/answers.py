"""What a model answered, checked: one row of finite real numbers for each query, of one width throughout."""

from typing import Any

import numpy as np

from geex.arrays import Array, accelerated, as_array, host, like, namespace, owned
from geex.errors import AnswerError

UNSETTLED = 32
LARGEST = 1e100


class Answers:
    """Checks answers to queries like `explicand` as they come.

    On an accelerator, whether they are finite is looked up once in UNSETTLED batches and at the end: to look is to
    wait for it.
    """

    def __init__(self, explicand: Array) -> None:
        self.explicand = explicand
        self.width: int | None = None
        self.unsettled: list[tuple[Array, int]] = []

    def checked(self, answer: Any, start: int, queries: Array) -> Array:
        """The answer to `queries`, the first of which is number `start`, as float64 (n, k) beside the explicand."""
        xp = namespace(self.explicand)
        count = int(queries.shape[0])
        array = self._array(answer, count)
        self._same_width(1 if array.ndim == 1 else int(array.shape[1]), start)
        answers = xp.reshape(owned(like(array, self.explicand, xp.float64)), (count, self.width))
        self.unsettled.append((answers, start))
        if not accelerated(answers) or len(self.unsettled) >= UNSETTLED:
            self.settle(queries)
        return answers

    def settle(self, queries: Array | None = None) -> None:
        """Raises AnswerError if an answer so far is not finite. `queries` are those of the last batch."""
        unsettled, self.unsettled = self.unsettled, []
        if not unsettled:
            return
        xp = namespace(self.explicand)
        if bool(xp.all(xp.abs(xp.concat([answers for answers, _ in unsettled], axis=0)) <= LARGEST)):
            return
        for answers, start in unsettled:
            wrong = np.argwhere(~(np.abs(host(answers)) <= LARGEST))
            if len(wrong):
                row, output = (int(i) for i in wrong[0])
                last = queries is not None and answers is unsettled[-1][0]
                raise AnswerError(
                    f"the model answered {float(answers[row, output])} for output {output} of query {start + row}; "
                    f"wanted finite numbers up to {LARGEST:g}. bounds=(lowest, highest) keeps queries inside the valid "
                    "range; the query is on this error as `.query`.",
                    query=queries[row, ...] if last and queries is not None else None,
                )

    def _array(self, answer: Any, count: int) -> Array:
        wanted = f"wanted real numbers of shape ({count},) or ({count}, k), one row for each query"
        try:
            array = as_array("the model's answer", answer, AnswerError)
        except AnswerError as error:
            raise AnswerError(
                f"{error} In all, {wanted}: wrap the model in a function that returns its scores."
            ) from None
        shape = tuple(array.shape)
        if len(shape) not in (1, 2) or shape[0] != count or 0 in shape:
            raise AnswerError(f"the model answered an array of shape {shape} to {count} queries; {wanted}.")
        return array

    def _same_width(self, width: int, start: int) -> None:
        if self.width not in (None, width):
            raise AnswerError(
                f"the model answered {width} outputs for query {start} and after, and {self.width} before; "
                "wanted the same number in every answer."
            )
        self.width = width
