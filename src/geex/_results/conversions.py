"""An explanation as a data frame, and as an explanation of shap."""

from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.arrays import host
from geex._arrays.scalars import scalar
from geex._problem.table.frames import pandas
from geex._results.target_axis import numbers, with_axis
from geex.errors import MissingPackage

if TYPE_CHECKING:
    from geex._results.explanation import Explanation


def as_frame(explanation: "Explanation", level: float) -> Any:
    """Return a data frame with a row for each feature, or for each output and feature."""
    low, high = explanation.interval(level)
    given = {"value": explanation.values, "stderr": explanation.stderr, "low": low, "high": high}
    fields = {name: _flat(explanation, array) for name, array in given.items()}
    outputs, count = fields["value"].shape
    names = feature_names(explanation)
    data, baseline = ends(explanation)
    repeated = {"feature": names * outputs}
    found = repeated | {name: array.ravel() for name, array in fields.items()}
    found |= {name: cells * outputs for name, cells in {"data": data, "baseline": baseline}.items() if cells}
    frame = pandas().DataFrame(found)
    if isinstance(explanation.target, list):
        frame.insert(0, "output", [name for name in output_names(explanation) for _ in range(count)])
    return frame


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


def feature_names(explanation: "Explanation") -> list[str]:
    """Return the names of the features, or their places."""
    if explanation.names is not None:
        return list(explanation.names)
    shape = tuple(with_axis(explanation.values, explanation.target).shape)[1:]
    places = np.ndindex(*shape)
    return [f"feature {','.join(map(str, place))}" for place in places]


def output_names(explanation: "Explanation") -> list[str]:
    """Return the labels of the explained outputs, or their numbers."""
    labels = explanation.labels
    return [str(target) if labels is None else labels[target] for target in explanation.targets]


def ends(explanation: "Explanation") -> tuple[list[Any], list[Any]]:
    """Return what x and the baseline have for each feature; [] where a feature is not one element of them."""
    if explanation.features is None or not explanation.features.elementwise:
        return [], []
    if explanation.cells is not None:
        return list(explanation.cells.values), list(explanation.cells.absent)
    arrays = (explanation.explicand, explanation.baseline)
    x, baseline = ([] if array is None else host(array).ravel().tolist() for array in arrays)
    return x, baseline


def _flat(explanation: "Explanation", array: Any) -> np.ndarray:
    """Return an array of features as (outputs, features)."""
    several = with_axis(host(array), explanation.target)
    return np.asarray(several, np.float64).reshape(several.shape[0], -1)


def _column(cells: list[Any]) -> np.ndarray:
    """Return cells as an array: of numbers where all are, else of objects."""
    if all(isinstance(scalar(cell), int | float) for cell in cells):
        return np.asarray(cells, np.float64)
    column = np.empty(len(cells), object)
    column[:] = cells
    return column
