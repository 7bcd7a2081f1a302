"""Tests of explanations: the model's score while features are removed in the order of their attribution."""

from geex.evaluate.compare import Paired, Summary, paired, summary
from geex.evaluate.curves import Curve, deletion, insertion, noise

__all__ = ["Curve", "Paired", "Summary", "deletion", "insertion", "noise", "paired", "summary"]
