"""A scikit-learn estimator or pipeline as a model: probabilities, decisions, or predictions, with their names."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._query.limits import Limits
from geex.errors import AnswerError, InputError, MissingPackage
from geex.models.output_adapters import Indicator

OUTPUTS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True, eq=False)
class Sklearn:
    """An estimator and which of its methods is asked; see `sklearn`."""

    estimator: Any
    output: str
    limits: Limits = field(default=Limits(), repr=False)

    def __call__(self, queries: Array | list[Any]) -> np.ndarray:
        """Queries (n, p), or any list or frame of rows that the estimator takes, -> (n,) or (n, k)."""
        answer = getattr(self.estimator, self.output)(self._table(queries))
        if isinstance(answer, list):
            raise AnswerError(
                f"{self.output} answered {len(answer)} arrays, one for each target that the estimator predicts; wrap "
                "it in a function that returns one of them."
            )
        if self.output == "predict" and self.labels is not None:
            return Indicator(self.labels)(np.asarray(answer))
        return np.asarray(answer)

    @property
    def identity(self) -> str:
        """Another one for an estimator that was fitted otherwise, or another method of it."""
        return digest(self.estimator, self.output)

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The classes, in the order of the outputs; None for a regressor."""
        classes = getattr(self.estimator, "classes_", None)
        if classes is None or isinstance(classes, list):
            return None
        binary = self.output == "decision_function" and len(classes) == 2
        return tuple(np.asarray(classes).tolist()[1 if binary else 0 :])

    @property
    def names(self) -> tuple[str, ...] | None:
        """The columns that the estimator was fitted with, where they had names."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of a row, where the estimator knows it."""
        count = getattr(self.estimator, "n_features_in_", None)
        return None if count is None else (int(count),)

    def _table(self, queries: Any) -> Any:
        """The queries under the column names of the fit, by which a pipeline may pick its columns."""
        names = getattr(self.estimator, "feature_names_in_", None)
        if isinstance(queries, list) or hasattr(queries, "columns"):
            return queries
        rows = host(queries)
        if names is None or rows.ndim != 2 or rows.dtype.kind not in "buif":
            return rows
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingPackage(
                "the estimator was fitted with column names, and pandas gives them: pip install 'geex[sklearn]'"
            ) from None
        return DataFrame(rows, columns=names)


def sklearn(estimator: Any, output: str | None = None, *, limits: Limits | None = None) -> Sklearn:
    """A model out of a fitted scikit-learn estimator or pipeline, or whatever has its methods.

    output: "predict_proba", "decision_function" or "predict"; None: the first of these that it has. The "predict" of a
        classifier is 1 for the class it predicts and 0 for the others. `labels` are its classes, `names` its columns:
        an estimator that was fitted with a data frame is asked with data frames of the same columns.
    """
    have = [name for name in OUTPUTS if hasattr(estimator, name)]
    if isinstance(estimator, type) or not have:
        raise InputError(f"estimator is {estimator!r}; wanted a fitted estimator with {' or '.join(OUTPUTS)}.")
    if output is not None and output not in have:
        raise InputError(f"output is {output!r} and {type(estimator).__name__} has {', '.join(have)}.")
    return Sklearn(estimator, output or have[0], limits or Limits())
