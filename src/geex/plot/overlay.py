"""Values over the input: one output, several outputs, several methods."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from geex._results.explanation import Explanation
from geex._results.significance.findings import LEVEL
from geex.errors import InputError
from geex.plot.bars import panel as bar_panel
from geex.plot.canvas import empty, panels_of, plain
from geex.plot.tint import Look, colours, tinted
from geex.plot.view import Output, Scene, scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The width of a panel, in inches.
PANEL_SIDE = 3.2
# Explanations in a row.
PANEL_COLUMNS = 5


def overlay(explanation: Explanation, *, look: Look | None = None, image: Any = None) -> "Figure":
    """Draw the input beside itself with the values of each explained output over it.

    Parameters
    ----------
    explanation
        An explanation whose features have a place in an image.
    look
        Which values are shown, and how strongly. None: `Look("sure")`, which greys what may be noise.
    image
        What is shown, (h, w) or (h, w, 3): the input before its preprocessing. None: x.

    Returns
    -------
    matplotlib.figure.Figure
        A figure, which needs no display.

    Raises
    ------
    InputError
        The features have no place in an image.
    """
    look = look or Look("sure")
    seen = scene(explanation, image, errors=look.show == "sure")
    return _row(_pictures("plot.overlay", seen), [(output.label, seen, output) for output in seen.outputs], look)


def outputs(explanation: Explanation, *, count: int = 5, look: Look | None = None, image: Any = None) -> "Figure":
    """Draw the largest outputs side by side, each with its own values, on one scale of colours.

    Parameters
    ----------
    explanation
        An explanation with its answers, whose features have a place in an image.
    count
        How many outputs are shown.
    look, image
        As in `overlay`.

    Returns
    -------
    matplotlib.figure.Figure
        A figure, which needs no display.

    Raises
    ------
    InputError
        The features have no place in an image.
    """
    look = look or Look("sure")
    seen = scene(explanation, image, outputs=count, errors=look.show == "sure")
    panels = [(f"{output.label}\n{output.output:.3g}", seen, output) for output in seen.outputs]
    return _row(_pictures("plot.outputs", seen), panels, look, shared=True)


def compare(explanations: Mapping[str, Explanation], *, look: Look | None = None, image: Any = None) -> "Figure":
    """Draw several explanations of one input, each on its own scale of colours, since their units differ.

    Parameters
    ----------
    explanations
        The explanations, by name.
    look, image
        As in `overlay`.

    Returns
    -------
    matplotlib.figure.Figure
        A figure, which needs no display. Features without a place in an image are drawn as bars.

    Raises
    ------
    InputError
        `explanations` is no mapping, or is empty.
    """
    if not isinstance(explanations, Mapping) or not explanations:
        raise InputError(
            "`explanations` must be a mapping from names to explanations, such as {'GEEX': …, 'RISE': …}; got "
            f"{type(explanations).__name__} with nothing to show.",
            code="explanations-not-named",
        )
    look = look or Look("sure")
    scenes = {name: scene(one, image, errors=look.show == "sure") for name, one in explanations.items()}
    panels = [(name, seen, seen.outputs[0]) for name, seen in scenes.items()]
    first = next(iter(scenes.values()))
    if first.index is None:
        return _bars(panels)
    return _row(_pictures("plot.compare", first), panels, look)


def _pictures(name: str, seen: Scene) -> Scene:
    if seen.index is None:
        raise InputError(
            f"{name} needs features with a place in a picture. Use geex.plot.bars instead.",
            code="no-picture",
        )
    return seen


def _row(first: Scene, panels: list[tuple[str, Scene, Output]], look: Look, shared: bool = False) -> "Figure":
    """The input and its explanations, `PANEL_COLUMNS` in a row."""
    assert first.picture is not None
    count = 1 + len(panels)
    columns = min(count, PANEL_COLUMNS + 1)
    rows = -(-count // columns)
    height = first.picture.shape[0] / first.picture.shape[1] * PANEL_SIDE
    figure = empty(PANEL_SIDE * columns + 0.9, (min(max(height, 1.0), 3 * PANEL_SIDE) + 0.6) * rows)
    axes = panels_of(figure, rows, columns)
    axes[0].imshow(first.picture, interpolation="nearest")
    axes[0].set_title("input")
    common = max(output.limit(look.percentile) for _, _, output in panels) if shared else None
    for axis, (title, seen, output) in zip(axes[1:], panels, strict=False):
        limit = common or output.limit(look.percentile)
        axis.imshow(tinted(seen, output, look, limit), interpolation="nearest")
        axis.set_title(plain(title))
        if look.show != "top" and (not shared or output is panels[-1][2]):
            _scale(figure, axis, look, limit, output.origin)
    for axis in axes:
        axis.set_axis_off()
    return figure


def _scale(figure: Any, axis: Any, look: Look, limit: float, origin: float) -> None:
    """Draw the scale of the colours; no value is below an origin that is not 0."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    low = 0.0 if look.show == "positive" or origin else -limit
    bar = figure.colorbar(ScalarMappable(Normalize(-limit, limit), colours(look)), ax=axis, shrink=0.8)
    bar.ax.set_ylim(low, limit)
    ticks = [0.0, limit] if low == 0 else [-limit, 0.0, limit]
    bar.set_ticks(ticks, labels=[f"{origin + tick:.2g}" for tick in ticks])


def _bars(panels: list[tuple[str, Scene, Output]]) -> "Figure":
    """The same for features without a picture: bars in one order, that of the first."""
    first = panels[0]
    order = first[2].order(15)
    figure = empty(PANEL_SIDE * len(panels) + 1.2, 0.32 * len(order) + 1.2)
    axes = panels_of(figure, 1, len(panels), together=True)
    for axis, (title, seen, output) in zip(axes, panels, strict=True):
        bar_panel(axis, seen, output, order, LEVEL)
        axis.set_title(plain(title))
    return figure
