"""A background: inputs whose values stand for the absence of features. Values are means over its rows.

v(S) = mean over rows b of f(x_S, b_S̄)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, as_array, host, working
from geex._arrays.validation import whole
from geex._problem.declared import Unnamed, Value, declared
from geex._problem.named_rows import is_table
from geex.errors import BaselineError

# Columns that a message lists.
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Background:
    """Rows (rows, *shape of x); see `background`. names: those of the columns, None if they have none."""

    rows: Array
    names: tuple[str, ...] | None = None

    def ordered(self, names: "Sequence[Any] | None") -> "Background":
        """Return the same rows with their columns in the order of `names`. Raise BaselineError for other names."""
        if names is None or self.names is None or list(self.names) == [str(name) for name in names]:
            return self
        wanted = [str(name) for name in names]
        if sorted(wanted) != sorted(self.names):
            strange = sorted(set(self.names) ^ set(wanted))
            raise BaselineError(
                f"The background must have the columns of x, {len(wanted)}; it has {len(self.names)}, and "
                f"{', '.join(map(repr, strange[:SHOWN]))} in only one of the two.",
                code="background-columns",
            )
        return Background(self.rows[:, [self.names.index(name) for name in wanted]], tuple(wanted))

    def __repr__(self) -> str:
        return f"background of {self.rows.shape[0]} rows"


def background(rows: Any, most: int = 100, seed: int = 0) -> Background:
    """Return a baseline: rows whose values stand for the absence of features.

    The explanation averages over the rows: an absent feature has its value in each of them. With `Shapley()`, the
    values are interventional Shapley values, as shap's explainers estimate them.

    Parameters
    ----------
    rows
        Inputs (n, *shape of x), or a data frame.
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
        `rows` is empty, or not an array of finite numbers.
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
    names = tuple(map(str, rows.columns)) if is_table(rows) else None
    array = working(as_array("rows", rows.to_numpy() if is_table(rows) else rows, BaselineError))
    if array.ndim < 2 or array.shape[0] == 0:
        raise BaselineError(
            f"`rows` must have the shape (n, *shape of x), n at least 1; got {tuple(array.shape)}.",
            code="background-shape",
        )
    if not np.all(np.isfinite(host(array))):
        raise BaselineError("`rows` must hold finite numbers; they hold NaN or infinity.", code="background-not-finite")
    if array.shape[0] > most:
        chosen = np.sort(np.random.default_rng(seed).choice(array.shape[0], most, replace=False))
        array = array[chosen, ...]
    return Background(array, names)


@declared.register(Background)
def _(spec: Background) -> Value:
    return Unnamed(repr(spec), "background")
