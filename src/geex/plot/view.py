"""An explanation prepared for display: a picture with the feature of every pixel, or a list of names.

Values of elements are summed over the channels of a pixel, since shares add up. Where the answers are there, the
standard errors of these sums are estimated from them; else they are put together as if channels were independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geex._arrays.arrays import Shape, host
from geex._arrays.validation import is_number
from geex._explain.estimate import estimate
from geex._plain_text import one_line
from geex._problem.features import Elements, Pixels, image_axes, regular
from geex._problem.outputs import scored
from geex._problem.table.cells import is_missing
from geex._protocols import Features
from geex._results.explanation import Explanation
from geex._results.significance.findings import LEVEL, Findings, check_level, inside, quantile, resolution
from geex._results.significance.patches import patches_of
from geex._results.target_axis import numbers, with_axis
from geex.errors import FeaturesError, InputError, MethodError
from geex.plot.picture import picture_of

SHOWN_OUTPUTS = 5  # outputs that are shown


@dataclass(frozen=True, eq=False)
class Output:
    """One output of the model, explained: values, standard errors and what intervals are around (p,), and its account.

    p_values (p,): of the difference from 0, corrected as `Findings.marks`; NaN where no error is known.
    freedom: degrees of freedom of the standard errors. family: how many features intervals hold for together.
    origin: the value that has no colour: 0, but the smallest of values that are no shares and all above 0 (RISE's).
    """

    target: int
    label: str
    output: float
    base_value: float
    gap: float
    gap_stderr: float
    values: np.ndarray
    stderr: np.ndarray
    centre: np.ndarray
    p_values: np.ndarray
    freedom: float
    family: int
    origin: float = 0.0

    @property
    def total(self) -> float:
        """Σ values."""
        return float(self.values.sum())

    def limit(self, percentile: float = 99.5) -> float:
        """The absolute value from which on colours are full; 1 where all values are 0."""
        if not is_number(percentile) or not 0 < percentile <= 100:
            raise InputError(
                f"`percentile` must be above 0 and at most 100; got {percentile!r}.", code="percentile-out-of-range"
            )
        sizes = np.abs(self.values - self.origin)
        return float(np.percentile(sizes, percentile)) or float(sizes.max()) or 1.0

    def sure(self, level: float = LEVEL) -> np.ndarray:
        """Where the value stands out from noise (p,), see `Findings.marks`. No standard error, no doubt."""
        return ~(self.p_values > 1 - check_level(level))

    def interval(self, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the interval of each value (p,), which hold for all together; NaN where no error is known."""
        reach = self.reach(level) * self.stderr
        return self.centre - reach, self.centre + reach

    def reach(self, level: float = LEVEL) -> float:
        """Half the width of an interval, in standard errors."""
        return quantile(check_level(level), self.freedom, self.family)

    def shown(self, level: float = LEVEL) -> np.ndarray:
        """The values as they stand beside their intervals (p,): each in its own."""
        return inside(self.values, *self.interval(level))

    def order(self, count: int, level: float = LEVEL) -> np.ndarray:
        """The first features of a list: those that stand out, then the others, each by size; of equal ones the first.

        Without errors, by size alone.
        """
        return np.lexsort((-np.abs(self.shown(level)), ~self.sure(level)))[:count]

    @property
    def quiet(self) -> bool:
        """Whether errors are known, and no value stands out from noise."""
        return bool((self.stderr > 0).any() and (self.p_values > 1 - LEVEL).all())


@dataclass(frozen=True, eq=False)
class Scene:
    """An explanation to be shown.

    outputs: the explained outputs, the one that was asked for first.
    picture: (h, w, 3) in 0 … 255; index: (h, w), the number of the feature of every pixel. None where features have
        no place in a picture.
    names: of all features (p,).
    cells: what x has there, " = 3.49", where features are the columns of a row, with names.
    source: the explanation of these outputs, with its answers if they are there.
    """

    outputs: list[Output]
    picture: np.ndarray | None
    index: np.ndarray | None
    names: list[str]
    source: Explanation
    cells: Sequence[str] = ()

    def cell(self, feature: int) -> str:
        """Return the value of x for a feature, to stand behind its name; "" where there is none."""
        return self.cells[feature] if self.cells else ""

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of features (p,) at their pixels (h, w)."""
        assert self.index is not None
        return np.asarray(values[self.index])

    def only(self, chosen: np.ndarray) -> "Scene":
        """The same with some of the features alone, for lists that are too long."""
        arrays = ("values", "stderr", "centre", "p_values")
        outputs = [replace(o, **{name: getattr(o, name)[chosen] for name in arrays}) for o in self.outputs]
        cells = [self.cell(i) for i in chosen]
        return replace(self, outputs=outputs, names=[self.names[i] for i in chosen], cells=cells)


def scene(explanation: Explanation, image: Any = None, outputs: int = 1, errors: bool = True) -> Scene:
    """Prepare an explanation for display.

    image: the picture to show, (h, w) or (h, w, 3), in 0 … 255 or 0 … 1. None: the explicand.
    outputs: how many of the largest outputs, where the answers are there to explain them.
    errors: whether to estimate standard errors of pixels again, from the answers.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(
            f"Only an explanation can be shown; got {type(explanation).__name__}.", code="not-an-explanation"
        )
    source = _estimated(_few(explanation), outputs, errors)
    shown = source.numpy()
    around = shown.values if shown.centre is None else shown.centre
    fields = (shown.values, shown.stderr, around)
    values, stderr, centre = (np.asarray(with_axis(a, shown.target), np.float64) for a in fields)
    features = Elements() if shown.features is None else shown.features
    shape = values.shape[1:] if shown.explicand is None else tuple(shown.explicand.shape)
    axis = channel_axis(features, shape)
    if features.elementwise and axis is not None:
        values, centre, stderr = values.sum(axis + 1), centre.sum(axis + 1), np.sqrt((stderr**2).sum(axis + 1))
    index = _index(features, shape, axis, values.shape[1:])
    values, stderr, centre = (field.reshape(len(values), -1) for field in (values, stderr, centre))
    picture = None if index is None else picture_of(shown.explicand, axis, image, index.shape)
    return Scene(
        outputs=_outputs(source, shown, values, stderr, centre, explanation.labels),
        picture=picture,
        index=index,
        names=_names(explanation, features, values.shape[1], index),
        source=source,
        cells=_cells(shown, features),
    )


def _cells(shown: Explanation, features: Features) -> list[str]:
    """What x has in its columns. For a text x is all ones, which means nothing."""
    row = shown.explicand
    if row is None or row.ndim != 1 or shown.names is None or not features.elementwise:
        return []
    if shown.cells is not None:
        return [f" =\u00a0{_cell(value)}" for value in shown.cells.values]
    if shown.settings.absence is not None:
        return []
    return [f" =\u00a0{_cell(value)}" for value in row.tolist()]


def _cell(value: Any) -> str:
    """The text of a cell."""
    if is_missing(value):
        return "missing"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.4g}".replace("-", "−") if number else one_line(str(value))


