"""What the first rows of a table show about a model's interactions, for all later rows.

The rows that teach are the first ones. Each gets θ, its total and the noise of its own (`subset_process.py`). A later row
tries their mean θ̄ of every feature, divided among the features that differ from its baseline, with few totals:

    θ_k = T θ̄_k / Σ_j θ̄_j,    T = the median, and others that were as likely

and once more with θ that follows its own values. It takes what has most evidence of its own answers.
"""

from dataclasses import dataclass, field

import numpy as np

from geex._arrays.blas import one_thread
from geex._estimate.subset_process import (
    SHAPES,
    Hyperparameters,
    SubsetProcess,
    _most_likely,
    select_hyperparameters,
)

# Rows that teach.
TEACHERS = 20
# Shares of the teachers' totals that later rows try.
QUANTILES = (0.2, 0.8)
# θ of a feature that never differed from the baseline, as a share of the mean of others.
UNSEEN = 0.05


@dataclass(eq=False)
class Learnt:
    """The hyperparameters of the rows so far that teach: totals of θ, and θ of every feature where it is a player."""

    totals: list[float] = field(default_factory=list)
    theta: dict[int, list[float]] = field(default_factory=dict)

    def selected(
        self, players: tuple[int, ...], contrasts: np.ndarray, differences: np.ndarray, wholes: np.ndarray
    ) -> list[Hyperparameters]:
        """Return the hyperparameters of a row with contrasts (n, q), d (n, 1) and f(x) − f(x̊) (1,)."""
        if len(self.totals) < TEACHERS:
            found = select_hyperparameters(contrasts, differences, wholes)
            self._learn(players, found[0])
            return found
        return [self._tried(players, contrasts, differences, wholes)]

    def _learn(self, players: tuple[int, ...], found: Hyperparameters) -> None:
        total = float(found.theta.sum())
        self.totals.append(total)
        for player, theta in zip(players, found.theta, strict=True):
            self.theta.setdefault(player, []).append(float(theta) / total)

    @one_thread()
    def _tried(
        self, players: tuple[int, ...], contrasts: np.ndarray, differences: np.ndarray, wholes: np.ndarray
    ) -> Hyperparameters:
        rows = np.vstack([contrasts, np.ones(contrasts.shape[1])])
        answers = np.vstack([differences, wholes])
        totals = np.unique(np.quantile(self.totals, QUANTILES))
        best = _most_likely(rows, answers, self._shape(players), totals)[0]
        values = np.abs(SubsetProcess(contrasts, differences[:, 0], float(wholes[0]), best).values)
        size = float(np.sqrt(np.mean(values**2)))
        if not 0 < size < np.inf:
            return best
        power, floor = SHAPES[0]
        own = _most_likely(rows, answers, (values / size) ** power + floor, np.array([best.theta.sum()]))[0]
        return max(best, own, key=lambda one: one.evidence)

    def _shape(self, players: tuple[int, ...]) -> np.ndarray:
        """Return the mean share of θ of every player (q,)."""
        known = {player: float(np.mean(shares)) for player, shares in self.theta.items()}
        unseen = UNSEEN * float(np.mean(list(known.values())))
        return np.array([known.get(player, unseen) for player in players])
