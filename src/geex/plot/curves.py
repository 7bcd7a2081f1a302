"""Deletion and insertion curves: what the score did while features went, or came back, in the order of their values."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from geex.errors import InputError
from geex.evaluate import Curve
from geex.plot.canvas import bare, empty, panels_of, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def curves(given: Mapping[str, Curve]) -> "Figure":
    """Draw curves of `geex.evaluate` by name, deletions and insertions in a panel each.

    Parameters
    ----------
    given
        The curves, by name.

    Returns
    -------
    matplotlib.figure.Figure
        A figure, which needs no display. The legend has the AOPC of deletions and the area of insertions.

    Raises
    ------
    InputError
        `given` is no mapping of curves, or is empty.
    """
    if not isinstance(given, Mapping) or not given or not all(isinstance(curve, Curve) for curve in given.values()):
        raise InputError(
            "`given` must be a mapping from names to curves of geex.evaluate, such as {'GEEX': deletion(…)}.",
            code="curves-not-named",
        )
    kinds = [kind for kind in ("deletion", "insertion") if any(curve.kind == kind for curve in given.values())]
    figure = empty(4.8 * len(kinds), 3.4)
    panels = panels_of(figure, 1, len(kinds))
    for axis, kind in zip(panels, kinds, strict=True):
        for label, curve in given.items():
            if curve.kind == kind:
                axis.plot(*points(curve), label=plain(f"{label.strip()}: {number(curve)}"))
        axis.set_title(kind)
        axis.set_xlabel("features removed" if kind == "deletion" else "features put back")
        axis.set_ylabel("score, f(x) = 1")
        axis.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        axis.legend(frameon=False, fontsize="small")
        bare(axis)
    return figure


def points(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Shares of features and the score over f(x); a deletion starts at x, with score 1."""
    shares, scores = curve.fractions, curve.curve / curve.start
    if curve.kind == "insertion":
        return shares, scores
    return np.concatenate([[0.0], shares]), np.concatenate([[1.0], scores])


def number(curve: Curve) -> str:
    """The one number of a curve: AOPC of a deletion, area of an insertion, higher is better for both."""
    return f"AOPC {curve.aopc:.3f}" if curve.kind == "deletion" else f"area {curve.area:.3f}"