def channel_axis(features: Features, shape: Shape) -> int | None:
    """The axis of x that holds channels, where x is an image that has one."""
    if len(shape) != 3:
        return None
    try:
        rest = image_axes(shape, features.channels)
    except FeaturesError:
        return None
    return next(axis for axis in range(3) if axis not in rest)


def _few(explanation: Explanation) -> Explanation:
    """Of many explained outputs those with the largest scores."""
    targets = explanation.targets
    if len(targets) <= SHOWN_OUTPUTS:
        return explanation
    chosen = [int(j) for j in np.argsort(-host(explanation.output), kind="stable")[:SHOWN_OUTPUTS]]
    rows = ("values", "stderr", "output", "base_value", "gap", "gap_stderr", "centre")
    given = {name: getattr(explanation, name) for name in rows}
    kept: dict[str, Any] = {name: None if rows is None else host(rows)[chosen] for name, rows in given.items()}
    return replace(explanation, **kept, target=[targets[j] for j in chosen], noise=None, reach=None)


def _estimated(explanation: Explanation, outputs: int, errors: bool) -> Explanation:
    """The explanation of the largest outputs too, and with one value per pixel, where the answers are there."""
    record = explanation.record
    if record is None:
        return explanation
    shape = tuple(record.task.explicand.shape)
    axis = channel_axis(record.task.features, shape)
    target = _largest(explanation, outputs)
    summed = errors and record.task.features.elementwise and axis is not None and shape[axis] > 1
    if summed:
        assert axis is not None
        try:
            return estimate(explanation, target=target, features=Pixels(channels=axis))
        except (FeaturesError, MethodError):
            pass
    return explanation if target == explanation.target else estimate(explanation, target=target)


