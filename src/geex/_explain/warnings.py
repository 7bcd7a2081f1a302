"""Warnings of a run, shown at the line that called geex."""

import inspect
import warnings
from pathlib import Path

import numpy as np

from geex._arrays.arrays import Array, host
from geex._explain.defaults import pixels_of
from geex._problem.features import neighbouring
from geex._problem.task import Task
from geex._results.explanation import Explanation
from geex._results.summary import looks
from geex.errors import BatchOfOne, LittleToExplain, ManyChannels, PartialRun, UnevenScales, UnsteadyModel

# f(x) and f(x̊) are almost equal if they differ by less than this share.
LITTLE = 0.01
# The ratio of differences from the baseline from which on one σ does not suit all columns.
UNEVEN = 1e4
# The most entries of an axis that is plausible as a channel axis.
MOST_CHANNELS = 16


def stopped_early(journal: Path | None, queries: int, total: int, spent: int | None) -> None:
    """Warn that a run is partial. spent: how many rows were sent, if no more may be; None: it was interrupted."""
    way = "With journal=…, the same call can continue from here."
    if journal is not None:
        way = f"The same call with journal={str(journal)!r} continues from here."
    why = "" if spent is None else f": {spent:,} rows were sent, and no more may be"
    warnings.warn(
        f"The run was stopped after {queries:,} of {total:,} queries{why}. The explanation is from these answers. "
        f"{way}",
        PartialRun,
        stacklevel=frames_of_geex(),
    )


def unsteady_model(explanation: Explanation) -> None:
    if explanation.unsteady:
        warnings.warn(
            f"The model answered x differently the second time: its scores have noise of about "
            f"{np.max(host(explanation.noise)):.2g}{looks(explanation)}. Check that it is in evaluation mode, and that "
            "one model answers all calls.",
            UnsteadyModel,
            stacklevel=frames_of_geex(),
        )


def little_to_explain(output: Array, targets: list[int]) -> None:
    ends = host(output)[:, targets]
    difference = np.abs(ends[:1] - ends[1:].mean(axis=0))
    little = difference <= LITTLE * np.abs(ends).max(axis=0)
    if len(targets) == 1 and bool(little.all()):
        warnings.warn(
            f"f(x) = {ends[0, 0]:.4g} and f(x̊) = {ends[1:, 0].mean():.4g} are almost equal, so there is little to "
            "explain. Consider another baseline or target.",
            LittleToExplain,
            stacklevel=frames_of_geex(),
        )


def uneven_scales(task: Task, baseline: Array) -> None:
    """Warn of a row of a table whose columns differ in scale, if the method chose one σ. A series has one unit."""
    shape = tuple(task.explicand.shape)
    if len(shape) != 1 or not task.method.one_scale or neighbouring(task.features, shape):
        return
    reach = np.abs(host(task.explicand).astype(np.float64) - host(baseline))
    reach = reach[reach > 0]
    if reach.size and reach.max() > UNEVEN * reach.min():
        warnings.warn(
            f"x differs from the baseline by {reach.min():.2g} in one place and by {reach.max():.2g} in another. One "
            "sigma does not suit columns of such different scales. Standardise them, or use geex.Shapley(), which adds "
            "no noise. For a series, pass features=geex.Elements(line=True).",
            UnevenScales,
            stacklevel=frames_of_geex(),
        )


def one_row(task: Task) -> None:
    """Warn of (1, p): it may be a series with a channel axis, or a row in a batch of one."""
    shape = tuple(task.explicand.shape)
    if len(shape) == 2 and shape[0] == 1 and shape[1] > 1:
        warnings.warn(
            f"x has shape {shape}, so the model receives batches of shape (n, 1, {shape[1]}). If the first axis of x "
            "is a batch axis, explain x[0]. If not, pass features=geex.Elements().",
            BatchOfOne,
            stacklevel=frames_of_geex(),
        )


def many_channels(task: Task) -> None:
    """Warn if the named channel axis may be a side of an image: each row or column would be one feature."""
    shape, features = tuple(task.explicand.shape), task.features
    axis = features.merged_axis(shape)
    if axis is None or shape[axis] <= MOST_CHANNELS:
        return
    plain = len(shape) == 2 and MOST_CHANNELS < max(shape) <= 2 * min(shape)
    if plain or not pixels_of(shape).elementwise:
        right = "Elements()" if plain else repr(pixels_of(shape))
        warnings.warn(
            f"{features!r} makes one feature of the {shape[axis]} entries along axis {features.channels} of x, whose "
            f"shape is {shape}; values have shape {features.shape(shape)}. If x is an image, pass "
            f"features=geex.{right}.",
            ManyChannels,
            stacklevel=frames_of_geex(),
        )


def frames_of_geex() -> int:
    """Return how many frames up the first caller outside of geex is."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("geex."):
        level, frame = level + 1, frame.f_back
    return level - 1
