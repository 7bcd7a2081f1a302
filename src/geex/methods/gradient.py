"""Methods as data: what is drawn, where on the path, and what the values then estimate.

GEEX          ξ = (x−x̊)/n*  ∘ Σ_{ε, α~U[0,1]} f(x(α) + ε) ∇ log π(ε)         the paper's method
Interpolated  ξ = (x−x̊)/(n s) ∘ Σ_j Σ_i f(x(j/s) + ε_i) ∇ log π(ε_i)         the paper's first form
GE            η = 1/n Σ_i f(x + ε_i) ∇ log π(ε_i)                           the gradient estimator alone
"""

from dataclasses import dataclass, field, replace
from math import prod

from geex._arrays.arrays import Array
from geex._arrays.validation import truth, whole
from geex._plan.noise import Gaussian, Noise
from geex._plan.path import Dense, Fixed, Steps
from geex._problem.estimand import Additive, Blurred, Estimand, Mixed, Quantity, Unit
from geex._protocols import Family, Features
from geex._stored_names import stored
from geex.errors import MethodError
from geex.methods.noise_settings import check_coupling, check_noise, noise_search, shared_axis
from geex.methods.score_method import ScoreMethod

# The fewest blocks of orthogonal draws: a standard error needs independent units.
FEWEST_BLOCKS = 30
# The most elements of a block, which is factorised at once.
ORTHOGONAL_ELEMENTS = 2**24


@stored("GEEX/1")
@dataclass(frozen=True)
class GEEX(ScoreMethod):
    """The paper's method: the path integral of the gradient, estimated from single noisy samples.

    Draws are dense on the path from baseline to explicand. Values add up for the model blurred by the noise.

    Parameters
    ----------
    sigma
        The standard deviation of the noise, in units of x. None: half the standard deviation of the elements of x.
    smooth
        (kernel, deviation) of a filter over the noise, for large images; (5, 0.7) in the paper. None: no filter.
    mirror
        Whether a draw is a pair of queries, x(α) + ε and x(α) − ε, or one query.
    coupling
        "orthogonal": draws are orthogonal in blocks of at most min(features, draws/30). None: they are independent.
    family
        The density of the noise: `geex.Gaussian()`, `Laplace()`, `Logistic()`, or an object of your own class.
    shared
        An axis of x along which elements share a noise value, such as the channel axis. None: no axis.
    still
        Whether elements with x = x̊ stay unperturbed. Their value is 0 either way.

    Raises
    ------
    MethodError
        A setting is wrong, or two settings exclude each other. When x is explained: `sigma` is too small or too large
        for the type of x.

    Notes
    -----
    ξ = (x − x̊)/n ∘ Σ f(x(α) + ε) · (−∇ log π(ε)) over draws of α ~ U[0, 1] and ε ~ π, with x(α) = x̊ + α(x − x̊).

    References
    ----------
    Cai and Wunder, *On Gradient-like Explanation under a Black-box Setting: When Black-box Explanations Become as Good
    as White-box*.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> method = geex.GEEX(sigma=0.1)
    >>> found = geex.explain(lambda z: z @ [1.0, 2.0], np.ones(2), method=method, progress=False)
    >>> found.values.round(0).tolist()
    [1.0, 2.0]
    """

    sigma: float | None = None
    smooth: tuple[int, float] | None = None
    mirror: bool = True
    coupling: str | None = None
    family: Family = field(default_factory=Gaussian)
    shared: int | None = None
    still: bool = False

    def __post_init__(self) -> None:
        check_noise(self)
        check_coupling(self.coupling, self)
        truth("still", self.still, MethodError)

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        block = self._block(explicand, rows)
        positions = Dense(block) if block > 1 else Dense()
        return noise_search(self, positions, explicand, baseline, features, block=block, still=self.still)

    def _block(self, explicand: Array, rows: int) -> int:
        """Directions of an orthogonal block: even, and few enough that FEWEST_BLOCKS of them are asked."""
        if self.coupling is None:
            return 1
        shared = shared_axis(self.shared, tuple(explicand.shape))
        elements = prod(n for axis, n in enumerate(explicand.shape) if axis != shared)
        draws = rows // (2 if self.mirror else 1)
        block = min(elements, draws // FEWEST_BLOCKS, ORTHOGONAL_ELEMENTS // (4 * prod(explicand.shape)))
        return max(1, int(block) // 2 * 2)

    @property
    def one_scale(self) -> bool:
        return self.sigma is None

    def estimand(self, search: Noise) -> Estimand:
        return _path(search, Quantity.PATH_INTEGRAL)


@stored("Interpolated/1")
@dataclass(frozen=True)
class Interpolated(ScoreMethod):
    """The paper's first form: gradient estimates at s points of the path, with equally many draws at each.

    Parameters
    ----------
    sigma
        The standard deviation of the noise, in units of x. None: half the standard deviation of the elements of x.
    steps
        The number s of points of the path.
    smooth, mirror, family, shared, still
        As in `GEEX`.

    Raises
    ------
    MethodError
        A setting is wrong.

    Notes
    -----
    ξ = (x − x̊)/(n s) ∘ Σ_j Σ_i f(x(j/s) + ε_i) · (−∇ log π(ε_i)), a right Riemann sum with a bias of order 1/s.

    Examples
    --------
    >>> import geex
    >>> geex.methods.Interpolated(sigma=0.5, steps=20).steps
    20
    """

    sigma: float | None = None
    steps: int = 10
    smooth: tuple[int, float] | None = None
    mirror: bool = True
    family: Family = field(default_factory=Gaussian)
    shared: int | None = None
    still: bool = False

    def __post_init__(self) -> None:
        check_noise(self)
        truth("still", self.still, MethodError)
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, MethodError))

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        return noise_search(self, Steps(self.steps), explicand, baseline, features, still=self.still)

    @property
    def one_scale(self) -> bool:
        return self.sigma is None

    def estimand(self, search: Noise) -> Estimand:
        return replace(_path(search, Quantity.RIEMANN_SUM), steps=self.steps)


