"""The rows of a job: those that are pending, and the answers to the others."""

from itertools import pairwise
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace, owned
from geex._query.answers import LARGEST, validated


class Rows:
    """The rows of a job: those that are pending, and the answers to the others. left: how many are pending."""

    def __init__(self, queries: Array) -> None:
        self.queries = queries
        self.left = int(queries.shape[0])
        self.answered = np.zeros(self.left, bool)
        self.parts: list[tuple[int, int, Any]] = []
        self.sent = self.failed = 0

    def pending(self) -> np.ndarray:
        """Return the numbers of the rows without an answer."""
        return np.flatnonzero(~self.answered)

    def queries_of(self, rows: np.ndarray) -> Array:
        """Return a copy of the queries of some rows: a model may write into its batch, and rows may be sent again."""
        if rows[-1] - rows[0] + 1 == len(rows):
            return owned(self.queries[int(rows[0]) : int(rows[-1]) + 1, ...])
        xp = namespace(self.queries)
        return xp.take(self.queries, like(rows, self.queries, xp.int64), axis=0)

    def keep(self, rows: np.ndarray, answer: Any) -> None:
        """Keep the answer to rows. That to a whole job is kept as it is."""
        if len(rows) == len(self.answered):
            self.parts.append((0, len(rows), answer))
        else:
            array = owned(validated(answer, len(rows)))  # a copy: a model may use the memory of its answers again
            for first, stop in spans(rows):
                self.parts.append((int(rows[first]), stop - first, array[first:stop, ...]))
        self.answered[rows] = True
        self.left -= len(rows)

    def keep_some(self, rows: np.ndarray, array: Array, usable: np.ndarray) -> None:
        """Keep the usable answers (True) to rows."""
        places = np.flatnonzero(usable)
        for first, stop in spans(places):
            start, end = int(places[first]), int(places[stop - 1]) + 1
            self.keep(rows[start:end], array[start:end, ...])


def usable_rows(array: Array) -> np.ndarray:
    """Return which rows hold finite numbers only, none beyond the largest answer (n,)."""
    usable: np.ndarray = np.abs(host(array)) <= LARGEST  # False for NaN
    return usable if usable.ndim == 1 else np.asarray(usable.all(axis=1))


def spans(places: np.ndarray) -> list[tuple[int, int]]:
    """Return sorted places as spans of places that follow each other: (first, stop) within `places`."""
    if not len(places):
        return []
    if places[-1] - places[0] + 1 == len(places):
        return [(0, len(places))]
    cuts = [0, *(np.flatnonzero(np.diff(places) > 1) + 1).tolist(), len(places)]
    return list(pairwise(cuts))
