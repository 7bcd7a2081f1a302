"""The order in which features are removed: descending by value, ties by the lower index first.

    rank(e) = #{features before the feature of element e},  0 … p − 1

The elements of the first m features are those with rank(e) < m.
"""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geex._arrays.arrays import Shape, host, is_real, working
from geex._problem.features import Elements, Pixels, checked
from geex._protocols import Features
from geex._results.explanation import Explanation
from geex.errors import FeaturesError, InputError


def attributions(values: Any) -> np.ndarray:
    """Return the values of one output on the host, in float64 and without NaN."""
    if isinstance(values, Explanation):
        if not isinstance(values.target, int):
            raise InputError(
                f"`values` must be an explanation of one output; got one of the outputs {values.target}.",
                code="values-of-several-outputs",
                fix="Pass explanation.values[j] and target=explanation.target[j].",
            )
        values = values.values
    array = values if is_array_api_obj(values) else np.asarray(values)
    if not is_real(array):
        raise InputError(
            f"`values` must be real numbers, one for each feature; got the type {array.dtype}.", code="values-not-real"
        )
    # NumPy has no bfloat16: widen inside the other library first
    widened = array if isinstance(array, np.ndarray | np.generic) else host(working(array))
    result = np.asarray(widened, dtype=np.float64)
    if np.isnan(result).any():
        place = tuple(int(i) for i in np.argwhere(np.isnan(result))[0])
        raise InputError(f"`values` must not be NaN; got NaN at {place}.", code="values-nan")
    return result


def features_of(values: Any, given: Features | None, shape: Shape, found: Shape) -> Features:
    """Return the features of x, of `shape`, for `values` of shape `found`."""
    if given is None and isinstance(values, Explanation) and values.record is not None:
        given = values.record.task.features
    features = checked(_inferred(shape, found) if given is None else given, shape)
    expected = features.shape(shape)
    if found != expected:
        raise InputError(
            f"`values` must have one value for each feature, in the shape {expected} of {_described(features)}; "
            f"got the shape {found}.",
            code="values-shape",
            fix=_hint(shape, found, expected),
        )
    return features


def element_ranks(values: np.ndarray, features: Features, shape: Shape) -> np.ndarray:
    """Return the rank of each element's feature, in the shape of x."""
    order = np.argsort(-values.ravel(), kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[features.index(shape)])


def _inferred(shape: Shape, found: Shape) -> Features:
    """Return the features that follow from the shape of the values."""
    if found == shape:
        return Elements()
    axes = [axis for axis, rest in ((0, shape[1:]), (len(shape) - 1, shape[:-1])) if found and found == rest]
    if len(axes) == 1:
        return Pixels(channels=axes[0])
    if axes:
        raise FeaturesError(
            f"`features` must name the channel axis of x: for values of shape {found} and x of shape "
            f"{shape} it may be the first or the last.",
            code="channel-axis-unclear",
            fix=f"Pass features=geex.Pixels(channels=0) or features=geex.Pixels(channels={axes[1]}).",
        )
    raise InputError(
        f"`values` must have the shape {shape} of x, or the same without the channel axis (the first or the last); "
        f"got {found}.",
        code="values-shape",
        fix=_hint(shape, found) or "For groups of elements pass features=geex.Groups(map).",
    )


def _hint(shape: Shape, found: Shape, expected: Shape | None = None) -> str:
    """Return what is often meant by values of another shape, as a sentence."""
    single = [shape, shape[1:], shape[:-1]] if expected is None else [expected]
    if found == shape:
        return "For values of elements pass features.total(values[None])[0], reshaped."
    if found and found[1:] in single:
        return f"If the first axis holds {found[0]} outputs, pass values[j] and target=j."
    return ""


def _described(features: Features) -> str:
    names = features.names()
    return f"the features {features!r}" if names is None else f"the {len(names)} groups"
