"""What the process that is killed does: `python -m tests.system.killed url journal` explains, and prints its bits."""

import sys

import numpy as np

import geex
from geex.models import http

ROWS, AT_A_TIME, QUERIES = 10, 4, 5000
X = np.linspace(-0.6, 0.9, 24)


def explained(url, journal=None):
    limits = geex.Limits(concurrency=AT_A_TIME, rows=ROWS, attempts=12, backoff=0.01, twice=False)
    model = http(url, request={"rows": "{rows}"}, response="scores", timeout=1.0, limits=limits)
    return geex.explain(
        model, X, method=geex.GEEX(sigma=0.4), queries=QUERIES, target=0, journal=journal, progress=False
    )


def bits(found):
    return f"{found.values.tobytes().hex()} {found.stderr.tobytes().hex()} {found.queries}"


if __name__ == "__main__":
    print(bits(explained(*sys.argv[1:])))
