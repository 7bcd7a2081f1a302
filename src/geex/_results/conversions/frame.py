"""An explanation as a data frame."""

from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.arrays import host
from geex._problem.table.frames import pandas
from geex._results.conversions.parts import ends, feature_names, output_names
from geex._results.target_axis import with_axis

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


def _flat(explanation: "Explanation", array: Any) -> np.ndarray:
    """Return an array of features as (outputs, features)."""
    several = with_axis(host(array), explanation.target)
    return np.asarray(several, np.float64).reshape(several.shape[0], -1)
