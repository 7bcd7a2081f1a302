"""Whether trees stand beside the process: f = g + a process over subsets, or the process alone.

Trees suit steps and the process everything else. Both are measured by what they are off by at draws that they were not
fitted to, with the weight that a draw has in Shapley values:

    Σ_i ω_i² (1 − n_s/N_s) r_i²

The draws are left out in folds. One at a time is less work, but θ was chosen with all of them, so the process looks
better than it is. That error is used where it decides: trees that are far off, and which of two kinds of trees.
"""

from dataclasses import dataclass

import numpy as np

from geex._arrays.blas import one_thread
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.shapley.subset_process import Hyperparameters, SubsetProcess, select_hyperparameters
from geex._estimate.shapley.tree_surrogate import BOOSTED, FOLDS, SINGLE, SubsetAnswers, TreeSurrogate, fit_trees

# How much of the error of the process alone trees may have.
MARGIN = 0.8
# Trees that are off by this much more than the process seems to be are given up.
FAR_OFF = 4.0
# The share of what answers differ by that the process alone must leave for boosted trees to be tried.
WORTH = 1e-3
# The fewest draws for which trees are tried.
FEWEST = 20
# The draws that are left out one at a time.
COMPARED = 512
# The draws that are left out in folds.
COMPARED_IN_FOLDS = 256


@dataclass(frozen=True, eq=False)
class Fit:
    """The hyperparameters of the process, and the trees beside it: none, with g = 0."""

    hyperparameters: Hyperparameters
    trees: TreeSurrogate | None = None

    @property
    def predicted(self) -> np.ndarray | float:
        """g of every draw (n,), or 0."""
        return 0.0 if self.trees is None else self.trees.predicted

    def values(self, q: int) -> np.ndarray:
        """Return the values of the trees (q,)."""
        return np.zeros(q) if self.trees is None else self.trees.values


@one_thread()
def select_fit(given: SubsetAnswers, plain: Hyperparameters) -> Fit:
    """Return the fit with the least error; that of the process alone unless trees are clearly better."""
    best = Fit(plain)
    differences = given.shown - given.hidden
    size = float(np.average(differences**2, weights=given.shares))
    if len(differences) < FEWEST or not given.shares.any():
        return best
    alone = _error(given, best)
    forests = [fit_trees(given, growth, alone) for growth in (SINGLE, BOOSTED)[: 2 if alone > WORTH * size else 1]]
    near = [trees for trees in forests if trees.error < FAR_OFF * alone]
    limit = MARGIN * _folded_error(given) if near else 0.0
    fits = [_beside(given, trees) for trees in near if trees.error < limit]
    return min(fits, key=lambda fit: _error(given, fit), default=best)


def _beside(given: SubsetAnswers, trees: TreeSurrogate) -> Fit:
    """Return trees with the process that is fitted to what they leave."""
    left, whole = given.shown - given.hidden - trees.predicted, given.whole - trees.values.sum()
    sums = given.sums - trees.sums
    return Fit(select_hyperparameters(given.contrasts, left[:, None], np.array([whole]), sums[:, None])[0], trees)


def _folded_error(given: SubsetAnswers) -> float:
    """Return the weighted mean square of what the process alone is off by at draws that are left out in folds."""
    which = evenly(given.shown, COMPARED_IN_FOLDS)
    contrasts, d, shares = given.contrasts[which], (given.shown - given.hidden)[which], given.shares[which]
    sums, whole = given.sums[np.append(which, len(given.sums) - 1), None], np.array([given.whole])
    off = np.zeros(len(d))
    for fold in range(FOLDS):
        out = np.arange(len(d)) % FOLDS == fold
        chosen = select_hyperparameters(contrasts[~out], d[~out, None], whole, sums[np.append(~out, True)])[0]
        off[out] = d[out] - SubsetProcess(contrasts[~out], d[~out], given.whole, chosen).predicted(contrasts[out])
    return float(np.average(off**2, weights=shares)) if shares.any() else 0.0


def _error(given: SubsetAnswers, fit: Fit) -> float:
    """Return the weighted mean square of what draws are off by when they are left out."""
    which = evenly(given.shown, COMPARED)
    left = (given.shown - given.hidden - fit.predicted)[which]
    whole = given.whole - float(fit.values(given.contrasts.shape[1]).sum())
    process = SubsetProcess(given.contrasts[which], left, whole, fit.hyperparameters)
    shares = given.shares[which]
    return float(np.sum(shares * process.residuals**2) / max(float(shares.sum()), 1e-300))
