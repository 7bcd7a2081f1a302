"""The part of a picture that counts most, and its outline.

The parts are the ninths of the picture, chosen before anything is known of the values. That with the largest |Σ values|
is shown, if its interval excludes 0. The interval is that of the sum, corrected for the choice among m ninths:

    |Σ_{k∈R} (centre_k − ξ_k)| ≤ q stderr(Σ_{k∈R} ξ_k)   for all ninths R together,   q = −T⁻¹(α / 2m)

In a list every feature is a part of its own, with its simultaneous interval.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from geex._arrays.arrays import host, like
from geex._results.significance.findings import LEVEL, inside, quantile
from geex.errors import MethodError
from geex.plot.view import Output, Scene

# Parts along each side of a picture.
REGION_SIDE = 3


@dataclass(frozen=True, eq=False)
class Found:
    """A part: which features (p,), the sum of their values, and an interval that holds after the choice."""

    features: np.ndarray
    value: float
    low: float
    high: float


def largest(seen: Scene) -> list[Found | None]:
    """Return the part of every output that counts most, None where nothing stands out."""
    if seen.index is None:
        return [_feature(output) for output in seen.outputs]
    rows = ninths(seen)
    sums = zip(*(_joint(seen, rows) or _separate(seen, rows)), strict=True)
    return [_ninth(rows, *own, output.freedom) for own, output in zip(sums, seen.outputs, strict=True)]


def ninths(seen: Scene) -> np.ndarray:
    """Return which features have their middle in each ninth of the picture (9, p)."""
    assert seen.index is not None
    count, (height, width) = len(seen.outputs[0].values), seen.index.shape
    pixels = np.maximum(np.bincount(seen.index.ravel(), minlength=count), 1)
    places = []
    for place, size in zip(np.indices(seen.index.shape), (height, width), strict=True):
        middle = np.bincount(seen.index.ravel(), weights=place.ravel(), minlength=count) / pixels
        places.append(np.minimum((REGION_SIDE * (middle + 0.5) / size).astype(int), REGION_SIDE - 1))
    part = REGION_SIDE * places[0] + places[1]
    return np.asarray(part == np.arange(REGION_SIDE**2)[:, None], float)


def _joint(seen: Scene, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return sums, the centres of their intervals and their standard errors (k, 9); None if there are no answers."""
    record = seen.source.record
    if record is None:
        return None
    if prod(record.task.features.shape(tuple(record.task.explicand.shape))) != rows.shape[1]:
        return None  # what is shown are sums over channels
    try:
        found = record.regions(like(rows, record.task.explicand))
    except MethodError:
        return None  # the method has no errors of sums
    own = [record.targets.index(output.target) for output in seen.outputs]
    values, centres, errors = (np.asarray(host(array), np.float64)[own] for array in found)
    return values, centres, errors


def _separate(seen: Scene, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same from the features' own errors: the widest that joint ones can be."""
    arrays = ([getattr(output, name) for output in seen.outputs] for name in ("values", "centre", "stderr"))
    values, centres, errors = (np.stack(own) @ rows.T for own in arrays)
    return values, centres, errors


def _ninth(
    rows: np.ndarray, values: np.ndarray, centres: np.ndarray, errors: np.ndarray, freedom: float
) -> Found | None:
    """Return the ninth that counts most for one output, given sums, centres and errors (9,)."""
    half = quantile(LEVEL, freedom, int(np.sum(errors > 0))) * errors
    low, high = centres - half, centres + half
    shown = inside(values, low, high)
    sure = (low > 0) | (high < 0)
    if not sure.any():
        return None
    best = int(np.argmax(np.abs(shown) * sure))
    return Found(rows[best] > 0, float(shown[best]), float(low[best]), float(high[best]))


def _feature(output: Output) -> Found | None:
    """Return the largest feature that stands out."""
    if not output.sure().any():
        return None
    best = int(np.argmax(np.abs(output.shown()) * output.sure()))
    low, high = (float(end[best]) for end in output.interval())
    return Found(np.arange(len(output.values)) == best, float(output.shown()[best]), low, high)


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
