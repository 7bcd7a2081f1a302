"""An explanation as an explanation of shap."""

from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.arrays import host
from geex._arrays.scalars import scalar
from geex._results.conversions.parts import ends, feature_names, output_names
from geex._results.target_axis import numbers
from geex.errors import MissingPackage

if TYPE_CHECKING:
    from geex._results.explanation import Explanation


def as_shap(explanation: "Explanation", level: float) -> Any:
    """Return a shap.Explanation of one input: values (*features) or (*features, outputs)."""
    shap = shap_module()
    low, high = explanation.interval(level)
    several = isinstance(explanation.target, list)
    fields = {"values": explanation.values, "lower_bounds": low, "upper_bounds": high, "error_std": explanation.stderr}
    arrays = {name: np.asarray(host(array), np.float64) for name, array in fields.items()}
    if several:  # shap has outputs last
        arrays = {name: np.moveaxis(array, 0, -1) for name, array in arrays.items()}
    base = numbers(explanation.base_value)
    data = ends(explanation)[0]
    shape = explanation.values.shape[1:] if several else explanation.values.shape
    return shap.Explanation(
        base_values=base if several else float(base[0]),
        data=_column(data).reshape(tuple(shape)) if data else None,
        feature_names=feature_names(explanation),
        output_names=output_names(explanation) if several else None,
        compute_time=explanation.seconds,
        **arrays,
    )


def shap_module() -> Any:
    """Return the module. Raise MissingPackage if it is not installed."""
    try:
        import shap
    except ImportError:
        raise MissingPackage("This needs shap. Run `pip install shap`.", code="shap-missing") from None
    return shap


def _column(cells: list[Any]) -> np.ndarray:
    """Return cells as an array: of numbers where all are, else of objects."""
    if all(isinstance(scalar(cell), int | float) for cell in cells):
        return np.asarray(cells, np.float64)
    column = np.empty(len(cells), object)
    column[:] = cells
    return column
