"""Ten garments above their explanations, as one picture."""

from pathlib import Path
from typing import Any

import numpy as np

import geex
from geex.demo.garments import DEVIATION, MEAN
from geex.plot.canvas import empty
from geex.plot.tint import Look, colours, tinted
from geex.plot.view import scene

# The titles of the rows of the picture.
ROW_TITLES = ("garment", "default", "the paper's")


def draw(
    pictures: np.ndarray,
    usual: list[geex.Explanation],
    paper: list[geex.Explanation],
    names: list[str],
    path: Path,
) -> Path:
    """Draw every garment above its explanations: orange counts for the decision, blue against it.

    In the row of the default method, what may be noise is grey.
    """
    figure = empty(1.5 * len(pictures), 5.2)
    axes = figure.subplots(3, len(pictures))
    for column, (picture, first, second) in enumerate(zip(pictures, usual, paper, strict=True)):
        assert isinstance(first.target, int)
        shown = np.clip(picture[0] * DEVIATION + MEAN, 0, 1)
        seen = scene(first, shown)
        axes[0, column].imshow(shown, cmap="gray", vmin=0, vmax=1)
        axes[0, column].set_title(names[first.target], fontsize=10)
        axes[1, column].imshow(tinted(seen, seen.outputs[0], Look("sure")))
        values = second.values[0]
        limit = float(np.percentile(np.abs(values), 99.5))
        shares = axes[2, column].imshow(values, cmap=colours(Look(opacity=1.0)), vmin=-limit, vmax=limit)
        gap = f"gap {second.gap:+.2f} ± {second.gap_stderr:.2f}".replace("-", "−")
        axes[2, column].set_xlabel(gap, fontsize=9)
    _labelled(figure, axes, shares, limit)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path.resolve()


def _labelled(figure: Any, axes: Any, shares: Any, limit: float) -> None:
    """Names of the rows, and the scale of the colours."""
    for axis in axes.flat:
        axis.set_xticks([])
        axis.set_yticks([])
    for row, name in enumerate(ROW_TITLES):
        axes[row, 0].set_ylabel(name)
    bar = figure.colorbar(shares, ax=axes[2, -1], ticks=[-limit, 0, limit], shrink=0.9)
    bar.ax.set_yticklabels(["against", "0", "for"])
