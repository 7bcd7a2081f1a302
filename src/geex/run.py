"""Where queries are answered: `run=geex.run.processes(n)`, `dask(address)` or `ray(address)`.

The result has the same bytes wherever that is. A worker is sent plans and the numbers of rows, makes the queries from
the seed, and sends back answers.
"""

from geex._query.runners.dask import dask
from geex._query.runners.processes import processes
from geex._query.runners.ray import ray

__all__ = ["dask", "processes", "ray"]
