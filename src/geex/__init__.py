"""geex explains one decision of a model that can only be queried."""

from geex import errors, evaluate, models, plot, run
from geex.baseline import blur, mean, per_channel
from geex.chance import Random
from geex.explain import estimate, explain, explain_batch
from geex.explanation import Explanation
from geex.features import Elements, Groups, Pixels
from geex.guided import Guided
from geex.lime import LIME
from geex.limits import Limits
from geex.methods import GE, GEEX, Interpolated
from geex.presence import Presence
from geex.regression import Regression
from geex.rise import RISE
from geex.search import Gaussian, Laplace, Logistic
from geex.shapley import Shapley
from geex.stop import Precise, Settled

__version__ = "0.1.0.dev0"

__all__ = [
    "GE",
    "GEEX",
    "LIME",
    "RISE",
    "Elements",
    "Explanation",
    "Gaussian",
    "Groups",
    "Guided",
    "Interpolated",
    "Laplace",
    "Limits",
    "Logistic",
    "Pixels",
    "Precise",
    "Presence",
    "Random",
    "Regression",
    "Settled",
    "Shapley",
    "blur",
    "errors",
    "estimate",
    "evaluate",
    "explain",
    "explain_batch",
    "mean",
    "models",
    "per_channel",
    "plot",
    "run",
]
