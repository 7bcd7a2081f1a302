"""A background: inputs whose values stand for the absence of features. Values are means over its rows.

v(S) = mean over rows b of f(x_S, b_S̄)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host, working
from geex._arrays.validation import whole
from geex._problem.declared import Unnamed, Value, declared
from geex._problem.table.rows import Row, frame_rows, is_frame
from geex.errors import BaselineError, InputError

# Columns that a message lists.
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Background:
    """Rows (rows, *shape of x); see `background`.

    names: those of the columns, None if they have none. table: the rows of a data frame, or rows with missing values.
    """

    rows: Array
    names: tuple[str, ...] | None = None
    table: tuple[Row, ...] = ()

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.table) or int(self.rows.shape[0])

    def ordered(self, names: "Sequence[Any] | None") -> "Background":
        """Return the same rows with their columns in the order of `names`. Raise BaselineError for other names."""
        if names is None or self.names is None:
            return self
        try:
            table = tuple(row.ordered("background", names) for row in self.table)
        except InputError:
            wanted, own = [str(name) for name in names], list(self.names)
            strange = sorted(set(own) ^ set(wanted))
            raise BaselineError(
                f"The background must have the columns of x, {len(wanted)}; it has {len(own)}, and "
                f"{', '.join(map(repr, strange[:SHOWN]))} in only one of the two.",
                code="background-columns",
            ) from None
        return replace(self, names=tuple(str(name) for name in names), table=table)

    def __repr__(self) -> str:
        return f"background of {self.count} rows"


def background(rows: Any, most: int = 100, seed: int = 0) -> Background:
    """Return a baseline: rows whose values stand for the absence of features.

    The explanation averages over the rows: an absent feature has its value in each of them. With `Shapley()`, the
    values are interventional Shapley values, as shap's explainers estimate them.

    Parameters
    ----------
    rows
        Inputs (n, *shape of x), or a data frame. Rows may have words, categories and missing values.
    most
        The most rows that are used. Of more, a random sample is.
    seed
        The seed of the sample.

    Returns
    -------
    Background
        For `geex.explain(baseline=…)`.

    Raises
    ------
    BaselineError
        `rows` is empty, or neither a data frame nor an array of finite numbers.
    InputError
        `most` or `seed` is not a whole number.

    Examples
    --------
    >>> import geex, numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> geex.background(rows)
    background of 100 rows
    >>> found = geex.explain(lambda z: z @ [1.0, 2.0, 3.0], np.ones(3), baseline=geex.background(rows), progress=False)
    >>> found.adds_up
    True
    """
    most, seed = whole("most", most, 1, BaselineError), whole("seed", seed, 0, BaselineError)
    if is_frame(rows):
        table = frame_rows(rows)
        if not table:
            raise BaselineError("`rows` must have one row or more; got an empty data frame.", code="background-shape")
        table = [table[place] for place in _sample(len(table), most, seed)]
        return Background(None, tuple(map(str, table[0].names)), tuple(table))
    array = working(as_array("rows", rows, BaselineError))
    if array.ndim < 2 or array.shape[0] == 0:
        raise BaselineError(
            f"`rows` must have the shape (n, *shape of x), n at least 1; got {tuple(array.shape)}.",
            code="background-shape",
        )
    numbers = host(array)
    missing = array.ndim == 2 and bool(np.isnan(numbers).any())
    if not np.all(np.isfinite(numbers) | (np.isnan(numbers) & missing)):
        raise BaselineError("`rows` must hold finite numbers; they hold NaN or infinity.", code="background-not-finite")
    array = array[_sample(int(array.shape[0]), most, seed), ...]
    if not missing:
        return Background(array)
    places = tuple(range(array.shape[1]))
    return Background(array, None, tuple(Row(places, tuple(row)) for row in host(array)))


def _sample(count: int, most: int, seed: int) -> np.ndarray:
    """Return the numbers of the rows that are used."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


@declared.register(Background)
def _(spec: Background) -> Value:
    return Unnamed(repr(spec), "background")
