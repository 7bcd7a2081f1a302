"""An estimator or pipeline as a model: probabilities, decisions or predictions, with their names.

Estimators are those of scikit-learn, and of LightGBM, CatBoost and XGBoost, which have the same methods.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._problem.foreign_model import Carried
from geex._problem.table.frames import is_category, pandas
from geex._query.limits import Limits
from geex.errors import AnswerError, InputError
from geex.models.output_conversions import Indicator

# Methods of an estimator that give scores, in order of preference.
ESTIMATOR_OUTPUTS = ("predict_proba", "decision_function", "predict")
# Attributes that hold the names of the columns of the fit; the second is CatBoost's.
NAME_ATTRIBUTES = ("feature_names_in_", "feature_names_")
# Names that LightGBM and CatBoost give to the columns of an array.
NUMBERED_NAME = re.compile(r"(Column_)?\d+")


@dataclass(frozen=True, eq=False)
class Sklearn:
    """An estimator with a choice of its method; see `sklearn`."""

    estimator: Any
    output: str
    limits: Limits = field(default=Limits(), repr=False)

    def __call__(self, queries: Array | list[Any]) -> np.ndarray:
        """Return scores (n,) or (n, k) for queries (n, p), or for any list or data frame that the estimator accepts."""
        answer = getattr(self.estimator, self.output)(self._table(queries))
        if isinstance(answer, list):
            raise AnswerError(
                f"`{self.output}` must return one array; got {len(answer)}, one for each target of the estimator.",
                code="several-targets",
                fix="Wrap it in a function that returns one of them.",
            )
        if self.output == "predict" and self.labels is not None:
            return Indicator(self.labels)(np.asarray(answer))
        return np.asarray(answer)

    @property
    def identity(self) -> str:
        """A text that changes with the fit and with the method."""
        return digest(self.estimator, self.output)

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The classes in the order of the outputs, or None for a regressor."""
        classes = getattr(self.estimator, "classes_", None)
        if classes is None or isinstance(classes, list):
            return None
        binary = self.output == "decision_function" and len(classes) == 2
        return tuple(np.asarray(classes).tolist()[1 if binary else 0 :])

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns of the fit, or None."""
        for attribute in NAME_ATTRIBUTES:
            names = getattr(self.estimator, attribute, None)
            if names is not None and not all(NUMBERED_NAME.fullmatch(str(name)) for name in names):
                return tuple(map(str, names))
        return None

    @property
    def frames(self) -> bool:
        """Whether it was fitted with a data frame, and takes data frames."""
        return self.names is not None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of one row, or None."""
        count = getattr(self.estimator, "n_features_in_", None)
        return None if count is None else (int(count),)

    def _table(self, queries: Any) -> Any:
        """Return the queries under the column names of the fit: a pipeline may select columns by name."""
        if isinstance(queries, list):
            return queries
        if hasattr(queries, "columns"):
            return self._typed(queries)
        rows = host(queries)
        if self.names is None or rows.ndim != 2 or rows.dtype.kind not in "buif":
            return rows
        return self._typed(pandas().DataFrame(rows, columns=self.names))

    def _typed(self, frame: Any) -> Any:
        """Return a data frame with the categorical columns that the estimator was fitted with.

        LightGBM keeps the categories of the fit, and reads each cell by them. Other estimators need a column in the
        type of the fit.
        """
        places = [place for place in self._categorical() if place < len(frame.columns)]
        plain = [place for place in places if not is_category(frame.dtypes.iloc[place])]
        if not plain:
            return frame
        if not hasattr(self.estimator, "booster_"):
            raise InputError(
                f"Column {str(frame.columns[plain[0]])!r} was categorical when {type(self.estimator).__name__} was "
                "fitted, and its type is not known here.",
                code="column-not-categorical",
                fix="Pass x as a data frame of one row, frame.iloc[[0]], which keeps the types of its columns.",
            )
        return frame.astype({frame.columns[place]: "category" for place in plain})

    def _categorical(self) -> list[int]:
        """Return the numbers of the columns that must be categorical."""
        booster = getattr(self.estimator, "booster_", None)
        if booster is not None:  # LightGBM
            kept, places = booster.pandas_categorical or [], booster.params.get("categorical_column", [])
            return list(places) if isinstance(places, list) and len(kept) == len(places) else []
        if not hasattr(self.estimator, "get_booster"):
            return []
        return [place for place, kind in enumerate(self.estimator.get_booster().feature_types or []) if kind == "c"]


def sklearn(estimator: Any, output: str | None = None, *, limits: Limits | None = None) -> Sklearn:
    """Make a model out of a fitted scikit-learn estimator or pipeline, or any object with the same methods.

    `geex.explain(estimator, x)` does this by itself. Call it to choose the output.

    Parameters
    ----------
    estimator : object
        A fitted estimator.
    output : {"predict_proba", "decision_function", "predict"}, optional
        The method to call. By default the first of these that the estimator has. "predict" of a classifier returns 1
        for the class that it predicts and 0 for the others.
    limits : Limits, optional
        How the model may be called. By default one call at a time.

    Returns
    -------
    Sklearn
        A callable from queries (n, p) to scores (n,) or (n, k). Its `labels` are the classes and its `names` the
        columns. An estimator that was fitted with a data frame is called with data frames of the same columns.

    Raises
    ------
    InputError
        If `estimator` has none of the methods, or not the one that `output` names.
    AnswerError
        When called, if the estimator returns one array for each of several targets.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> import geex
    >>> model = geex.models.sklearn(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> model.labels
    ('no', 'yes')
    >>> model(np.array([[0.5]])).round(3)
    array([[0.5, 0.5]])
    """
    have = [name for name in ESTIMATOR_OUTPUTS if hasattr(estimator, name)]
    if isinstance(estimator, type) or not have:
        got = f"the class {estimator.__name__}" if isinstance(estimator, type) else f"a {type(estimator).__name__}"
        raise InputError(
            f"`estimator` must be a fitted estimator with {' or '.join(ESTIMATOR_OUTPUTS)}; got {got}.",
            code="estimator-without-scores",
        )
    if output is not None and output not in have:
        raise InputError(
            f"`output` must be a method of {type(estimator).__name__}, {' or '.join(have)}; got {output!r}.",
            code="output-unknown",
        )
    return Sklearn(estimator, output or have[0], limits or Limits())


def as_model(model: Any) -> Any:
    """Return an estimator as a model, and anything else as it is."""
    return sklearn(model) if not callable(model) and Carried(model).estimator else model
