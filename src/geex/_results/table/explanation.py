"""The explanations of the rows of a table, as arrays over rows and columns."""

import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from geex._arrays.validation import file_path, is_whole, shown, whole
from geex._problem.estimand import Estimand
from geex._protocols import Features
from geex._results.explanation import Explanation
from geex._results.settings import Settings
from geex._results.table.csv_file import write_csv
from geex._results.table.importance import Importance, importance, pandas
from geex._results.table.parquet_file import read_parquet, write_parquet
from geex._results.table.summary import described, html
from geex.errors import FileError, InputError

# What `to_frame` may return for each feature.
FRAME_KINDS = ("values", "stderr", "centre", "low", "high")


@dataclass(frozen=True)
class FailedRow:
    """A row of a table that has no explanation.

    Attributes
    ----------
    number : int
        Its place in the table, from 0.
    label : object
        Its label in the index.
    message : str
        The error of the model.
    """

    number: int
    label: Hashable
    message: str


@dataclass(frozen=True, eq=False)
class TableExplanation:
    """Values of the features of every row of a table, with standard errors. Arrays are NumPy's.

    `explain_table` makes it. `print(found)` shows a summary. `found[0]` and `found.row(label)` are explanations of one
    row. `found.importance()` has the columns that matter over all rows.

    Attributes
    ----------
    index : list
        The label of each row.
    index_names : list
        The names of the levels of the index; None where one has no name.
    columns : list of str
        The names of the features.
    values, stderr, centre : array, (rows, columns)
        A value for each feature of each row, its standard error, and the centre of its interval, as in `Explanation`.
    output, base_value : array, (rows,)
        f(x) and f(x̊).
    gap, gap_stderr : array, (rows,)
        f(x) − f(x̊) − Σ values, and the standard error of Σ values.
    target : array, (rows,)
        The explained output of each row.
    queries : array, (rows,)
        The queries of each row. Those of the baselines are not among them.
    freedom : array, (rows,)
        Degrees of freedom of the standard errors.
    noise : array, (rows,)
        As in `Explanation`; NaN where x was queried once.
    numbers : array, (rows,)
        The place of each row in the table that was passed.
    data : array, (rows, inputs)
        The rows, with the columns `inputs`.
    inputs : list of str
        The columns of `data`.
    failed : list of FailedRow
        Rows that have no explanation, because the model failed on them.
    partial : bool
        Whether the run ended before all rows were done.
    estimand, settings, features, labels
        As in `Explanation`.
    seconds : float or None
        The duration of the run.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> rows = np.array([[1.0, 1.0], [2.0, 0.5], [0.0, 0.0]])
    >>> found = geex.explain_table(lambda z: z @ [1.0, 2.0], rows, progress=False)
    >>> found.values.tolist()
    [[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]]
    >>> found.importance().columns
    ['feature 0', 'feature 1']
    """

    index: list[Hashable]
    index_names: list[str | None]
    columns: list[str]
    values: np.ndarray
    stderr: np.ndarray
    centre: np.ndarray
    output: np.ndarray
    base_value: np.ndarray
    gap: np.ndarray
    gap_stderr: np.ndarray
    target: np.ndarray
    queries: np.ndarray
    freedom: np.ndarray
    noise: np.ndarray
    numbers: np.ndarray
    data: np.ndarray
    inputs: list[str]
    estimand: Estimand
    settings: Settings
    features: Features | None = field(default=None, repr=False)
    labels: list[str] | None = None
    failed: list[FailedRow] = field(default_factory=list)
    partial: bool = False
    seconds: float | None = None

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Explanation]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int) -> Explanation:
        """Return the explanation of a row by its place in the result, without a record."""
        if not is_whole(place) or not -len(self) <= place < len(self):
            raise IndexError(f"the place of a row must be a whole number from 0 to {len(self) - 1}; got {place!r}")
        place = int(place) % len(self)
        target, noise = int(self.target[place]), float(self.noise[place])
        return Explanation(
            values=self.values[place],
            stderr=self.stderr[place],
            base_value=float(self.base_value[place]),
            output=float(self.output[place]),
            gap=float(self.gap[place]),
            gap_stderr=float(self.gap_stderr[place]),
            target=target,
            queries=int(self.queries[place]),
            freedom=float(self.freedom[place]),
            estimand=self.estimand,
            settings=self.settings,
            explicand=self.data[place],
            features=self.features,
            labels=self.labels,
            names=self.columns,
            noise=None if np.isnan(noise) else noise,
            centre=self.centre[place],
        )

    def row(self, label: Any) -> Explanation:
        """Return the explanation of the row with this label in the index; of labels that repeat, the first.

        Raises
        ------
        InputError
            No row has the label, or the row failed.
        """
        if label in self.index:
            return self[self.index.index(label)]
        for one in self.failed:
            if one.label == label:
                raise InputError(f"The model failed on row {label!r}: {one.message}", code="row-failed")
        raise InputError(f"`label` must be in the index; got {shown(label)}.", code="row-unknown")

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (rows, columns) of an interval for each value, as `Explanation.interval` does."""
        ends = [self[place].interval(level) for place in range(len(self))]
        return np.stack([low for low, _ in ends]), np.stack([high for _, high in ends])

    def importance(self, level: float = 0.95) -> Importance:
        """Return the mean of |value| over the rows for each column, the largest first, with intervals.

        The errors of values make |estimates| larger than |values|. This is taken out, by the standard errors of the
        values and their spread over rows. Intervals are for the population that the rows are a sample of. If the
        explained output differs from row to row, its columns are averaged all the same.

        Parameters
        ----------
        level
            The level of the intervals, a probability.
        """
        return importance(self.columns, self.values, self.centre, self.stderr, level)

    def top(self, count: int, level: float = 0.95) -> Importance:
        """Return the `count` most important columns; see `importance`."""
        return self.importance(level).top(whole("count", count, 1, InputError))

    def to_frame(self, kind: str = "values") -> Any:
        """Return a pandas data frame with the index and the columns of the table.

        Parameters
        ----------
        kind
            "values", "stderr", "centre" (of the intervals), "low" or "high" (the ends of 95% intervals).
        """
        if kind not in FRAME_KINDS:
            raise InputError(
                f"`kind` must be one of {', '.join(map(repr, FRAME_KINDS))}; got {shown(kind)}.", code="kind-unknown"
            )
        ends = dict(zip(("low", "high"), self.interval(), strict=True)) if kind in ("low", "high") else {}
        array = ends[kind] if kind in ends else getattr(self, kind)
        module = pandas()
        if len(self.index_names) > 1:
            index = module.MultiIndex.from_tuples(self.index, names=self.index_names)
        else:
            index = module.Index(self.index, name=self.index_names[0])
        return module.DataFrame(array.copy(), index=index, columns=self.columns)

    def to_parquet(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to a Parquet file, which `read_parquet` opens.

        The columns are `index`, then `values.NAME`, `stderr.NAME`, `centre.NAME` and `x.NAME` for each column, then
        `output`, `target` and so on. Settings are in the metadata of the schema.
        """
        return write_parquet(self, Path(file_path("path", path, FileError)))

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the columns of `to_parquet` to a CSV file, without settings and failed rows."""
        return write_csv(self, Path(file_path("path", path, FileError)))

    @classmethod
    def read_parquet(cls, path: str | os.PathLike[str]) -> "TableExplanation":
        """Return what `to_parquet` wrote.

        Raises
        ------
        FileError
            The file was not written by `to_parquet`, or by a later version.
        """
        fields, failed = read_parquet(Path(file_path("path", path, FileError)))
        return cls(**fields, failed=[FailedRow(*one) for one in failed])

    def __repr__(self) -> str:
        return described(self)

    def _repr_html_(self) -> str:
        return html(self)
