"""What the choice of a prior leaves open: other choices that the evidence hardly tells from the best one.

    Var ξ = E_h[ Var(ξ | h) ] + Var_h[ E(ξ | h) ],   h = (D, K, λ),   p(h) ∝ marginal likelihood

A fit knows the first part. Where answers are no smooth sum of features, λ is known to a factor of ten or worse, and
with it how much is smoothed away: the second part is then most of what another seed would change.
"""

from dataclasses import dataclass
from functools import cached_property

from geex._arrays.arrays import Array, namespace
from geex._estimate.linear.design import Design
from geex._estimate.linear.posterior import Lift, posterior
from geex._estimate.linear.prior_selection import ALTERNATIVES, Choice, Selection

# The most outputs with alternatives: each alternative costs a fit.
MOST_OUTPUTS = 16


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The alternative fits of k outputs with differences (n, k), on the designs and lifts that were candidates."""

    designs: list[Design]
    lifts: list[Lift]
    differences: Array
    chosen: list[Selection]

    @property
    def few(self) -> bool:
        """Whether there are few enough outputs to have alternatives."""
        return len(self.chosen) <= MOST_OUTPUTS

    @cached_property
    def earlier(self) -> Array:
        """ξ̂ (k, p) of the first half of the draws, by the choice that was made on all of them."""
        choice, half = self.chosen[0].best, -(-self.differences.shape[0] // 2)
        design = self.designs[choice.lift].first(half)
        return posterior(design, self.differences[:half, :], self.lifts[choice.lift], choice.prior, choice.ratio).mean

    @cached_property
    def values(self) -> list[Array]:
        """ξ̂ (k, p) of one alternative of every output after the other."""
        if not self.few:
            return []
        xp = namespace(self.differences)
        wanted: dict[Choice, list[int]] = {}
        for output, one in enumerate(self.chosen):
            for choice in dict.fromkeys(one.alternatives):
                wanted.setdefault(choice, []).append(output)
        found: dict[tuple[Choice, int], Array] = {}
        for choice, outputs in wanted.items():
            own = xp.stack([self.differences[:, output] for output in outputs], axis=1)
            fit = posterior(self.designs[choice.lift], own, self.lifts[choice.lift], choice.prior, choice.ratio)
            found |= {(choice, output): fit.mean[place, :] for place, output in enumerate(outputs)}
        return [
            xp.stack([found[one.alternatives[place], k] for k, one in enumerate(self.chosen)])
            for place in range(ALTERNATIVES)
        ]
