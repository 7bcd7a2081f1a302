"""geex explains one decision of a model that can only be queried."""

from geex import errors
from geex.baseline import blur, mean, per_channel
from geex.explain import estimate, explain, explain_batch
from geex.explanation import Explanation
from geex.features import Elements, Groups, Pixels
from geex.methods import GE, GEEX, Interpolated
from geex.search import Gaussian, Laplace, Logistic

__version__ = "0.1.0.dev0"

__all__ = [
    "GE",
    "GEEX",
    "Elements",
    "Explanation",
    "Gaussian",
    "Groups",
    "Interpolated",
    "Laplace",
    "Logistic",
    "Pixels",
    "blur",
    "errors",
    "estimate",
    "explain",
    "explain_batch",
    "mean",
    "per_channel",
]
