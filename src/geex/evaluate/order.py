"""The order in which features go: descending by value, ties by the lower index first.

    rank(e) = #{features that go before the feature of element e},  0 … p − 1

so that the elements of the first m features are those with rank(e) < m.
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
    """One target's values on the host, in float64 and without NaN."""
    if isinstance(values, Explanation):
        if not isinstance(values.target, int):
            raise InputError(
                f"values is an explanation of outputs {values.target}; wanted one output. "
                "Pass explanation.values[j] and target=explanation.target[j]."
            )
        values = values.values
    array = values if is_array_api_obj(values) else np.asarray(values)
    if not is_real(array):
        raise InputError(f"values holds elements of type {array.dtype}; wanted real numbers, one for each feature.")
    # bfloat16 has no NumPy type: what is not NumPy's is widened before it leaves its library
    widened = array if isinstance(array, np.ndarray | np.generic) else host(working(array))
    result = np.asarray(widened, dtype=np.float64)
    if np.isnan(result).any():
        place = tuple(int(i) for i in np.argwhere(np.isnan(result))[0])
        raise InputError(f"values is NaN at {place}, which has no place in an order; wanted numbers.")
    return result


def features_of(values: Any, given: Features | None, shape: Shape, found: Shape) -> Features:
    """The features of x, of `shape`, that `values`, of shape `found`, belong to."""
    if given is None and isinstance(values, Explanation) and values.record is not None:
        given = values.record.task.features
    features = checked(_seen(shape, found) if given is None else given, shape)
    wanted = features.shape(shape)
    if found != wanted:
        raise InputError(
            f"values has shape {found} and {_named(features)} of x, of shape {shape}, have {wanted}; "
            f"wanted one value for each feature.{_hint(shape, found, wanted)}"
        )
    return features


def element_ranks(values: np.ndarray, features: Features, shape: Shape) -> np.ndarray:
    """The rank of every element's feature, of the shape of x."""
    order = np.argsort(-values.ravel(), kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[features.index(shape)])


def _seen(shape: Shape, found: Shape) -> Features:
    """The features that the shape of the values speaks of, where nobody named them."""
    if found == shape:
        return Elements()
    axes = [axis for axis, rest in ((0, shape[1:]), (len(shape) - 1, shape[:-1])) if found and found == rest]
    if len(axes) == 1:
        return Pixels(channels=axes[0])
    if axes:
        raise FeaturesError(
            f"values has shape {found} and x has {shape}: whether the first or the last axis holds the channels is not "
            f"clear. Say it with features=geex.Pixels(channels=0) or geex.Pixels(channels={axes[1]})."
        )
    raise InputError(
        f"values has shape {found} and x has {shape}; wanted the shape of x, or that without its channel axis "
        f"(the first or the last), or features=geex.Groups(map) to say what they belong to.{_hint(shape, found)}"
    )


def _hint(shape: Shape, found: Shape, wanted: Shape | None = None) -> str:
    single = [shape, shape[1:], shape[:-1]] if wanted is None else [wanted]
    if found == shape:
        return " Values of elements become values of features by features.total(values[None])[0], reshaped to that."
    if found and found[1:] in single:
        return f" If the first axis holds {found[0]} targets, pass values[j] and target=j."
    return ""


def _named(features: Features) -> str:
    names = features.names()
    return f"the features {features!r}" if names is None else f"the {len(names)} groups"
