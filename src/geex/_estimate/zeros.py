"""The estimate where x equals the baseline: no feature differs, so every value is 0, and no query is needed."""

from dataclasses import dataclass

from geex._arrays.arrays import Array, namespace
from geex._protocols import Estimate


@dataclass(frozen=True, eq=False)
class Zeros(Estimate):
    """Zeros for k outputs and p features, without an error. span: f(x) − f(x̊) (k,), the noise of the model."""

    span: Array
    features: int

    @property
    def values(self) -> Array:
        """0 (k, p)."""
        xp = namespace(self.span)
        return xp.zeros_like(xp.broadcast_to(self.span[:, None], (self.span.shape[0], self.features)))

    @property
    def stderr(self) -> Array:
        """0 (k, p)."""
        return self.values

    @property
    def sum_stderr(self) -> Array:
        """0 (k,)."""
        return namespace(self.span).zeros_like(self.span)

    def over(self, rows: Array) -> Estimate:
        """Return the zeros of regions (r, p)."""
        return Zeros(self.span, int(rows.shape[0]))

    def sum_over(self, rows: Array) -> Array:
        """Return 0 for each region."""
        return self.sum_stderr


def are_equal(explicand: Array, baseline: Array) -> bool:
    """Return whether x and x̊ are the same in every element."""
    return not bool(namespace(explicand).any(explicand != baseline))
