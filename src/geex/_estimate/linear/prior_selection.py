"""Which D, K and λ: by the marginal likelihood of a few hundred draws, for every output by itself.

So few draws hardly tell one width of K from the next, and the best of them by a hair is now and then far too narrow.
All that come near the best are averaged instead, and λ is chosen for the average.
"""

from dataclasses import dataclass

import numpy as np

from geex._arrays.arrays import Array, host, like, namespace
from geex._arrays.blas import one_thread
from geex._arrays.linear_algebra import host_unless_accelerated
from geex._estimate.linear.design import Design
from geex._estimate.linear.marginal_likelihood import RATIOS, evidence
from geex._estimate.linear.posterior import Lift
from geex._estimate.linear.prior import Prior, blend, priors

# Candidates within this distance of the best log evidence are averaged.
NATS = 2.0
# Alternatives that represent the uncertainty of the choice.
ALTERNATIVES = 4
# The most draws for the choice where features have no neighbours.
UNRELATED_DRAWS = 1024


@dataclass(frozen=True)
class Choice:
    """The number of the lift D U, K and λ."""

    lift: int
    prior: Prior
    ratio: float


@dataclass(frozen=True)
class Selection:
    """The choice for an output, and ALTERNATIVES of all candidates, drawn evenly from what the evidence allows."""

    best: Choice
    alternatives: tuple[Choice, ...]

    def beside(self, choice: Choice) -> "Selection":
        """The alternatives of a choice; a sharper one than the best has none that would not be far too smooth."""
        return self if choice == self.best else Selection(choice, (choice,) * ALTERNATIVES)


@one_thread()
def chosen_priors(
    designs: list[Design], lifts: list[Lift], differences: Array, axes: tuple[int, ...], draws: int
) -> list[Selection]:
    """The choice for every output, on draws from all of the run: on `draws` of them, or, where features have no
    neighbours and there are few candidates, on twice as many as there are coefficients."""
    k = differences.shape[1]
    alone = 0 if axes else min(UNRELATED_DRAWS, 2 * designs[0].contrasts.shape[1])
    which = evenly(differences, max(draws, alone))
    some = host(namespace(differences).take(differences, which, axis=0))
    kinds, candidates, tables = [], [], []
    for number, (design, lift) in enumerate(zip(designs, lifts, strict=True)):
        own = Design(host_unless_accelerated(design.rows(which)))
        for prior in priors(lift.knots, axes):
            gram = host(own.kernel(prior))
            likelihood, ratios = evidence(gram, some)
            kinds.append((number, prior, gram))
            candidates += [Choice(number, prior, float(ratio)) for ratio in ratios]
            tables.append(likelihood)
    order = np.argsort(np.tile(RATIOS, len(tables)), kind="stable")
    table = np.stack(tables)
    best = _averaged(kinds, table.max(axis=1), some)
    flat = table.reshape(-1, k)
    return [Selection(best[output], drawn(candidates, flat[:, output], order)) for output in range(k)]


def evenly(rows: Array, most: int) -> Array:
    """Places of at most `most` of the rows, from first to last."""
    places = np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], most)).round().astype(np.int64)
    return like(np.unique(places), rows, namespace(rows).int64)


def drawn(candidates: list[Choice], likelihood: np.ndarray, order: np.ndarray) -> tuple[Choice, ...]:
    """Return alternatives by log likelihoods (c,), at even steps of the weight.

    In the order (c,) of the candidates, neighbours smooth alike.
    """
    weights = np.cumsum(np.exp(likelihood - likelihood.max())[order])
    places = np.searchsorted(weights, weights[-1] * (np.arange(ALTERNATIVES) + 0.5) / ALTERNATIVES)
    return tuple(candidates[order[place]] for place in places)


def _averaged(kinds: list[tuple[int, Prior, np.ndarray]], peaks: np.ndarray, differences: np.ndarray) -> list[Choice]:
    """The choice for every output of d (n, k), by the largest log likelihood (c, k) that each kind has for some λ."""
    lifts = np.array([lift for lift, _, _ in kinds])
    first = peaks.argmax(axis=0)
    close = (peaks >= peaks.max(axis=0) - NATS) & (lifts[:, None] == lifts[first])
    found: dict[int, Choice] = {}
    for group in np.unique(close, axis=1).T:
        outputs = np.flatnonzero((close == group[:, None]).all(axis=0))
        some = [kinds[place] for place in np.flatnonzero(group)]
        likelihood, ratios = evidence(np.mean([gram for _, _, gram in some], axis=0), differences[:, outputs])
        prior = blend([prior for _, prior, _ in some])
        found |= {
            int(output): Choice(some[0][0], prior, float(ratios[place]))
            for output, place in zip(outputs, likelihood.argmax(axis=0), strict=True)
        }
    return [found[output] for output in range(len(found))]
