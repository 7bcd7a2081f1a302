"""What the process that is killed does: `python -m tests.system.killed_table journal log` explains a table."""

import sys
import time

import numpy as np

import geex

ROWS = np.random.default_rng(2).normal(size=(30, 8))
QUERIES, BATCH = 40, 32


class Slow:
    """A model that takes a while, and writes how many rows it has answered."""

    def __init__(self, log, seconds=0.02):
        self.log, self.seconds = log, seconds

    def __call__(self, z):
        time.sleep(self.seconds)
        with open(self.log, "a") as file:
            file.write(f"{len(z)}\n")
        return np.tanh(z.sum(axis=1)) + z[:, 0] * z[:, 1] * z[:, 2]


def explained(log, journal=None, seconds=0.02):
    limits = geex.Limits(compare=False)
    settings = {"queries": QUERIES, "batch": BATCH, "limits": limits, "progress": False}
    return geex.explain_table(Slow(log, seconds), ROWS, journal=journal, **settings)


def bits(found):
    return f"{found.values.tobytes().hex()} {found.stderr.tobytes().hex()}"


if __name__ == "__main__":
    print(bits(explained(sys.argv[2], sys.argv[1])))