def _largest(explanation: Explanation, count: int) -> int | list[int]:
    """The explained output first, then the largest others up to `count` in all; as it was where none is missing."""
    record = explanation.record
    if isinstance(explanation.target, list) or record is None:
        return explanation.target
    output = host(scored(record.ends[:1, :], record.task.score))[0]
    order = [int(j) for j in np.argsort(-output, kind="stable") if j != explanation.target]
    return [explanation.target, *order[: count - 1]] if count > 1 and order else explanation.target


def _index(features: Features, shape: Shape, axis: int | None, found: Shape) -> np.ndarray | None:
    """The number of the feature of every pixel, for grids, and for groups that do not cut through pixels."""
    if not regular(features, shape):
        elements = features.index(shape)
        if axis is None:
            return elements if len(shape) == 2 else None
        first = np.take(elements, 0, axis=axis)
        return first if bool((elements == np.expand_dims(first, axis)).all()) else None
    return np.arange(found[0] * found[1]).reshape(found) if len(found) == 2 else None


def _outputs(
    source: Explanation,
    shown: Explanation,
    values: np.ndarray,
    stderr: np.ndarray,
    centre: np.ndarray,
    labels: Sequence[str] | None,
) -> list[Output]:
    ends = [numbers(end) for end in (shown.output, shown.base_value, shown.gap, shown.gap_stderr)]
    ranks = [not shown.adds_up and bool((row > 0).all()) for row in values]
    around = resolution(ends[0], ends[1], shown.explicand)
    found = Findings(centre, stderr, shown.freedom, around, shown.findings.neighbours)
    patches = patches_of(source)
    judged = patches is not None and len(patches.index) == values.shape[1]
    marks = np.where(stderr > 0, patches.marks(centre), found.marks) if patches is not None and judged else found.marks
    origins = [float(row.min()) if rank else 0.0 for row, rank in zip(values, ranks, strict=True)]
    return [
        Output(
            target=target,
            label=output_name(target, labels),
            output=float(ends[0][j]),
            base_value=float(ends[1][j]),
            gap=float(ends[2][j]),
            gap_stderr=float(ends[3][j]),
            values=values[j],
            stderr=stderr[j],
            centre=centre[j],
            p_values=marks[j],
            freedom=shown.freedom,
            family=int(found.counts[j]),
            origin=origins[j],
        )
        for j, target in enumerate(shown.targets)
    ]


def output_name(target: int, labels: Sequence[str] | None) -> str:
    """Return the name of an output."""
    return f"output {target}" if labels is None or not 0 <= target < len(labels) else one_line(labels[target])


def _names(explanation: Explanation, features: Features, size: int, index: np.ndarray | None) -> list[str]:
    if explanation.names is not None and len(explanation.names) == size:
        return [one_line(name) for name in explanation.names]
    own = features.names()
    if own is not None:
        return own
    if index is not None:
        return []
    shape = with_axis(explanation.values, explanation.target).shape[1:]
    if len(shape) == 1:
        return [f"feature {i}" for i in range(size)]
    places = np.ndindex(*(int(n) for n in shape))
    return [f"element {', '.join(map(str, place))}" for place in places]
