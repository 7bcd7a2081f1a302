"""Single numbers and texts of array libraries, as Python's."""

from typing import Any


def scalar(value: Any) -> Any:
    """Return an array without axes as its entry; anything else as it is."""
    return value.item() if getattr(value, "ndim", 1) == 0 and hasattr(value, "item") else value


def entry(value: Any) -> Any:
    """Return an array of one entry as its entry; anything that is no array as it is."""
    return value.item() if hasattr(value, "item") else value


def has_entries(value: Any) -> bool:
    """Return whether a value is no array, or one with an axis."""
    return bool(getattr(value, "ndim", 1) > 0)
