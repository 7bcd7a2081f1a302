"""What a model answered, checked: one row of finite real numbers for each query, of one width throughout."""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geex.arrays import Array, accelerated, host, is_real, like, namespace
from geex.errors import AnswerError

UNSETTLED = 32


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
        answers = xp.reshape(like(array, self.explicand, xp.float64), (count, self.width))
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
        finite = xp.isfinite(xp.concat([answers for answers, _ in unsettled], axis=0))
        if bool(xp.all(finite)):
            return
        for answers, start in unsettled:
            wrong = np.argwhere(~np.isfinite(host(answers)))
            if len(wrong):
                row, output = (int(i) for i in wrong[0])
                last = queries is not None and answers is unsettled[-1][0]
                raise AnswerError(
                    f"the model answered {float(answers[row, output])} for output {output} of query {start + row}; "
                    "wanted finite numbers. bounds=(lowest, highest) keeps queries inside the valid range; the query "
                    "is on this error as `.query`.",
                    query=queries[row, ...] if last and queries is not None else None,
                )

    def _array(self, answer: Any, count: int) -> Array:
        wanted = f"wanted real numbers of shape ({count},) or ({count}, k), one row for each query"
        try:
            array = answer if is_array_api_obj(answer) else np.asarray(answer)
        except ValueError as error:
            raise AnswerError(
                f"the model answered a {type(answer).__name__} that is no array ({error}); {wanted}."
            ) from None
        if not is_real(array):
            raise AnswerError(
                f"the model answered a {type(answer).__name__} of type {array.dtype}; {wanted}. "
                "Wrap the model in a function that returns its scores."
            )
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
