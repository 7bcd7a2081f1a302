"""How alike two rows of a background are, feature by feature, when they stand for its absence.

What feature k does to a row b is a function h_k(b_k) of the value that it takes away, and h_k(x_k) = 0: nothing changes
where the row has the value of x. Its prior is a mixture of a random walk and a line, both from x_k on:

    Cov(h_k(b), h_k(b')) = g_k(b, b') = (1 − w) min(|r|, |r'|), where r and r' are on one side of x_k, else 0    (steps)
                                      + w a a',   a = (b_k − x_k)/sd                                             (line)

r is the share of rows between b_k and x_k. Both parts are scaled to mean 1 over the rows. A feature of several elements
has the mean of theirs.
"""

from dataclasses import dataclass

import numpy as np

from geex._arrays.arrays import Array, host
from geex._protocols import Features


@dataclass(frozen=True, eq=False)
class Similarities:
    """Both parts of g (players, rows, rows)."""

    steps: np.ndarray
    line: np.ndarray

    def mixed(self, line: float) -> np.ndarray:
        """Return g with a share of the line."""
        return np.asarray((1 - line) * self.steps + line * self.line)


def similarities(explicand: Array, background: Array, features: Features, players: tuple[int, ...]) -> Similarities:
    """Return the similarities of the rows of a background (rows, *shape)."""
    x, rows = host(explicand).astype(np.float64).ravel(), host(background).astype(np.float64)
    rows = rows.reshape(len(rows), -1)
    feature = features.index(tuple(explicand.shape)).ravel()
    steps, line = np.zeros((2, len(players), len(rows), len(rows)))
    for number, player in enumerate(players):
        for element in np.flatnonzero(feature == player):
            steps[number] += _scaled(_steps(float(x[element]), rows[:, element]))
            line[number] += _scaled(np.outer(rows[:, element] - x[element], rows[:, element] - x[element]))
        steps[number], line[number] = _scaled(steps[number]), _scaled(line[number])
    return Similarities(steps, line)


def _steps(x: float, values: np.ndarray) -> np.ndarray:
    """Return the covariance (rows, rows) of a random walk from x on."""
    between = _between(x, values)
    sides = np.maximum(between, 0), np.maximum(-between, 0)
    return np.asarray(sum(np.minimum.outer(side, side) for side in sides))


def _scaled(covariance: np.ndarray) -> np.ndarray:
    """Return a covariance with mean variance 1; 0 where no row differs."""
    size = float(np.mean(np.diagonal(covariance)))
    return covariance / size if 0 < size < np.inf else 0 * covariance


def _between(x: float, values: np.ndarray) -> np.ndarray:
    """Return the share of rows from x to each value, its own included; negative for values below x."""
    ordered = np.sort(values)
    above = np.searchsorted(ordered, values, "right") - np.searchsorted(ordered, x, "right")
    below = np.searchsorted(ordered, x, "left") - np.searchsorted(ordered, values, "left")
    return np.where(values > x, above, np.where(values < x, -below, 0)) / len(values)
