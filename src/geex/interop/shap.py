"""geex as an explainer of shap: `explainer(X)` returns a shap.Explanation, which shap's plots draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.validation import whole
from geex._explain.explain import explain_batch
from geex._problem.background import background as rows_to_average
from geex._problem.foreign_model import Carried
from geex._problem.table.rows import is_frame
from geex._results.conversions.parts import feature_names
from geex._results.conversions.shap_explanation import shap_module
from geex._results.explanation import Explanation
from geex.errors import BudgetError, InputError
from geex.models.scikit_learn import as_model

__all__ = ["Explainer"]

# Queries of a row for each baseline, and at least for a row, by default.
QUERIES_OF_A_BASELINE = 20
QUERIES_OF_A_ROW = 1000


@dataclass(frozen=True, eq=False)
class Framed:
    """A function of data frames: it has the names of the columns, and receives data frames."""

    model: Any
    names: list[str]
    frames: bool = True

    def __call__(self, rows: Any) -> Any:
        return self.model(rows)

    @property
    def labels(self) -> Any:
        """The labels of the model inside."""
        return Carried(self.model).labels


class Explainer:
    """Explain rows as `shap.Explainer(model, background)` does, with standard errors and without repeated queries.

    Parameters
    ----------
    model : callable or estimator
        A callable from rows to (n,) or (n, k), or a fitted estimator. If `background` is a data frame, a callable
        receives data frames.
    background : array or data frame
        The rows (m, p) that stand for absent features: values are means over them. The model is queried for each of
        them, so use few: shap.sample(X, 50).
    queries : int, optional
        The most rows that the model receives for each explained row. By default 1000, or 20 for each background row if
        that is more.
    output_names, feature_names : sequence of str, optional
        Names, one for each output and each column. By default those of the model and of the data frame.
    seed : int
        The seed of all random numbers.
    settings
        Further arguments of `geex.explain`, such as `method`, `score`, `features` or `journal`.

    Raises
    ------
    BaselineError
        `background` has no rows.

    Notes
    -----
    Values of `geex.Shapley()`, the default method, are interventional Shapley values, as shap's PermutationExplainer
    and KernelExplainer estimate them. `error_std`, `lower_bounds` and `upper_bounds` are filled in. If the model has
    several outputs, all are explained, as shap does.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> rows = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> explainer = geex.interop.shap.Explainer(lambda z: z @ [1.0, 3.0], rows)
    >>> explainer.explanations(np.array([[2.0, 1.0]]))[0].values.round(6)
    array([[1., 0.]])
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        queries: int | None = None,
        output_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        model = as_model(model)
        if is_frame(background) and not Carried(model).frames:
            model = Framed(model, list(background.columns))
        self.model, self.background = model, rows_to_average(background, most=max(1, len(background)))
        self.queries = None if queries is None else whole("queries", queries, 1, BudgetError)
        self.output_names, self.feature_names = output_names, feature_names
        self.settings = {"progress": False, "target": "all", "labels": output_names, "seed": seed} | settings

    def __call__(
        self, X: Any, *, max_evals: int | str = "auto", outputs: Any = None, silent: bool = True, **unused: Any
    ) -> Any:
        """Return the shap.Explanation of rows.

        Parameters
        ----------
        X : array or data frame
            The rows (n, p).
        max_evals : int or "auto"
            The most evaluations of a row, each for all rows of the background, as shap counts them. "auto": `queries`.
        outputs : int, str or list, optional
            The outputs to explain, as the `target` of `geex.explain`. By default all.
        silent : bool
            Whether to show no progress bar.
        unused
            Arguments of shap's explainers that do not apply, such as batch_size.

        Returns
        -------
        shap.Explanation
            Values (n, p), or (n, p, outputs) if several outputs are explained.
        """
        shap = shap_module()
        found = self.explanations(X, max_evals=max_evals, outputs=outputs, silent=silent)
        parts = [one.to_shap() for one in found]
        stacked = {
            name: np.stack([getattr(part, name) for part in parts])
            for name in ("values", "lower_bounds", "upper_bounds", "error_std")
        }
        base = np.stack([part.base_values for part in parts])
        names = None if parts[0].output_names is None else list(parts[0].output_names)
        if isinstance(found[0].target, list) and len(found[0].target) == 1:
            stacked, base, names = {name: array[..., 0] for name, array in stacked.items()}, base[:, 0], None
        return shap.Explanation(
            base_values=base,
            data=X.to_numpy() if is_frame(X) else np.asarray(X),
            feature_names=list(self.feature_names or feature_names(found[0])),
            output_names=names,
            compute_time=sum(one.seconds or 0.0 for one in found),
            **stacked,
        )

    def explanations(
        self, X: Any, *, max_evals: int | str = "auto", outputs: Any = None, silent: bool = True
    ) -> list[Explanation]:
        """Return geex's explanations of rows, with all that shap has no place for.

        Parameters
        ----------
        X, max_evals, outputs, silent
            As when the explainer is called.

        Returns
        -------
        list of Explanation
            One for each row.
        """
        if not isinstance(max_evals, int) and max_evals != "auto":
            raise InputError(
                f"`max_evals` must be a whole number or 'auto'; got {max_evals!r}.", code="max-evals-unknown"
            )
        count = self.background.count
        queries = self.queries or max(QUERIES_OF_A_ROW, QUERIES_OF_A_BASELINE * count)
        if isinstance(max_evals, int):
            queries = max_evals * count
        changed = {} if outputs is None else {"target": outputs}
        settings: dict[str, Any] = self.settings | changed | {"queries": queries, "progress": not silent}
        return explain_batch(self.model, X, baseline=self.background, **settings)
