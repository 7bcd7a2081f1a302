"""Pictures of explanations, as matplotlib figures that need no display."""

from geex.plot.bars import bars
from geex.plot.convergence import convergence
from geex.plot.curves import curves
from geex.plot.figure import figure
from geex.plot.overlay import compare, outputs, overlay
from geex.plot.tint import Look

__all__ = ["Look", "bars", "compare", "convergence", "curves", "figure", "outputs", "overlay"]
