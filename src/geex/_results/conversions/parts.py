"""What a conversion takes from an explanation: names, and what x and the baseline have for each feature."""

from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.arrays import host
from geex._results.target_axis import with_axis

if TYPE_CHECKING:
    from geex._results.explanation import Explanation


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
