"""Where queries are answered: `run=geex.run.threads(n)`, `processes(n)` or `dask(address)`.

The result has the same bytes wherever that is. A worker is sent plans and the numbers of rows, makes the queries from
the seed, and sends back answers.
"""

from geex.run.on_dask import dask
from geex.run.on_processes import processes
from geex.run.on_threads import threads

__all__ = ["dask", "processes", "threads"]
