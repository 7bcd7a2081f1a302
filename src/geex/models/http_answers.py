"""Checks of what a service answered: scores, the start of a body for a message, and when to retry."""

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from geex.models.redaction import SOURCE, excerpt
from geex.models.request_formats import Malformed

# Characters of a body that a message quotes.
BODY_EXCERPT = 300


def checked_scores(rows: Any, count: int) -> Any:
    """Return one entry for each row: an array of numbers, or the list as it is if it holds labels.

    Some rows of several may hold NaN or infinity: the engine keeps the others, and sends these again.
    """
    if not isinstance(rows, np.ndarray | list | tuple):
        raise Malformed(f"the scores are no list but a {type(rows).__name__}")
    if len(rows) != count:
        raise Malformed(f"it holds {len(rows)} rows instead of {count}")
    if isinstance(rows, list | tuple) and _holds_labels(rows):
        if not _is_finite(rows):
            raise Malformed("its scores hold NaN or infinity")
        return list(rows)
    answers = np.asarray(rows)
    if answers.dtype.kind not in "buif":
        answers = answers.astype(np.float64)
    finite = np.isfinite(answers).reshape(count, -1).all(axis=1)
    if not finite.any():
        raise Malformed("its scores hold NaN or infinity")
    return answers


def _holds_labels(value: Any) -> bool:
    """Return whether the value holds labels."""
    if isinstance(value, list | tuple | Mapping):
        return isinstance(value, Mapping) or any(map(_holds_labels, value))
    return isinstance(value, str)


def _is_finite(value: Any) -> bool:
    """Return whether all numbers in the value are finite."""
    if isinstance(value, list | tuple | Mapping):
        return all(map(_is_finite, value.values() if isinstance(value, Mapping) else value))
    return not isinstance(value, float) or math.isfinite(value)


def start_of(content: bytes) -> str:
    """Return the start of a body, for a message."""
    text = excerpt(content[:SOURCE].decode(errors="replace").strip(), BODY_EXCERPT)
    return f": {text}" if text else ", with no body."


def retry_after_seconds(after: str | None) -> float | None:
    """Return the seconds from now of a Retry-After header, which is a number or a date."""
    if after is None:
        return None
    try:
        seconds = float(after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(after).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
