"""All methods, and `ScoreMethod`, a base for your own. The common ones are in `geex` too."""

from geex.methods.gradient import GE, GEEX, Interpolated
from geex.methods.guided import Guided
from geex.methods.lime import LIME
from geex.methods.presence import Presence
from geex.methods.random import Random
from geex.methods.regression import Regression
from geex.methods.rise import RISE
from geex.methods.score_method import ScoreMethod
from geex.methods.shapley import Shapley

__all__ = [
    "GE",
    "GEEX",
    "LIME",
    "RISE",
    "Guided",
    "Interpolated",
    "Presence",
    "Random",
    "Regression",
    "ScoreMethod",
    "Shapley",
]
