"""Search by location families: noise around a point of the path.

    z = x(α) ± ε,   w = −(x − x̊) ∘ ∇_ε log π(ε),   ξ = E[f(z) w]

A draw is one noise vector ε with its α. Its queries are a mirrored pair, x(α) + ε and x(α) − ε, or one alone. Draws
do not depend on explicand or baseline, so one set of draws serves all of them.
"""

from dataclasses import dataclass
from math import pi, prod, sqrt

from geex._arrays.arrays import Array, Shape, like, namespace
from geex._arrays.gaussian_filter import Kernel, room, smooth
from geex._arrays.random_stream import Stream
from geex._arrays.validation import shown
from geex._plan.path import Positions, on_path
from geex._plan.search import Draws
from geex._protocols import Family, Features, LinearDraws, Search
from geex._stored_names import stored
from geex.errors import MethodError

# The smallest σ whose square is a number of float64; 1/LEAST_SIGMA is the largest.
LEAST_SIGMA = 1e-100


@stored("Gaussian/1")
@dataclass(frozen=True)
class Gaussian(Family):
    """Gaussian noise of standard deviation 1, the default family.

    Notes
    -----
    The density is π(ε) ∝ exp(−ε²/2), and its score −d/dε log π(ε) = ε.

    Examples
    --------
    >>> import geex
    >>> geex.GEEX(sigma=0.5, family=geex.Gaussian()) == geex.GEEX(sigma=0.5)
    True
    """

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
    """Laplace noise of standard deviation 1.

    Notes
    -----
    The density is π(ε) ∝ exp(−√2 |ε|), and its score −d/dε log π(ε) = √2 sign(ε).

    Examples
    --------
    >>> import geex
    >>> method = geex.GEEX(sigma=0.5, family=geex.Laplace())
    """

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
    """Logistic noise of standard deviation 1.

    Notes
    -----
    The density is π(ε) ∝ sech²(ε/2s) with s = √3/π, and its score −d/dε log π(ε) = tanh(ε/2s)/s.

    Examples
    --------
    >>> import geex
    >>> method = geex.GEEX(sigma=0.5, family=geex.Logistic())
    """

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
    """Noise, and the queries and weights that are made from it.

    block: draws that are orthogonal to each other; 1 for independent draws. A block is one independent unit.
    smooth: the filter of mask smoothing, and the axes along which it runs.
    shared: the axis along which noise is shared.
    path: whether weights contain x − x̊ (a path method) or not (a gradient).
    still: whether elements with x = x̊ are not perturbed.
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
        """The queries of one draw."""
        return 2 if self.mirror else 1

    @property
    def least(self) -> int:
        """The fewest queries: two units, and a whole round where the positions are steps."""
        return max(2 * self.block, self._whole) * self.rows

    @property
    def drawn(self) -> object:
        """All but σ, the mirror and the weights, which are applied to draws."""
        return (self.family, self.positions, self.block, self.smooth, self.shared)

    def linear(self) -> LinearDraws:
        if not self.family.normal:
            raise MethodError(
                f"`of` must draw Gaussian noise for a regression; got {shown(self.family)}. Use geex.Gaussian().",
                code="family-not-normal",
            )
        if not LEAST_SIGMA < self.sigma < 1 / LEAST_SIGMA:
            raise MethodError(
                f"`sigma` must be between {LEAST_SIGMA:g} and {1 / LEAST_SIGMA:g} for a regression; "
                f"got {self.sigma:.4g}. Rescale x.",
                code="sigma-out-of-range",
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
        """Return Σ over a feature's elements of −(x − x̊) ∘ ∇ log π(ε)."""
        xp = namespace(explicand)
        reach = explicand - baseline if self.path else xp.ones_like(explicand)
        return features.total(self.family.score(draws.noise) * (reach / self.sigma))

    def _moving(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return the noise of the elements that are perturbed, and 0 for others."""
        if not self.still:
            return draws.noise
        return draws.noise * namespace(explicand).astype(explicand != baseline, explicand.dtype)

    def contrasts(self, draws: Draws, explicand: Array, baseline: Array) -> Array:
        """Return half of the difference of a draw's two queries: σ ε of every element (u, elements).

        In float64: the square of a σ that suits x may be beyond the type of x.
        """
        xp = namespace(explicand)
        noise = xp.astype(self._moving(draws, explicand, baseline), xp.float64)
        steps = xp.broadcast_to(self.sigma * noise, (noise.shape[0], *explicand.shape))
        return xp.reshape(steps, (steps.shape[0], -1))


def orthogonal(noise: Array, block: int) -> Array:
    """Return Gaussian noise (u, *shape) made orthogonal in blocks of `block` rows, each row with its own length."""
    xp = namespace(noise)
    rows = xp.reshape(noise, (-1, block, prod(noise.shape[1:])))
    lengths = xp.linalg.vector_norm(rows, axis=2, keepdims=True)
    directions, triangle = xp.linalg.qr(xp.matrix_transpose(rows))
    # QR fixes directions up to a sign; that of the diagonal of R makes them uniformly distributed
    signs = xp.sign(xp.linalg.diagonal(triangle))[:, None, :]
    return xp.reshape(xp.matrix_transpose(directions * signs) * lengths, noise.shape)
