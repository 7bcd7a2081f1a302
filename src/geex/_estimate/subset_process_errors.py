"""Shapley values of the process over subsets, with standard errors.

    t_i = ω_i (ē_i / m − ∂ξ̂/∂d_i) r_i,    ω_i = κ_s / n_s,    m = 2 / (1 + 1/2 + … + 1/(q − 1))

r_i is what draw i is off from what all others make of it, and ē_i its contrasts less their mean. ξ̂ + Σ t_i is unbiased:
what the fit makes wrong of subsets comes back with their residuals. Its spread is that of the t_i, less for strata of
which n_s of all N_s were asked:

    Var = Σ_i (1 − n_s/N_s) t_i²

What was asked is known, so what the fit has left of it, ρ_i, belongs to the values. Of what was not, only where draws
were left out of the fit do the others say what it is off by:

    ξ = ξ̂ + Σ_i n_s/N_s ω_i ē_i ρ_i / m

Their error is that of the spread, or the fit's own, whichever is larger; of runs that are not fitted whole the latter
says nothing. Where the model was not seen to answer the same twice, ρ may be its noise, and is added to the latter; and
the noise of f(x) and f(x̊) is shared out.
Draws that are hardly more than players agree with a sum of players by chance now and then, above all where a model
knows few numbers, as forests do. Until there are twice as many, a value is not held for known to better than

    (mean ξ̂²)½ (2 − n/q)½ / (1 + n − q)½,    both brackets at most 1 below q draws

Intervals are around the unbiased values: where draws are few a fit makes everything smaller, and sums of one sign most.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._arrays.blas import one_thread
from geex._estimate.answers import Answers
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.subset_process import Hyperparameters, SubsetProcess, select_hyperparameters
from geex._plan.subsets import Subsets, strata
from geex._problem.estimand import Note
from geex._protocols import Estimate

FITTED = 1536  # draws that are fitted; the others say what the fit is off by


@dataclass(frozen=True, eq=False)
class OutputEstimate:
    """Values, what makes them unbiased, standard errors (r,) and degrees of freedom of one output."""

    values: np.ndarray
    shift: np.ndarray
    stderr: np.ndarray
    freedom: float


@dataclass(frozen=True, eq=False)
class ShapleyEstimate(Estimate):
    """Contrasts e (n, q) of the players of p features, differences d (n, k), and f(x) − f(x̊) (k,), over sizes (k,).

    rows (r, q): players whose sums are wanted, instead of the values of features. template: an array like those wanted.
    """

    contrasts: np.ndarray
    differences: np.ndarray
    wholes: np.ndarray
    sizes: np.ndarray
    hyperparameters: list[Hyperparameters]
    players: tuple[int, ...]
    features: int
    template: Array
    rows: np.ndarray | None = None
    noise: np.ndarray | None = None
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
        """The sum is known, but for the noise of f(x) and f(x̊)."""
        return like(np.zeros(len(self.wholes)) if self.noise is None else 2**0.5 * self.noise, self.template)

    def with_model_noise(self, noise: Array) -> "ShapleyEstimate":
        """The same for a model with noise (k,)."""
        return replace(self, noise=host(noise))

    @property
    def _ends(self) -> np.ndarray:
        """What the noise of f(x) and f(x̊) does to values, or sums over rows: the whole is shared out (k, r)."""
        shares = np.ones(len(self.players)) if self.rows is None else self.rows.sum(axis=1)
        noise = np.zeros(len(self.sizes)) if self.noise is None else 2**0.5 * self.noise / self.sizes
        return np.outer(noise, shares / len(self.players))

    @property
    def freedom(self) -> float:
        return min((found.freedom for found in self._outputs if found.stderr.any()), default=1.0)

    def over(self, rows: Array) -> "ShapleyEstimate":
        """Of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return replace(self, rows=np.asarray(host(rows)[:, list(self.players)], float))

    def sum_over(self, rows: Array) -> Array:
        """The joint standard error of every output's sum over its own region (k,), rows (k, p) of 0 and 1, and what the
        fit seems to be off by."""
        summed = self.over(rows)
        both = [np.hypot(one.stderr[output], one.shift[output]) for output, one in enumerate(summed._outputs)]
        return like(np.hypot(both, np.diagonal(summed._ends)) * self.sizes, self.template)

    def _over_features(self, found: list[np.ndarray]) -> Array:
        """Rows over players as rows over features; sums as they are."""
        rows = np.stack(found) * self.sizes[:, None]
        if self.rows is not None:
            return like(rows, self.template)
        everywhere = np.zeros((len(found), self.features))
        everywhere[:, list(self.players)] = rows
        return like(everywhere, self.template)

    @cached_property
    def _outputs(self) -> list[OutputEstimate]:
        steady = np.zeros(len(self.sizes), bool) if self.noise is None else self.noise == 0
        outputs = zip(self.differences.T, self.wholes, self.hyperparameters, steady, strict=True)
        with one_thread():
            return [self._estimate_output(own, float(whole), one, bool(same)) for own, whole, one, same in outputs]

    def _estimate_output(
        self, differences: np.ndarray, whole: float, hyperparameters: Hyperparameters, steady: bool
    ) -> OutputEstimate:
        fitted = evenly(differences[:, None], FITTED)
        process = SubsetProcess(self.contrasts[fitted], differences[fitted], whole, hyperparameters)
        left, slopes = differences - process.predicted(self.contrasts), np.zeros(self.contrasts.shape)
        residuals = left.copy()
        residuals[fitted], slopes[fitted] = process.residuals, process.slopes
        weights, unasked = self._weights
        rows = np.eye(len(self.players)) if self.rows is None else self.rows
        steps = self._steps @ rows.T
        terms = (weights * residuals)[:, None] * (steps - slopes @ rows.T)
        known = (weights * (1 - unasked) * left)[:, None] * steps
        values, shift = rows @ process.values + known.sum(axis=0), unasked @ terms
        if len(fitted) < len(differences):
            values, shift = values + shift, 0 * shift
        spread = unasked @ terms**2 * len(terms) / max(1, len(terms) - 1)
        own = (not steady) * np.sum(known[fitted] ** 2, axis=0) * len(terms) / len(fitted)
        if len(fitted) == len(differences):
            own = own + np.sum((rows @ process.covariance) * rows, axis=1)
        own = np.maximum(own, np.mean(process.values**2) * unresolved(len(terms), rows))
        off = unasked * (weights * residuals) ** 2
        freedom = off.sum() ** 2 / np.sum(off**2) - 1 if off.any() else 1.0
        return OutputEstimate(values, shift, np.sqrt(np.maximum(spread, np.maximum(own, 0))), max(1.0, freedom))

    @cached_property
    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        """ω and 1 − n_s/N_s of every draw (n,)."""
        q = len(self.players)
        shown = np.sum(self.contrasts > 0, axis=1)
        sizes = np.minimum(shown, q - shown)
        members, kappa = strata(q)
        asked = np.bincount(sizes, minlength=len(members) + 1)[sizes]
        return kappa[sizes - 1] / asked, 1 - asked / members[sizes - 1]

    @property
    def _steps(self) -> np.ndarray:
        """ē / m (n, q)."""
        centred = self.contrasts - self.contrasts.mean(axis=1, keepdims=True)
        return np.asarray(centred * sum(1 / size for size in range(1, len(self.players))) / 2)


