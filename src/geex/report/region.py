"""The largest region of a picture that stands out, and its outline.

A region is made of neighbouring features whose intervals exclude 0 on the same side. Among several the one with the
largest |Σ values| is taken. In a list of features every feature is a region of its own.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import label

from geex._arrays.arrays import host, like
from geex._results.explanation import Explanation
from geex._results.target_axis import with_axis
from geex.errors import MethodError
from geex.plot.view import Output, Scene, channel_axis

TOUCHING = np.ones((3, 3))  # pixels that share a corner are neighbours
# The confidence level of regions and of what is grey.
REGION_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Found:
    """A region: which features (p,), their sum and its interval. joint: whether the interval is that of the sum; else
    it is the widest that it can be."""

    features: np.ndarray
    value: float
    low: float
    high: float
    joint: bool


def largest(explanation: Explanation, seen: Scene) -> list[Found | None]:
    """Return the largest region of every output, None where nothing stands out."""
    reach = seen.reach(REGION_LEVEL)
    masks = [_largest(seen, output, output.sure(reach)) for output in seen.outputs]
    known = [number for number, mask in enumerate(masks) if mask is not None]
    found: list[Found | None] = [None] * len(masks)
    if not known:
        return found
    rows = np.stack([mask for mask in masks if mask is not None]).astype(float)
    sums = _joint(explanation, rows, [seen.outputs[number].target for number in known])
    for place, number in enumerate(known):
        output, features = seen.outputs[number], rows[place] > 0
        if sums is None:
            value, centre, error = (float(a[features].sum()) for a in (output.values, output.centre, output.stderr))
        else:
            value, centre, error = (float(array[place, place]) for array in sums)
        found[number] = Found(features, value, centre - reach * error, centre + reach * error, sums is not None)
    return found


def outline(seen: Scene, found: Found | None) -> str:
    """Return the border of a region as the path of a drawing whose units are pixels; "" where there is none."""
    if seen.index is None or found is None:
        return ""
    inside = np.pad(seen.spread(found.features), 1)
    across, along = inside[1:, 1:-1] != inside[:-1, 1:-1], inside[1:-1, 1:] != inside[1:-1, :-1]
    lines = [f"M{first} {row}H{last}" for row, first, last in _runs(across)]
    return "".join(lines + [f"M{column} {first}V{last}" for column, first, last in _runs(along.T)])


def _runs(edges: np.ndarray) -> list[tuple[int, int, int]]:
    """Edges in a row that follow each other, as (row, first, last)."""
    steps = np.diff(np.pad(edges.astype(int), ((0, 0), (1, 1))), axis=1)
    starts, ends = np.argwhere(steps == 1), np.argwhere(steps == -1)
    return [(int(row), int(first), int(last)) for (row, first), (_, last) in zip(starts, ends, strict=True)]


def _largest(seen: Scene, output: Output, sure: np.ndarray) -> np.ndarray | None:
    """The features of the largest region (p,)."""
    candidates = [_of_one_sign(seen, output.values, sure & (sign * output.values > 0)) for sign in (1, -1)]
    known = [mask for mask in candidates if mask is not None]
    return max(known, key=lambda mask: abs(float(output.values[mask].sum())), default=None)


def _of_one_sign(seen: Scene, values: np.ndarray, chosen: np.ndarray) -> np.ndarray | None:
    """The largest region of chosen features (p,), whose values have one sign."""
    if not chosen.any():
        return None
    if seen.index is None:
        return np.asarray(np.arange(len(chosen)) == np.argmax(np.abs(values) * chosen))
    pieces, _ = label(seen.spread(chosen), structure=TOUCHING)
    features, first = np.unique(seen.index, return_index=True)
    owner = np.zeros(len(chosen), int)
    owner[features] = pieces.ravel()[first]
    sums = np.abs(np.bincount(owner, weights=values * chosen))
    sums[0] = -1.0
    return np.asarray(owner == np.argmax(sums))


def _joint(explanation: Explanation, rows: np.ndarray, targets: list[int]) -> tuple[np.ndarray, ...] | None:
    """Sums, what their intervals are around, and joint errors, (k, r) each; None where the answers are gone."""
    record = explanation.record
    if record is None:
        return None
    shape = tuple(with_axis(explanation.values, explanation.target).shape)[1:]
    if rows.shape[1] != int(np.prod(shape)):  # values of elements, which are shown as pixels
        axis = channel_axis(record.task.features, shape)
        assert axis is not None
        grid = tuple(n for i, n in enumerate(shape) if i != axis)
        spread = np.expand_dims(rows.reshape(-1, *grid), axis + 1)
        rows = np.broadcast_to(spread, (len(rows), *shape)).reshape(len(rows), -1)
    try:
        sums = replace(record, targets=targets).regions(like(rows, record.task.explicand))
    except MethodError:
        return None
    values, centre, errors = (np.asarray(host(part), np.float64) for part in sums)
    return values, centre, errors
