"""What a model may declare besides being callable. Models come from outside, so these are looked up by attribute.

labels    names of the outputs          names     names of the features
shape     the shape of one row          limits    how the model may be called
"""

from typing import Any

from geex._query.limits import Limits


def labels_of(model: Any) -> tuple[Any, ...] | None:
    """Return the names of the outputs, or None."""
    return getattr(model, "labels", None)


def names_of(model: Any) -> tuple[str, ...] | None:
    """Return the names of the features, or None."""
    return getattr(model, "names", None)


def shape_of(model: Any) -> tuple[int, ...] | None:
    """Return the shape of one row, or None."""
    return getattr(model, "shape", None)


def limits_of(model: Any) -> Limits:
    """Return the limits that the model declares, or none."""
    return getattr(model, "limits", Limits())
