"""How precisely the sum over the largest features is estimated, and how many queries a smaller error would take."""

from math import ceil

import numpy as np
from scipy.special import stdtrit

from geex._arrays.arrays import host, largest, like
from geex._protocols import Estimate

# The share of features whose total is estimated precisely.
TOP_SHARE = 0.1


# The confidence level of this total.
REACH_LEVEL = 0.95


# The largest number of queries that is computed.
MOST_QUERIES = 1e18


def leading(estimate: Estimate, output: int, share: float) -> np.ndarray:
    """Which features have the largest |ξ| (p,): a share of them, one at the least."""
    return largest(np.abs(host(estimate.values)[output]), share)


def reaches(estimate: Estimate, share: float = TOP_SHARE) -> np.ndarray:
    """Half the width of the 95% interval of the sum over the top features of every output (k,)."""
    tops = [leading(estimate, output, share) for output in range(estimate.values.shape[0])]
    quantile = float(stdtrit(estimate.freedom, 0.5 + REACH_LEVEL / 2))
    return quantile * sum_stderr(estimate, np.stack(tops).astype(np.float64))


def moved(now: Estimate, before: Estimate, output: int, share: float = TOP_SHARE) -> float:
    """How far the sum over the top features is from what it was at the look before."""
    top = leading(now, output, share)
    return abs(float(np.sum((host(now.values) - host(before.values))[output, top])))


def needed(queries: int, error: float, tolerance: float) -> int:
    """About how many queries bring an error down to a tolerance: errors fall as one over the root."""
    return ceil(min(queries * min(error / tolerance, MOST_QUERIES) ** 2, MOST_QUERIES))


def sum_stderr(estimate: Estimate, rows: np.ndarray) -> np.ndarray:
    """Return the standard error of the sum over each output's own features (k,), rows (k, p) of 0 and 1.

    It is joint where the estimate has joint errors, else as for independent ones.
    """
    joint = estimate.sum_over(like(rows, estimate.values))
    if joint is not None:
        return np.asarray(host(joint), np.float64)
    return np.asarray(np.sqrt(np.sum((host(estimate.stderr) * rows) ** 2, axis=1)))
