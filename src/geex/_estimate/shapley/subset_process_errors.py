"""Shapley values of the process over subsets, with standard errors.

    t_i = ω_i (ē_i / m − ∂ξ̂/∂d_i) r_i,    ω_i = κ_s / n_s,    m = 2 / (1 + 1/2 + … + 1/(q − 1))

r_i is what draw i is off from what all others make of it, and ē_i its contrasts less their mean. ξ̂ + Σ t_i is unbiased:
what the fit makes wrong of subsets comes back with their residuals. Its spread is that of the t_i, less for strata of
which n_s of all N_s were asked:

    Var = Σ_i (1 − n_s/N_s) t_i²

What was asked is known, so what the fit has left of it, ρ_i, belongs to the values. Of what was not, only where draws
were left out of the fit do the others say what it is off by:

    ξ = ξ̂ + Σ_i n_s/N_s ω_i ē_i ρ_i / m

Where the model has noise, all that makes the values unbiased, Δ = Σ_i t_i, may be it. Then the values are

    ξ = ξ̂ + (1 − c) Δ,    c = Σ_k Var[Δ_k] / |Δ|²,  at most 1,

after James and Stein.

Their error is that of the spread, or the fit's own, whichever is larger; of runs that are not fitted whole the latter
says nothing. Where x was queried once, ρ may be the model's noise, and is added to the latter.

Where the model has noise of variance v_i in d_i, the spread holds it for the share of a stratum that was not queried.
For the rest ρ_i r_i estimates it, whether v_i is the same for all draws or not. The noise of f(x) and f(x̊) is shared
out:

    Var = Σ_i (1 − n_s/N_s) t_i² + n_s/N_s (ω_i ē_i / m)² ρ_i r_i + Var[f(x) − f(x̊)] / q²

Draws that are hardly more than players agree with a sum of players by chance now and then, above all where a model
knows few numbers, as forests do. Until there are twice as many, a value is not held for known to better than

    (mean ξ̂²)½ (2 − n/q)½ / (1 + n − q)½,    both brackets at most 1 below q draws

Intervals are around the unbiased values: where draws are few a fit makes everything smaller, and sums of one sign most.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from geex._arrays.arrays import Array, host, like
from geex._arrays.blas import one_thread
from geex._estimate.answers import Answers
from geex._estimate.linear.prior_selection import evenly
from geex._estimate.shapley.learnt import Learnt
from geex._estimate.shapley.mirrored_answers import mirrored_answers
from geex._estimate.shapley.subset_process import Hyperparameters, SubsetProcess, select_hyperparameters
from geex._estimate.shapley.surrogate_selection import Fit, select_fit
from geex._estimate.shapley.tree_surrogate import SubsetAnswers
from geex._plan.subsets import Subsets, strata
from geex._problem.estimand import Note
from geex._protocols import Estimate, ModelNoise

# Players from which on residuals are compared with those of draws that had no part in θ and λ.
MANY_PLAYERS = 1024
FITTED = 1536  # draws that are fitted; the others say what the fit is off by


@dataclass(frozen=True, eq=False)
class OutputEstimate:
    """Values, what makes them unbiased, standard errors (r,) and degrees of freedom of one output.

    noise (r,): the variance that the noise of the draws' answers makes; 0 for a model without noise. left: the mean
    square of what the fit leaves, leave-one-out.
    """

    values: np.ndarray
    shift: np.ndarray
    stderr: np.ndarray
    freedom: float
    noise: np.ndarray
    left: float


@dataclass(frozen=True, eq=False)
class ShapleyEstimate(Estimate):
    """Contrasts e (n, q) of the players of p features, differences d (n, k), and f(x) − f(x̊) (k,), over sizes (k,).

    sides (n, 2, k): answers to subsets and their mirrors, less f(x̊), over sizes.
    rows (r, q): players whose sums are wanted, instead of the values of features. template: an array like those wanted.
    learnt: what other rows of a table have shown.
    """

    contrasts: np.ndarray
    differences: np.ndarray
    wholes: np.ndarray
    sizes: np.ndarray
    sides: np.ndarray
    players: tuple[int, ...]
    features: int
    template: Array
    rows: np.ndarray | None = None
    noise: ModelNoise | None = None
    notes: tuple[Note, ...] = (Note.FIT_OR_LEFT_OUT,)
    learnt: Learnt | None = None
    # fits by the noise of every output, shared by the estimates of sums and of other noise that are made of this one
    known_fits: dict[tuple[float, ...], list[Fit]] = field(default_factory=dict, repr=False)

    @property
    def _fits(self) -> list[Fit]:
        """θ and λ of every output, and trees where they are better; where the model has noise the process is alone."""
        known = tuple(noise or 0.0 for noise in self._draw_noise)
        if known not in self.known_fits:
            self.known_fits[known] = self._select_fits(np.array(known))
        return self.known_fits[known]

    def _select_fits(self, known: np.ndarray) -> list[Fit]:
        """known (k,): the variance of the noise of differences, 0 where there is none or it is not known."""
        if self.learnt is not None and self.learnt.enough and not known.any():
            plain = self.learnt.searched(self.players, self.contrasts, self.differences, self.wholes)
            return self._beside_trees(plain, known) if self.learnt.trees_help else [Fit(one) for one in plain]
        sums = np.vstack([self.sides.sum(axis=1), self.wholes])
        noise = known if known.any() else None
        plain = select_hyperparameters(self.contrasts, self.differences, self.wholes, sums, noise)
        fits = self._beside_trees(plain, known)
        if self.learnt is not None and noise is None:
            self.learnt.learn(self.players, plain[0], fits[0].trees is not None)
        return fits

    def _beside_trees(self, plain: list[Hyperparameters], known: np.ndarray) -> list[Fit]:
        """Return the fit of every output; with trees where they are better, and the model has no noise."""
        weights, unasked = self._weights
        shares = weights**2 * unasked
        return [
            Fit(one) if known[output] else select_fit(self._given(output, shares), one)
            for output, one in enumerate(plain)
        ]

    def _given(self, output: int, shares: np.ndarray) -> SubsetAnswers:
        shown, hidden = self.sides[:, 0, output], self.sides[:, 1, output]
        return SubsetAnswers(self.contrasts, shown, hidden, float(self.wholes[output]), shares)

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
        return like(np.zeros(len(self.wholes)) if self.noise is None else host(self.noise.ends), self.template)

    @property
    def left_over(self) -> Array:
        """The mean square of r over that of d (k,)."""
        whole = np.mean(self.differences**2, axis=0)
        return like(np.array([own.left for own in self._outputs]) / np.where(whole > 0, whole, 1), self.template)

    @property
    def noise_stderr(self) -> Array:
        """The part of the standard errors that is the model's noise: that of the draws and of f(x) and f(x̊)."""
        return self._over_features(
            [np.hypot(own.noise**0.5, ends) for own, ends in zip(self._outputs, self._ends, strict=True)]
        )

    def with_model_noise(self, noise: ModelNoise) -> "ShapleyEstimate":
        """The same for a model with noise (k,)."""
        return replace(self, noise=noise)

    @property
    def _ends(self) -> np.ndarray:
        """What the noise of f(x) and f(x̊) does to values, or sums over rows: the whole is shared out (k, r)."""
        shares = np.ones(len(self.players)) if self.rows is None else self.rows.sum(axis=1)
        noise = np.zeros(len(self.sizes)) if self.noise is None else host(self.noise.ends) / self.sizes
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
        outputs = zip(self.differences.T, self.wholes, self._fits, self._draw_noise, strict=True)
        with one_thread():
            return [self._estimate_output(own, float(whole), one, noise) for own, whole, one, noise in outputs]

    @property
    def _draw_noise(self) -> list[float | None]:
        """The variance of the noise of every output's differences, over its size; None: not known."""
        if self.noise is None:
            return [None] * len(self.sizes)
        found = 2 * (host(self.noise.draws) / self.sizes) ** 2
        ends = host(self.noise.answer) + host(self.noise.ends) > 0
        return [float(one) for one in np.where(ends, np.maximum(found, np.finfo(float).tiny), found)]

    def _estimate_output(self, differences: np.ndarray, whole: float, fit: Fit, noise: float | None) -> OutputEstimate:
        """noise: the variance of the noise of d; 0: there is none; None: not known."""
        fitted, trees = evenly(differences[:, None], FITTED), fit.values(len(self.players))
        differences, whole = differences - fit.predicted, whole - float(trees.sum())
        process = SubsetProcess(self.contrasts[fitted], differences[fitted], whole, fit.hyperparameters)
        left, slopes = differences - process.predicted(self.contrasts), np.zeros(self.contrasts.shape)
        residuals = left.copy()
        residuals[fitted], slopes[fitted] = process.residuals, process.slopes
        weights, unasked = self._weights
        rows = np.eye(len(self.players)) if self.rows is None else self.rows
        steps, moved = (self._steps, slopes) if self.rows is None else (self._steps @ rows.T, slopes @ rows.T)
        terms = (weights * residuals)[:, None] * (steps - moved)
        known = (weights * (1 - unasked) * left)[:, None] * steps
        values, shift = rows @ process.values + known.sum(axis=0), unasked @ terms
        if noise:
            values, shift = self._shrunken(process, left, residuals, slopes, rows)
        elif len(fitted) < len(differences):
            values, shift = values + shift, 0 * shift
        values = values + rows @ trees
        spread = unasked @ terms**2 * len(terms) / max(1, len(terms) - 1)
        if len(self.players) > MANY_PLAYERS:
            spread = spread * self._optimism(differences, whole) ** 2
        own = (noise is None) * np.sum(known[fitted] ** 2, axis=0) * len(terms) / len(fitted)
        if len(fitted) == len(differences):
            covariance = process.covariance
            unequal = rows - rows.mean(axis=1, keepdims=True)  # the sum of all is known, but for rounding
            within = np.diagonal(covariance) if self.rows is None else np.sum((unequal @ covariance) * unequal, axis=1)
            own = own + within
        own = np.maximum(own, np.mean((process.values + trees) ** 2) * unresolved(len(terms), rows))
        off = unasked * (weights * residuals) ** 2
        part = 0 * spread
        if noise:
            off = (weights * residuals) ** 2
            left_over = np.maximum(left * residuals, 0)
            model = (weights**2 * left_over)[:, None] * steps**2
            spread = spread + (1 - unasked) @ model
            part = min(1.0, noise / max(np.mean(left_over), noise)) * model.sum(axis=0)
        freedom = off.sum() ** 2 / np.sum(off**2) - 1 if off.any() else 1.0
        error = np.sqrt(np.maximum(spread, np.maximum(own, 0)))
        return OutputEstimate(values, shift, error, max(1.0, freedom), part, float(np.mean(residuals**2)))

    def _shrunken(
        self, process: SubsetProcess, left: np.ndarray, residuals: np.ndarray, slopes: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return values of a model with noise, for rows over players, and what makes them unbiased."""
        weights, unasked = self._weights
        own = weights * (unasked * residuals + (1 - unasked) * left)
        more = self._steps.T @ own - slopes.T @ (weights * unasked * residuals)
        noise = float(np.sum(own**2 * np.sum(self._steps**2, axis=1)))
        share = min(1.0, noise / max(float(more @ more), np.finfo(float).tiny))
        return rows @ (process.values + (1 - share) * more), rows @ (share * more)

    def _optimism(self, differences: np.ndarray, whole: float) -> float:
        """Return how much larger residuals are of draws that had no part in θ and λ.

        Of far more players than draws, θ follows the answers so closely that leaving one out hardly shows it.
        """
        found = []
        for first in (0, 1):
            half = np.arange(len(differences)) % 2 == first
            own = select_hyperparameters(self.contrasts[half], differences[half, None], np.array([whole]))[0]
            process = SubsetProcess(self.contrasts[half], differences[half], whole, own)
            others = differences[~half] - process.predicted(self.contrasts[~half])
            found.append((np.mean(others**2), np.mean(process.residuals**2)))
        apart, within = np.sum(found, axis=0)
        return max(1.0, float(np.sqrt(apart / within))) if within > 0 else 1.0

    @cached_property
    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        return draw_weights(self.contrasts)

    @property
    def _steps(self) -> np.ndarray:
        """ē / m (n, q)."""
        centred = self.contrasts - self.contrasts.mean(axis=1, keepdims=True)
        return np.asarray(centred * sum(1 / size for size in range(1, len(self.players))) / 2)


def draw_weights(contrasts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ω and 1 − n_s/N_s of every draw (n,) of contrasts (n, q)."""
    q = contrasts.shape[1]
    shown = np.sum(contrasts > 0, axis=1)
    sizes = np.minimum(shown, q - shown)
    members, kappa = strata(q)
    asked = np.bincount(sizes, minlength=len(members) + 1)[sizes]
    return kappa[sizes - 1] / asked, np.maximum(0.0, 1 - asked / members[sizes - 1])


def unresolved(draws: int, rows: np.ndarray) -> np.ndarray:
    """How much of the square of a value so few draws cannot tell of sums over rows (r, q); of the whole nothing."""
    q = rows.shape[1]
    share = np.clip(2 - draws / q, 0, 1) / (1 + max(0, draws - q))
    players = rows.sum(axis=1)
    return np.asarray(share * players * (1 - players / q))


def estimate_shapley(answers: Answers) -> ShapleyEstimate:
    """Return the process over subsets, beside trees where they are better, fitted to the answers."""
    plan = answers.plan
    search: Subsets = plan.search  # type: ignore[assignment]
    ends = host(answers.ends_scored).astype(np.float64)
    rows, both = mirrored_answers(answers)
    d, wholes = both[:, 0, :] - both[:, 1, :], ends[0] - ends[1]
    sizes = np.maximum(np.abs(d).max(axis=0), np.abs(wholes))
    sizes = np.where(sizes > 0, sizes, 1.0)  # of answers of any size, near 1
    d, wholes, both = d / sizes, wholes / sizes, (both - ends[1]) / sizes
    features = prod(plan.features.shape(tuple(plan.explicand.shape)))
    return ShapleyEstimate(rows, d, wholes, sizes, both, search.players, features, answers.ends, learnt=answers.learnt)