@stored("GE/1")
@dataclass(frozen=True)
class GE(ScoreMethod):
    """The gradient of the blurred model at x. Its values are slopes and do not add up.

    The baseline is queried for the account alone, and may equal x.

    Parameters
    ----------
    sigma
        The standard deviation of the noise, in units of x. None: half the standard deviation of the elements of x.
    smooth, mirror, family, shared
        As in `GEEX`.

    Raises
    ------
    MethodError
        A setting is wrong.

    Notes
    -----
    η = 1/n Σ_i f(x + ε_i) · (−∇ log π(ε_i)).

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> method = geex.methods.GE(sigma=0.1)
    >>> found = geex.explain(lambda z: (z**2).sum(1), np.array([1.0, 2.0]), method=method, progress=False)
    >>> found.values.round(0).tolist()
    [2.0, 4.0]
    """

    sigma: float | None = None
    smooth: tuple[int, float] | None = None
    mirror: bool = True
    family: Family = field(default_factory=Gaussian)
    shared: int | None = None

    def __post_init__(self) -> None:
        check_noise(self)

    @property
    def compares(self) -> bool:
        return False

    @property
    def one_scale(self) -> bool:
        return self.sigma is None

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        return noise_search(self, Fixed(1.0), explicand, baseline, features, path=False)

    def estimand(self, search: Noise) -> Estimand:
        return Estimand(
            Quantity.GRADIENT,
            unit=Unit.SCORE_PER_INPUT,
            blurred=_blurred(search),
            mixed=_mixed(search),
            axis=search.shared,
        )


def _blurred(search: Noise) -> Blurred:
    return Blurred(type(search.family).__name__, search.sigma, search.still)


def _mixed(search: Noise) -> Mixed | None:
    if search.smooth is not None:
        return Mixed.NEIGHBOURS
    return None if search.shared is None else Mixed.AXIS


def _path(search: Noise, quantity: Quantity) -> Estimand:
    mixed = _mixed(search)
    additive = Additive.OF_BLURRED_MODEL if mixed is None else Additive.NO
    return Estimand(quantity, additive, blurred=_blurred(search), mixed=mixed, axis=search.shared)
