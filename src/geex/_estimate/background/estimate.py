"""Shapley values over a background, with standard errors: those of `subset_process_errors.py`, over pairs.

    t_i = A ω_i (ē_i / m − ∂ξ̂/∂d_i) r_i,    ω_i = κ_s / n_s,    A = the share of rows that differ from x

r_i is a leave-one-out residual. ξ̂ + Σ t_i is unbiased, since every stratum's pairs are drawn evenly over rows and
subsets. Var = Σ_i (1 − n_s/(N_s R)) t_i², or the fit's own variance if that is more. So the spread over rows is in the
errors: what no query has shown of the other rows of the background is in the residuals.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._arrays.blas import one_thread
from geex._estimate.answers import Answers
from geex._estimate.background.process import Pairs, RowProcess, Selected, select_hyperparameters
from geex._estimate.background.similarity import Similarities, similarities
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.shapley.subset_process_errors import OutputEstimate, unresolved
from geex._plan.row_subsets import RowSubsets
from geex._plan.subsets import strata
from geex._problem.estimand import Note
from geex._protocols import Estimate, ModelNoise

# Draws that are fitted, beside the wholes; the residuals of the others count as they are.
FITTED_DRAWS = 1280


@dataclass(frozen=True, eq=False)
class BackgroundEstimate(Estimate):
    """Pairs (n,), their differences d (n, k) and f(x) − f(b) of all rows (rows, k), over sizes (k,).

    regions (r, q): players whose sums are wanted, instead of the values of features. template: an array like those
    wanted. noise (k,): the model's own.
    """

    search: RowSubsets
    pairs: Pairs
    differences: np.ndarray
    wholes: np.ndarray
    sizes: np.ndarray
    similar: Similarities
    hyperparameters: list[Selected]
    features: int
    template: Array
    regions: np.ndarray | None = None
    noise: ModelNoise | None = None
    notes: tuple[Note, ...] = (Note.FIT_OR_LEFT_OUT,)

    @property
    def values(self) -> Array:
        return self._over_features([found.values for found in self._outputs])

    @property
    def stderr(self) -> Array:
        return self._over_features(
            [np.hypot(own.stderr, ends) for own, ends in zip(self._outputs, self._ends, strict=True)]
        )

    @property
    def centre(self) -> Array:
        """What intervals are around: the unbiased values."""
        return self._over_features([found.values + found.shift for found in self._outputs])

    @property
    def sum_stderr(self) -> Array:
        """The sum is exact, but for the noise of f(x) and of the rows."""
        return like(self._ends_noise * self.sizes, self.template)

    @property
    def freedom(self) -> float:
        return min((found.freedom for found in self._outputs if found.stderr.any()), default=1.0)

    def with_model_noise(self, noise: ModelNoise) -> "BackgroundEstimate":
        return replace(self, noise=noise)

    def over(self, rows: Array) -> "BackgroundEstimate":
        return replace(self, regions=np.asarray(host(rows)[:, list(self.search.players)], float))

    def sum_over(self, rows: Array) -> Array:
        summed = self.over(rows)
        both = [np.hypot(one.stderr[output], one.shift[output]) for output, one in enumerate(summed._outputs)]
        return like(np.hypot(both, np.diagonal(summed._ends)) * self.sizes, self.template)

    @property
    def _ends_noise(self) -> np.ndarray:
        """The noise of the mean of f(x) − f(b) (k,): of the answers for x, and of one to every row."""
        return np.asarray(np.zeros(len(self.sizes)) if self.noise is None else host(self.noise.ends) / self.sizes)

    @property
    def _ends(self) -> np.ndarray:
        """What that noise does to values, or sums over regions: it is shared out (k, r)."""
        shares = np.ones(len(self.search.players)) if self.regions is None else self.regions.sum(axis=1)
        return np.outer(self._ends_noise, shares / len(self.search.players))

    def _over_features(self, found: list[np.ndarray]) -> Array:
        """Rows over players as rows over features; sums as they are."""
        rows = np.stack(found) * self.sizes[:, None]
        if self.regions is not None:
            return like(rows, self.template)
        everywhere = np.zeros((len(found), self.features))
        everywhere[:, list(self.search.players)] = rows
        return like(everywhere, self.template)

    @cached_property
    def _outputs(self) -> list[OutputEstimate]:
        steady = np.zeros(len(self.sizes), bool) if self.noise is None else host(self.noise.answer) == 0
        outputs = zip(self.differences.T, self.wholes.T, self.hyperparameters, steady, strict=True)
        with one_thread():
            return [self._estimate_output(own, wholes, one, bool(same)) for own, wholes, one, same in outputs]

    def _estimate_output(
        self, differences: np.ndarray, wholes: np.ndarray, selected: Selected, steady: bool
    ) -> OutputEstimate:
        fitted = evenly(differences[:, None], FITTED_DRAWS)
        active = np.array(self.search.background)
        likeness = self.similar.mixed(selected.line)
        process = RowProcess(self.pairs.some(fitted), differences[fitted], wholes, likeness, active, selected)
        left, slopes = differences - process.predicted(self.pairs), np.zeros(self.pairs.contrasts.shape)
        residuals = left.copy()
        residuals[fitted], slopes[fitted] = process.residuals, process.slopes
        weights, unqueried = self._weights
        regions = np.eye(len(self.search.players)) if self.regions is None else self.regions
        steps = self._steps @ regions.T
        terms = (weights * residuals)[:, None] * (steps - slopes @ regions.T)
        known = (weights * (1 - unqueried) * left)[:, None] * steps
        values, shift = regions @ process.values + known.sum(axis=0), unqueried @ terms
        if len(fitted) < len(differences):
            values, shift = values + shift, 0 * shift
        spread = unqueried @ terms**2 * len(terms) / max(1, len(terms) - 1)
        own = (not steady) * np.sum(known[fitted] ** 2, axis=0) * len(terms) / len(fitted)
        if len(fitted) == len(differences) and unqueried.any():
            own = own + np.sum((regions @ process.covariance) * regions, axis=1)
        own = np.maximum(own, np.mean(process.values**2) * unresolved(len(terms), regions))
        off = unqueried * (weights * residuals) ** 2
        freedom = off.sum() ** 2 / np.sum(off**2) - 1 if off.any() else 1.0
        error = np.sqrt(np.maximum(spread, np.maximum(own, 0)))
        share = len(active) / len(wholes)
        square = float(np.mean(residuals**2))
        return OutputEstimate(share * values, share * shift, share * error, max(1.0, freedom), 0 * error, square)

    @cached_property
    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        """ω and the share of its stratum that was not queried, of every draw (n,)."""
        q = len(self.search.players)
        shown = np.sum(self.pairs.contrasts > 0, axis=1)
        sizes = np.minimum(shown, q - shown)
        members, kappa = strata(q)
        queried = np.bincount(sizes, minlength=len(members) + 1)[sizes]
        return kappa[sizes - 1] / queried, 1 - queried / (members[sizes - 1] * len(self.search.background))

    @property
    def _steps(self) -> np.ndarray:
        """ē / m (n, q)."""
        contrasts = self.pairs.contrasts
        centred = contrasts - contrasts.mean(axis=1, keepdims=True)
        return np.asarray(centred * sum(1 / size for size in range(1, len(self.search.players))) / 2)


def estimate_over_background(answers: Answers) -> BackgroundEstimate:
    """Return the process over pairs of a subset and a row, fitted to the answers."""
    plan = answers.plan
    search: RowSubsets = plan.search  # type: ignore[assignment]
    contrasts, rows, differences = [], [], []
    for chunk, raw in answers.chunks:
        outputs = host(answers.outputs(raw)).astype(np.float64).reshape(chunk.count, 2, -1)
        differences.append(outputs[:, 0, :] - outputs[:, 1, :])
        contrasts.append(2.0 * (host(chunk.draws.noise)[:, list(search.players)] > 0) - 1)
        rows.append(np.asarray(chunk.draws.rows))
    ends = host(answers.all_ends_scored).astype(np.float64)
    wholes, d = ends[0] - ends[1:], np.concatenate(differences)
    sizes = np.maximum(np.abs(d).max(axis=0), np.abs(wholes).max(axis=0))
    sizes = np.where(sizes > 0, sizes, 1.0)  # answers of any size become numbers near 1
    d, wholes = d / sizes, wholes / sizes
    pairs = Pairs(np.concatenate(contrasts), np.concatenate(rows))
    active = np.array(search.background)
    similar = similarities(plan.explicand, plan.baseline, plan.features, search.players)
    found = [
        select_hyperparameters(pairs, own, whole, similar, active) for own, whole in zip(d.T, wholes.T, strict=True)
    ]
    count = prod(plan.features.shape(tuple(plan.explicand.shape)))
    return BackgroundEstimate(search, pairs, d, wholes, sizes, similar, found, count, answers.ends)
