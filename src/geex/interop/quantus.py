"""geex as an explanation function of quantus, whose metrics evaluate it.

metric(model=model, x_batch=x, y_batch=y, explain_func=geex.interop.quantus.explain_func, explain_func_kwargs={…})
"""

from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._explain.explain import explain
from geex._problem.foreign_model import Carried
from geex._problem.table.frames import NUMBERS
from geex.errors import InputError
from geex.models.pytorch import torch
from geex.models.scikit_learn import as_model

__all__ = ["explain_func"]


def explain_func(model: Any, inputs: Any, targets: Any, **settings: Any) -> np.ndarray:
    """Return attributions of a batch, as the metrics of quantus call it.

    Parameters
    ----------
    model : callable, PyTorch module or estimator
        The model. A module is queried in evaluation mode, without gradients.
    inputs : array (n, *shape)
        The inputs.
    targets : array (n,)
        The output to explain for each input.
    settings
        Arguments of `geex.explain`, such as `baseline`, `method`, `queries` or `features`. Others, which quantus passes
        on, such as `device`, are not used.

    Returns
    -------
    ndarray (n, *shape)
        The values. The channels of a pixel share its value.

    Raises
    ------
    InputError
        There is not one target for each input, or `features` are groups, which have no place in x.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> two = lambda z: np.stack([z @ [1.0, 2.0], z @ [3.0, 1.0]], axis=1)
    >>> geex.interop.quantus.explain_func(two, np.ones((2, 2)), [0, 1])
    array([[1., 2.],
           [3., 1.]])
    """
    model = torch(model) if Carried(model).module else as_model(model)
    rows, chosen = np.asarray(host(inputs)), np.asarray(host(targets)).ravel()
    if len(rows) != len(chosen) or chosen.dtype.kind not in NUMBERS:
        raise InputError(
            f"`targets` must be one output for each of the {len(rows)} inputs; got {len(chosen)}.",
            code="targets-count",
        )
    given = {name: value for name, value in settings.items() if name in ARGUMENTS}
    pairs = zip(rows, chosen, strict=True)
    return np.stack([_attribution(model, x, int(target), given) for x, target in pairs])


# The settings of `geex.explain` that are passed on.
ARGUMENTS = (
    *("baseline", "score", "method", "queries", "features", "bounds", "seed", "batch", "journal", "run", "limits"),
    "stop",
)


def _attribution(model: Any, x: np.ndarray, target: int, settings: dict[str, Any]) -> np.ndarray:
    """Return the values of one input in its shape."""
    found = explain(model, x, target=target, progress=False, **settings)
    values = np.asarray(host(found.values), np.float64)
    features = found.features
    if features is None or values.shape == x.shape:
        return values
    axis = features.merged_axis(x.shape)
    if axis is None:
        raise InputError(
            "`features` must have a place in x for each value; groups have none.",
            code="features-without-places",
            fix="Use geex.Elements() or geex.Pixels(channels=…).",
        )
    return np.broadcast_to(np.expand_dims(values, axis), x.shape)
