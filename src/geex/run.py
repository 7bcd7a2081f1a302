"""Where the model is called: `run=geex.run.processes(n)`, `dask(address)` or `ray(address)`.

The result has the same bytes on any runner. A worker receives plans and row numbers, makes the queries from the seed,
and sends back answers. The other names are parts for runners of your own.
"""

from geex._query.jobs import Job
from geex._query.retrying_call import Caller
from geex._query.runners.dask import dask
from geex._query.runners.processes import processes
from geex._query.runners.ray import ray
from geex._query.runners.worker import PendingAnswer, PickledModel, PickledPlans, answer, pickled_model

__all__ = [
    "Caller",
    "Job",
    "PendingAnswer",
    "PickledModel",
    "PickledPlans",
    "answer",
    "dask",
    "pickled_model",
    "processes",
    "ray",
]
