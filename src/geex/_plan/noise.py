"""Search by location families: noise around a point of the path.

    z = x(α) ± ε,   w = −(x − x̊) ∘ ∇_ε log π(ε),   ξ = E[f(z) w]

A draw is one noise vector ε with its α. It is asked as a mirrored pair, x(α) + ε and x(α) − ε, or alone. What
is drawn does not depend on explicand or baseline, so one set of draws serves any of them.
"""

from dataclasses import dataclass
from math import pi, prod, sqrt

from geex._arrays.arrays import Array, Shape, Stream, like, namespace
from geex._arrays.gaussian_filter import Kernel, room, smooth
from geex._plan.path import Positions, on_path
from geex._plan.search import Draws
from geex._protocols import Family, Features, LinearDraws, Search
from geex._stored_names import stored
from geex.errors import MethodError

LEAST = 1e-100  # a sigma whose square float64 can hold


@stored("Gaussian/1")
@dataclass(frozen=True)
class Gaussian(Family):
    """π(ε) ∝ exp(−ε²/2); score ε."""

    @property
    def normal(self) -> bool:
        return True

    def draw(self, stream: Stream, shape: Shape) -> Array:
        return stream.normal(shape)

    def score(self, noise: Array) -> Array:
        return noise


@stored("Laplace/1")
@dataclass(frozen=True)
class Laplace(Family):
    """π(ε) ∝ exp(−√2 |ε|); score √2 sign(ε)."""

    def draw(self, stream: Stream, shape: Shape) -> Array:
        u = stream.uniform(shape)
        xp = namespace(u)
        tail = xp.log(2 * xp.minimum(u, 1 - u))
        return xp.where(u < 0.5, tail, -tail) / sqrt(2)

    def score(self, noise: Array) -> Array:
        return sqrt(2) * namespace(noise).sign(noise)


@stored("Logistic/1")
@dataclass(frozen=True)
class Logistic(Family):
    """π(ε) ∝ sech²(ε/2s) with s = √3/π; score tanh(ε/2s)/s."""

    def draw(self, stream: Stream, shape: Shape) -> Array:
        u = stream.uniform(shape)
        xp = namespace(u)
        return (xp.log(u) - xp.log1p(-u)) * (sqrt(3) / pi)

    def score(self, noise: Array) -> Array:
        s = sqrt(3) / pi
        return namespace(noise).tanh(noise / (2 * s)) / s


@stored("noise/1")
@dataclass(frozen=True)
class Noise(Search):
    """How a run draws noise and turns it into queries and weights.

    block: draws that are orthogonal to each other; 1 is independent draws. A block is one independent unit.
    smooth: the filter of mask smoothing and the axes that it runs along.
    shared: the axis along which noise is shared.
    path: whether weights carry x − x̊ (a path method) or not (a gradient).
    still: whether elements with x = x̊ are left unperturbed.
    """

    family: Family
    sigma: float
    positions: Positions
    mirror: bool = True
    block: int = 1
    smooth: tuple[Kernel, tuple[int, ...]] | None = None
    shared: int | None = None
    path: bool = True
    still: bool = False

    @property
    def rows(self) -> int:
        """Queries of one draw."""
        return 2 if self.mirror else 1

    @property
    def least(self) -> int:
        """A couple of units, and a whole round where the positions are steps."""
        return max(2 * self.block, self._whole) * self.rows

    @property
    def drawn(self) -> object:
        """σ, the mirror and what weights carry are applied to draws, not drawn."""
        return (self.family, self.positions, self.block, self.smooth, self.shared)

    def linear(self) -> LinearDraws:
        if not self.family.normal:
            raise MethodError(
                f"of draws {self.family} noise, whose regression is not its score; take Gaussian().",
                code="family-not-normal",
            )
        if not LEAST < self.sigma < 1 / LEAST:
            raise MethodError(
                f"sigma is {self.sigma:.4g}, too far from 1 for its square; rescale x.", code="sigma-out-of-range"
            )
        dependent = self.smooth is not None or self.shared is not None or self.block > 1
        moment = None if dependent else float(self.sigma) ** 2
        return LinearDraws(False, slopes=not self.path, neighbours=self.smooth is not None, moment=moment)

    @property
    def _whole(self) -> int:
        return self.positions.whole

    def afford(self, rows: int) -> int:
        return rows // self.rows // self._whole * self._whole

    def draws(self, seed: int, chunk: int, count: int, explicand: Array) -> Draws:
        shape = list(explicand.shape)
        if self.shared is not None:
            shape[self.shared] = 1
        alpha = self.positions.alpha(seed, chunk * count, count)
        noise = self._noise(Stream(seed, (1, chunk), explicand), count, tuple(shape))
        return Draws(like(alpha, explicand), noise)

    def _noise(self, stream: Stream, count: int, shape: Shape) -> Array:
        if self.block > 1:
            return orthogonal(self.family.draw(stream, (count, *shape)), self.block)
        if self.smooth is not None:
            kernel, axes = self.smooth
            noise = self.family.draw(stream, (count, *room(shape, axes, kernel)))
            return smooth(noise, tuple(axis + 1 for axis in axes), kernel)
        return self.family.draw(stream, (count, *shape))

    def queries(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        points = on_path(explicand, baseline, draws.alpha)
        xp = namespace(points)
        noise = self._moving(draws, explicand, baseline)
        signs = like([self.sigma, -self.sigma][: self.rows], explicand)
        steps = noise[:, None, ...] * xp.reshape(signs, (1, self.rows, *(1 for _ in explicand.shape)))
        return points[:, None, ...] + steps

    def weights(self, draws: Draws, explicand: Array, baseline: Array, features: Features) -> Array:
        """Σ over a feature's elements of −(x − x̊) ∘ ∇ log π(ε)."""
        xp = namespace(explicand)
        reach = explicand - baseline if self.path else xp.ones_like(explicand)
        return features.total(self.family.score(draws.noise) * (reach / self.sigma))

    def _moving(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """The noise of the elements that are perturbed, 0 for others."""
        if not self.still:
            return draws.noise
        return draws.noise * namespace(explicand).astype(explicand != baseline, explicand.dtype)

    def contrasts(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Half of what the two queries of a draw differ by: σ ε of every element (u, elements). In float64, since the
        squares of such σ as go with x need not be numbers of its type."""
        xp = namespace(explicand)
        noise = xp.astype(self._moving(draws, explicand, baseline), xp.float64)
        steps = xp.broadcast_to(self.sigma * noise, (noise.shape[0], *explicand.shape))
        return xp.reshape(steps, (steps.shape[0], -1))


def orthogonal(noise: Array, block: int) -> Array:
    """Gaussian noise (u, *shape) made orthogonal in blocks of `block` rows, each row keeping its own length."""
    xp = namespace(noise)
    rows = xp.reshape(noise, (-1, block, prod(noise.shape[1:])))
    lengths = xp.linalg.vector_norm(rows, axis=2, keepdims=True)
    directions, triangle = xp.linalg.qr(xp.matrix_transpose(rows))
    signs = xp.sign(xp.linalg.diagonal(triangle))[:, None, :]
    return xp.reshape(xp.matrix_transpose(directions * signs) * lengths, noise.shape)
