"""What to do where no feature stands out from noise."""

from typing import TYPE_CHECKING

from geex._problem.features import neighbouring
from geex._problem.groups import Groups
from geex._results.significance.patches import patches_of

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

# Features up to which coarser ones are no help.
FEW_FEATURES = 8


def nothing_found(explanation: "Explanation", count: int, things: str = "features") -> str:
    """Return that none of `count` features of an output differs from 0, and what helps, in one line."""
    patches = patches_of(explanation)
    if patches is not None and patches.count:
        total = int(patches.index.max()) + 1
        return f"No single one of {count:,} {things} stands out from noise; {patches.count} of {total} patches do."
    coarser = f" or {_coarser(explanation)}" if count > FEW_FEATURES else ""
    return f"None of {count:,} {things} stands out from noise. Use more queries{coarser}."


def _coarser(explanation: "Explanation") -> str:
    """Features that are larger than those of the run."""
    features, x = explanation.features, explanation.explicand
    if isinstance(features, Groups):
        return "fewer geex.Groups"
    if x is not None and features is not None and features.elementwise and x.ndim == 3:
        return "geex.Pixels() or geex.Groups"
    if x is not None and features is not None and neighbouring(features, tuple(x.shape)):
        return "segments (geex.Groups)"
    return "groups of features (geex.Groups)"