def unresolved(draws: int, rows: np.ndarray) -> np.ndarray:
    """How much of the square of a value so few draws cannot tell of sums over rows (r, q); of the whole nothing."""
    q = rows.shape[1]
    share = np.clip(2 - draws / q, 0, 1) / (1 + max(0, draws - q))
    players = rows.sum(axis=1)
    return np.asarray(share * players * (1 - players / q))


def estimate_shapley(answers: Answers) -> ShapleyEstimate:
    """Return the process over subsets, fitted to the answers."""
    plan = answers.plan
    search: Subsets = plan.search  # type: ignore[assignment]
    contrasts, differences = [], []
    for chunk, raw in answers.chunks:
        outputs = host(answers.outputs(raw)).astype(np.float64).reshape(chunk.count, 2, -1)
        differences.append(outputs[:, 0, :] - outputs[:, 1, :])
        contrasts.append(2.0 * (host(chunk.draws.noise)[:, list(search.players)] > 0) - 1)
    both = host(answers.ends_scored).astype(np.float64)
    rows, d, wholes = np.concatenate(contrasts), np.concatenate(differences), both[0] - both[1]
    sizes = np.maximum(np.abs(d).max(axis=0), np.abs(wholes))
    sizes = np.where(sizes > 0, sizes, 1.0)  # of answers of any size, near 1
    d, wholes = d / sizes, wholes / sizes
    features = prod(plan.features.shape(tuple(plan.explicand.shape)))
    if answers.learnt is None:
        found = select_hyperparameters(rows, d, wholes)
    else:
        found = answers.learnt.selected(search.players, rows, d, wholes)
    return ShapleyEstimate(rows, d, wholes, sizes, found, search.players, features, answers.ends)
