"""What an extension of geex must provide, and what it may provide: one base class for each kind of extension.

Abstract methods must be there. All other members have a default, which their docstrings state.

Method     chooses queries and computes values from answers; RoundsMethod does so in rounds
Search     draws, and turns draws into queries and weights
Estimate   values and their errors
Features   which elements of the input belong together
Family     a density of noise
Stop       a rule that ends a run
Runner     where the model is called; Workers are its pool
"""

from geex._protocols.estimating import Estimate, Method, ModelNoise, RoundsMethod, Stop
from geex._protocols.querying import Family, Features, LinearDraws, Search
from geex._protocols.running import Runner, Source, Workers

__all__ = [
    "Estimate",
    "Family",
    "Features",
    "LinearDraws",
    "Method",
    "ModelNoise",
    "RoundsMethod",
    "Runner",
    "Search",
    "Source",
    "Stop",
    "Workers",
]
