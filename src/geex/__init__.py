"""geex explains one decision of a model that can only be queried."""

from geex import errors, evaluate, interop, methods, models, plot, run, testing
from geex._arrays.random_stream import Stream
from geex._estimate.answers import Answers
from geex._explain.estimate import estimate
from geex._explain.explain import explain, explain_batch
from geex._explain.stop_rules import Precise, Settled, Top
from geex._explain.table.explain_table import explain_table
from geex._plan.noise import Gaussian, Laplace, Logistic
from geex._plan.search import Draws
from geex._problem.background import background
from geex._problem.baselines import blur, mean, per_channel
from geex._problem.estimand import Additive, Estimand, Quantity, Unit
from geex._problem.features import Elements, Pixels
from geex._problem.groups import Groups
from geex._protocols import (
    Estimate,
    Family,
    Features,
    LinearDraws,
    Method,
    ModelNoise,
    RoundsMethod,
    Runner,
    Search,
    Stop,
)
from geex._query.limits import Limits
from geex._results.explanation import Explanation
from geex._results.significance.findings import TopFeatures
from geex._results.table.explanation import TableExplanation
from geex._results.table.importance import Importance
from geex._stored_names import stored
from geex._version import __version__ as __version__
from geex.methods.gradient import GEEX
from geex.methods.guided import Guided
from geex.methods.presence import Presence
from geex.methods.regression import Regression
from geex.methods.shapley import Shapley

__all__ = [
    "GEEX",
    "Additive",
    "Answers",
    "Draws",
    "Elements",
    "Estimand",
    "Estimate",
    "Explanation",
    "Family",
    "Features",
    "Gaussian",
    "Groups",
    "Guided",
    "Importance",
    "Laplace",
    "Limits",
    "LinearDraws",
    "Logistic",
    "Method",
    "ModelNoise",
    "Pixels",
    "Precise",
    "Presence",
    "Quantity",
    "Regression",
    "RoundsMethod",
    "Runner",
    "Search",
    "Settled",
    "Shapley",
    "Stop",
    "Stream",
    "TableExplanation",
    "Top",
    "TopFeatures",
    "Unit",
    "background",
    "blur",
    "errors",
    "estimate",
    "evaluate",
    "explain",
    "explain_batch",
    "explain_table",
    "interop",
    "mean",
    "methods",
    "models",
    "per_channel",
    "plot",
    "run",
    "stored",
    "testing",
]
