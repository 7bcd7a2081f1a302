"""The largest region of a picture that stands out, and its outline.

A region is made of neighbouring features that differ from 0 on the same side, after correction for the number of
features. Among several the one with the largest |Σ values| is taken. In a list of features every feature is a region of
its own. A region that is chosen by its values looks larger than it is, so its interval is made of simultaneous ones:

    |Σ_{k∈R} (centre_k − ξ_k)| ≤ q Σ_{k∈R} stderr_k   for all regions R together

which holds for any region, however it was chosen.
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import label

from geex._results.findings import inside
from geex.plot.view import Output, Scene

# Pixels that share a corner are neighbours.
TOUCHING = np.ones((3, 3))


@dataclass(frozen=True, eq=False)
class Found:
    """A region: which features (p,), the sum of their values, and an interval that holds after the choice."""

    features: np.ndarray
    value: float
    low: float
    high: float


def largest(seen: Scene) -> list[Found | None]:
    """Return the largest region of every output, None where nothing stands out."""
    masks = [_largest(seen, output, output.sure()) for output in seen.outputs]
    pairs = zip(seen.outputs, masks, strict=True)
    return [None if mask is None else _found(output, mask) for output, mask in pairs]


def _found(output: Output, features: np.ndarray) -> Found:
    centre, half = float(output.centre[features].sum()), output.reach() * float(output.stderr[features].sum())
    low, high = np.array(centre - half), np.array(centre + half)
    return Found(features, float(inside(output.values[features].sum(), low, high)), float(low), float(high))


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
    values = output.shown()
    candidates = [_of_one_sign(seen, values, sure & (sign * values > 0)) for sign in (1, -1)]
    known = [mask for mask in candidates if mask is not None]
    return max(known, key=lambda mask: abs(float(values[mask].sum())), default=None)


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
