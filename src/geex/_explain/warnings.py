"""What a run warns of, in the place of its caller."""

import inspect
import warnings
from pathlib import Path

import numpy as np

from geex._arrays.arrays import Array, host
from geex._explain.defaults import pixels_of
from geex._problem.features import neighbouring
from geex._problem.task import Task
from geex._results.explanation import Explanation
from geex._results.summary import ROUGHLY
from geex.errors import BatchOfOne, LittleToExplain, ManyChannels, PartialRun, UnevenScales, UnsteadyModel

LITTLE = 0.01
UNEVEN = 1e4
CHANNELS = 16


def stopped_early(journal: Path | None, queries: int, total: int) -> None:
    way = "with journal=… the same call could go on from here"
    if journal is not None:
        way = f"the same call with journal={str(journal)!r} goes on from here"
    warnings.warn(
        f"stopped after {queries:,} of {total:,} queries: the explanation is of what is in, and {way}.",
        PartialRun,
        stacklevel=_frames_of_geex(),
    )


def unsteady_model(explanation: Explanation) -> None:
    if explanation.unsteady:
        warnings.warn(
            f"the model answered x differently the second time: its scores have noise of some "
            f"{np.max(host(explanation.noise)):.2g}, {ROUGHLY}. Is it in its evaluation mode, and is it one model "
            "that answers?",
            UnsteadyModel,
            stacklevel=_frames_of_geex(),
        )


def little_to_explain(output: Array, targets: list[int]) -> None:
    ends = host(output)[:, targets]
    difference = np.abs(ends[:1] - ends[1:].mean(axis=0))
    little = difference <= LITTLE * np.abs(ends).max(axis=0)
    if len(targets) == 1 and bool(little.all()):
        warnings.warn(
            f"f(x) = {ends[0, 0]:.4g} and f(x̊) = {ends[1:, 0].mean():.4g} hardly differ: there is little to explain, "
            "and another baseline or target may be wanted.",
            LittleToExplain,
            stacklevel=_frames_of_geex(),
        )


def uneven_scales(task: Task, baseline: Array) -> None:
    """A row of a table and a method that had to choose one σ for all of its columns. A series has one unit."""
    shape = tuple(task.explicand.shape)
    if len(shape) != 1 or not task.method.one_scale or neighbouring(task.features, shape):
        return
    reach = np.abs(host(task.explicand).astype(np.float64) - host(baseline))
    reach = reach[reach > 0]
    if reach.size and reach.max() > UNEVEN * reach.min():
        warnings.warn(
            f"x differs from the baseline by {reach.min():.2g} in one place and by {reach.max():.2g} in another, and "
            "one sigma cannot suit both if these are columns of a table: standardise them, or take "
            "method=geex.Shapley(), which needs none. For a series, features=geex.Elements(line=True) says what it is.",
            UnevenScales,
            stacklevel=_frames_of_geex(),
        )


def one_row(task: Task) -> None:
    """A row of a table is (p,); one of (1, p) may be a series with its channel axis, or a batch."""
    shape = tuple(task.explicand.shape)
    if len(shape) == 2 and shape[0] == 1 and shape[1] > 1:
        warnings.warn(
            f"x has shape {shape}, and the model is asked batches of shape (n, 1, {shape[1]}): if the first axis of x "
            "is a batch, explain x[0]. If it is not, features=geex.Elements() says so.",
            BatchOfOne,
            stacklevel=_frames_of_geex(),
        )


def many_channels(task: Task) -> None:
    """A side of an image that was named as its channels: every row or column of pixels becomes one feature."""
    shape, features = tuple(task.explicand.shape), task.features
    axis = features.merged_axis(shape)
    if axis is None or shape[axis] <= CHANNELS:
        return
    plain = len(shape) == 2 and CHANNELS < max(shape) <= 2 * min(shape)
    if plain or not pixels_of(shape).elementwise:
        right = "Elements()" if plain else repr(pixels_of(shape))
        warnings.warn(
            f"{features!r} takes the {shape[axis]} entries along axis {features.channels} of x, of shape "
            f"{shape}, for the channels of a pixel, and gives values of shape {features.shape(shape)}. If x is an "
            f"image, say features=geex.{right}.",
            ManyChannels,
            stacklevel=_frames_of_geex(),
        )


def _frames_of_geex() -> int:
    """How many frames up a warning belongs: to the first caller that is not geex."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("geex."):
        level, frame = level + 1, frame.f_back
    return level - 1
