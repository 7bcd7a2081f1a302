"""What a regression is on: the contrasts of a run, in units of its coefficients.

d = Φ u + noise,   Φ = contrasts ∘ units
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from geex._arrays.arrays import Array, namespace
from geex._arrays.blas import SMALL
from geex._arrays.linear_algebra import gram
from geex._estimate.linear.prior import Prior

# Draws of a block.
BLOCK_DRAWS = 512
# The least share that sums keep where terms cancel: at most one digit of float32 is lost.
UNCANCELLED = 0.1
# The most that the answer of a draw may count in its own fitted value.
OWN_SHARE = 0.95


@dataclass(frozen=True, eq=False)
class Design:
    """Φ = contrasts ∘ units: contrasts (n, q) as they were asked, and what a unit of each changes in u (q,).

    units None: the contrasts are Φ already, in the working type.
    """

    contrasts: Array
    units: Array | None = None

    def of(self, which: Array) -> "Design":
        """That of some draws."""
        return replace(self, contrasts=namespace(self.contrasts).take(self.contrasts, which, axis=0))

    def first(self, count: int) -> "Design":
        """That of the first draws."""
        return replace(self, contrasts=self.contrasts[:count, :])

    def rows(self, which: Array | None = None) -> Array:
        """Φ, or the rows of it that are wanted. Where it is of few draws it is made once, for all fits."""
        if which is None and self.contrasts.shape[0] <= SMALL:
            return self._rows
        return self._made(self.contrasts if which is None else namespace(which).take(self.contrasts, which, axis=0))

    @cached_property
    def _rows(self) -> Array:
        return self._made(self.contrasts)

    def _made(self, contrasts: Array) -> Array:
        xp = namespace(contrasts)
        return contrasts if self.units is None else xp.astype(contrasts, xp.float64) * self.units

    def blocks(self, draws: int = BLOCK_DRAWS) -> Iterator[Array]:
        """Contrasts, some draws at a time."""
        for first in range(0, self.contrasts.shape[0], draws):
            yield self.contrasts[first : first + draws, :]

    def kernel(self, prior: Prior) -> Array:
        """Φ K Φᵀ (n, n), in float64. Of few draws it is kept, and from the second mixture on what they have in common
        is made once."""
        if self.contrasts.shape[0] > SMALL:
            return self._between(prior)
        known = self._kernels
        if not known:
            known[prior] = self._between(prior)
        if prior in known:
            return known[prior]
        for _, part in prior.parts:
            if part not in known:
                known[part] = self._between(part)
        return sum(share * known[part] for share, part in prior.parts)

    @cached_property
    def _kernels(self) -> dict[Prior, Array]:
        return {}

    def _between(self, prior: Prior) -> Array:
        rows = self.rows()
        return namespace(rows).astype(rows @ prior.apply(rows).T, namespace(rows).float64, copy=False)

    def gram(self) -> Array:
        """Φᵀ Φ."""
        product = namespace(self.contrasts).astype(self._product, namespace(self.contrasts).float64)
        return product if self.units is None else product * self.units[:, None] * self.units

    @cached_property
    def _product(self) -> Array:
        """Products of contrasts, in their own type, which is exact for masks; kept, since several fits share them."""
        return gram(self.contrasts)

    def against(self, differences: Array) -> Array:
        """Φᵀ d (q, k)."""
        xp = namespace(self.contrasts)
        product = sum(
            xp.astype(block, xp.float64).T @ differences[number * BLOCK_DRAWS : (number + 1) * BLOCK_DRAWS, :]
            for number, block in enumerate(self.blocks())
        )
        return product if self.units is None else product * self.units[:, None]

    def explained(self, coefficients: Array) -> Array:
        """Φ u (n, k) for coefficients u (q, k), in their type."""
        xp = namespace(self.contrasts)
        steps = self._steps(coefficients)
        return xp.concat([xp.astype(block, steps.dtype, copy=False) @ steps for block in self.blocks()], axis=0)

    def explained_by_many(self, coefficients: Array) -> Array:
        """Φ u (n, q) for as many coefficients u (q, q) as there are of them. It is made in the type of the contrasts,
        unless sums cancel to less than UNCANCELLED of what independent terms would add up to, or a draw's own answer
        counts more than OWN_SHARE in what is fitted to it: what is left of 1 would be rounding."""
        xp = namespace(self.contrasts)
        if self.contrasts.dtype == coefficients.dtype:
            return self.explained(coefficients)
        steps = self._steps(coefficients)
        found = self.contrasts @ xp.astype(steps, self.contrasts.dtype)
        apart = xp.astype(xp.linalg.diagonal(self._product), steps.dtype) @ xp.sum(steps**2, axis=1)
        whole = float(xp.linalg.vector_norm(found)) ** 2 >= UNCANCELLED**2 * float(apart)
        return found if whole and float(xp.max(self.used(found))) < OWN_SHARE else self.explained(coefficients)

    def used(self, influence: Array) -> Array:
        """How much each draw's own answer counts in what is fitted to it (n,): Σ_j Φ_ij W_ij of W = ∂û/∂d (n, q)."""
        xp = namespace(influence)
        units = 1.0 if self.units is None else xp.astype(self.units, influence.dtype)
        blocks = [slice(first, first + BLOCK_DRAWS) for first in range(0, self.contrasts.shape[0], BLOCK_DRAWS)]
        parts = [xp.sum(self.contrasts[block, :] * influence[block, :] * units, axis=1) for block in blocks]
        return xp.astype(xp.concat(parts, axis=0), xp.float64)

    def _steps(self, coefficients: Array) -> Array:
        """What contrasts are multiplied with."""
        return coefficients if self.units is None else coefficients * self.units[:, None]
