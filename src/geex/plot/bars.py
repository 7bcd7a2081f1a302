"""Features without a place in a picture: a bar for each, with its interval."""

from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.validation import whole
from geex._results.explanation import Explanation
from geex.errors import InputError
from geex.plot.canvas import AGAINST, FOR, bare, empty, hexadecimal, panels_of, plain
from geex.plot.view import Output, Scene, scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Characters of a feature's name.
LONGEST_LABEL = 40


def bars(explanation: Explanation, *, most: int = 15, level: float = 0.95) -> "Figure":
    """Draw the features with the largest absolute values as bars with intervals, in a panel for each output.

    Bars that may be noise, after correction for the number of features, are pale; the others come first.

    Parameters
    ----------
    explanation
        An explanation.
    most
        The most bars of a panel.
    level
        The level of the intervals.

    Returns
    -------
    matplotlib.figure.Figure
        A figure, which needs no display.

    Raises
    ------
    InputError
        `most` is not a whole number above 0, or `level` is not a probability.
    """
    seen = scene(explanation)
    most = whole("most", most, 1, InputError)
    count = min(most, len(seen.outputs[0].values))
    figure = empty(5.2 * len(seen.outputs), 0.32 * count + 1.2)
    panels = panels_of(figure, 1, len(seen.outputs))
    for axis, output in zip(panels, seen.outputs, strict=True):
        panel(axis, seen, output, output.order(count, level), level)
        axis.set_title(plain(f"{output.label}: {output.output:.4g}"))
    return figure


def panel(axis: Any, seen: Scene, output: Output, order: np.ndarray, level: float) -> None:
    """Bars of the features in `order`, the first on top."""
    values, centre = output.shown(level)[order], output.centre[order]
    error = np.nan_to_num(output.interval(level)[1][order] - centre)
    places = np.arange(len(order))
    colours = [hexadecimal(FOR if value >= 0 else AGAINST) for value in values]
    drawn = axis.barh(places, values, color=colours)
    axis.errorbar(centre, places, xerr=error, fmt="none", ecolor="#333333", capsize=2, elinewidth=1.2)
    for bar, sure in zip(drawn, output.sure(level)[order], strict=True):
        bar.set_alpha(0.9 if sure else 0.35)
    axis.axvline(0, color="#333333", linewidth=0.8)
    axis.set_yticks(places, labels=[plain(_short(name(seen, int(i))) + seen.cell(int(i))) for i in order])
    axis.set_ylim(len(order) - 0.4, -0.6)
    axis.set_xlabel("value, in units of the score")
    bare(axis)


def name(seen: Scene, feature: int) -> str:
    """What a feature is called; a pixel by its row and column."""
    if seen.names:
        return seen.names[feature]
    assert seen.index is not None
    row, column = divmod(feature, seen.index.shape[1])
    return f"row {row}, column {column}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
