"""Whether the parts of a loaded explanation fit together: a file may be damaged, or made by a stranger."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from geex._problem.estimand import Estimand
from geex._problem.features import checked
from geex._problem.table.cells import Cells
from geex._results.settings import Settings
from geex._stored_types import matches

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

# The types of facts.
LOADED_TYPES: dict[str, Any] = {
    "target": int | list[int],
    "queries": int,
    "freedom": float,
    "estimand": Estimand,
    "settings": Settings,
    "labels": list[str] | None,
    "names": list[str] | None,
    "seconds": float | None,
    "partial": bool,
    "ended": str,
    "sent": int | None,
    "failed": int,
    "end_queries": tuple[int, ...],
    "cells": Cells | None,
}


class Inconsistent(ValueError):
    """Parts of a file that do not fit together; the message names them."""


def check_loaded(found: "Explanation") -> None:
    """Raise Inconsistent, or an error of the features, unless the parts fit together."""
    for name, kind in LOADED_TYPES.items():
        _require(matches(getattr(found, name), kind), name)
    _require(bool(found.targets) and min(found.targets) >= 0, "target")
    _require(found.queries > 0 and found.freedom > 0, "queries or freedom")
    _require(found.seconds is None or 0 <= found.seconds < np.inf, "seconds")
    for check in CHECKS:
        check(found)


def _check_values(found: "Explanation") -> None:
    _require(_finite(found.values) and found.values.size > 0, "values")
    _require(isinstance(found.target, int) or found.values.shape[:1] == (len(found.target),), "values")
    _require(found.values.shape == found.stderr.shape, "stderr")
    errors = found.noise_stderr
    _require(errors is None or (_finite(errors) and errors.shape == found.values.shape), "noise_stderr")
    _require(found.centre is None or (_finite(found.centre) and found.centre.shape == found.values.shape), "centre")


def _check_numbers(found: "Explanation") -> None:
    shape = () if isinstance(found.target, int) else (len(found.target),)
    for name in ("base_value", "output", "gap", "gap_stderr", "noise", "reach"):
        value = getattr(found, name)
        _require(value is None or np.shape(value) == shape, name)
    _require(_finite(found.output) and _finite(found.base_value), "output or base_value")


def _check_inputs(found: "Explanation") -> None:
    for name in ("explicand", "baseline"):
        array = getattr(found, name)
        _require(array is None or (_finite(array) and array.size > 0), name)
    if found.explicand is None:
        return
    shape = found.explicand.shape
    _require(found.baseline is None or found.baseline.shape == shape, "baseline")
    if found.features is not None:
        checked(found.features, shape)
        _require(tuple(found.features.shape(shape)) == found._shape, "features")


def _check_names(found: "Explanation") -> None:
    _require(found.names is None or len(found.names) == int(np.prod(found._shape)), "names")
    cells = found.cells
    _require(cells is None or len(cells.names) == len(cells.values), "cells")
    _require(found.labels is None or len(found.labels) > max(found.targets), "labels")


# Checks of the parts, in their order.
CHECKS: tuple[Callable[["Explanation"], None], ...] = (_check_values, _check_numbers, _check_inputs, _check_names)


def _finite(array: Any) -> bool:
    """Return whether an array has real numbers alone."""
    made = np.asarray(array)
    return made.dtype.kind in "biuf" and bool(np.isfinite(made).all())


def _require(condition: bool, name: str) -> None:
    if not condition:
        raise Inconsistent(f"its {name} cannot be used")
