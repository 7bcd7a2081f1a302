"""Where queries are answered: `run=geex.run.threads(n)`, `processes(n)` or `dask(address)`."""

from geex.run.threads import threads

__all__ = ["threads"]
