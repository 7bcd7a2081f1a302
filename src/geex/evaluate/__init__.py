"""How good an explanation is: what the model's score does while features go in the order of their attribution."""

from geex.evaluate.compare import Paired, Summary, paired, summary
from geex.evaluate.curves import Curve, deletion, insertion, noise

__all__ = ["Curve", "Paired", "Summary", "deletion", "insertion", "noise", "paired", "summary"]
