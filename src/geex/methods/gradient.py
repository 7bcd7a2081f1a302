"""Methods as data: what is drawn, where on the path, and what the values then estimate.

GEEX          ξ = (x−x̊)/n*  ∘ Σ_{ε, α~U[0,1]} f(x(α) + ε) ∇ log π(ε)         the paper's method
Interpolated  ξ = (x−x̊)/(n s) ∘ Σ_j Σ_i f(x(j/s) + ε_i) ∇ log π(ε_i)         the paper's first form
GE            η = 1/n Σ_i f(x + ε_i) ∇ log π(ε_i)                           the gradient estimator alone
"""

from dataclasses import dataclass, field, replace
from math import prod

from geex._arrays.arrays import Array, Shape, difference_overflows, namespace
from geex._arrays.gaussian_filter import Kernel
from geex._arrays.validation import is_whole, positive, truth, whole
from geex._estimate.answers import Answers
from geex._estimate.score_function import estimate
from geex._plan.noise import Gaussian, Noise
from geex._plan.path import Dense, Fixed, Positions, Steps
from geex._problem.estimand import Additive, Blurred, Estimand, Mixed, Quantity, Unit
from geex._problem.features import image_axes
from geex._protocols import Estimate, Family, Features, Method
from geex._stored_names import stored
from geex.errors import MethodError

FEWEST_BLOCKS = 30
BLOCK_ELEMENTS = 2**24
LARGE = 1e100


class ScoreMethod(Method):
    """Base of methods whose values are means of answers times weights; `estimate` is there already.

    A subclass has `search` and `estimand`. Its search declares the weights of the answers.

    Notes
    -----
    For mirrored draws the value is ξ = 1/n Σ_i d_i w_i with d_i = (f(z_i) − f(z̃_i))/2, for single ones d_i = f(z_i).
    Standard errors come from the differences between consecutive draws.
    """

    def estimate(self, answers: Answers) -> Estimate:
        return estimate(answers)

    def regions(self, answers: Answers, rows: Array) -> Estimate:
        """The estimate of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return estimate(answers, rows)


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
        _check(self)
        _check_coupling(self.coupling, self)
        truth("still", self.still, MethodError)

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        block = self._block(explicand, rows)
        positions = Dense(block) if block > 1 else Dense()
        return _noise(self, positions, explicand, baseline, features, block=block, still=self.still)

    def _block(self, explicand: Array, rows: int) -> int:
        """Directions of an orthogonal block: even, and few enough that FEWEST_BLOCKS of them are asked."""
        if self.coupling is None:
            return 1
        shared = _shared(self.shared, tuple(explicand.shape))
        elements = prod(n for axis, n in enumerate(explicand.shape) if axis != shared)
        draws = rows // (2 if self.mirror else 1)
        block = min(elements, draws // FEWEST_BLOCKS, BLOCK_ELEMENTS // (4 * prod(explicand.shape)))
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
        _check(self)
        truth("still", self.still, MethodError)
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, MethodError))

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        return _noise(self, Steps(self.steps), explicand, baseline, features, still=self.still)

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
        _check(self)

    @property
    def compares(self) -> bool:
        return False

    @property
    def one_scale(self) -> bool:
        return self.sigma is None

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        return _noise(self, Fixed(1.0), explicand, baseline, features, path=False)

    def estimand(self, search: Noise) -> Estimand:
        return Estimand(
            Quantity.GRADIENT,
            unit=Unit.SCORE_PER_INPUT,
            blurred=_blurred(search),
            mixed=_mixed(search),
            axis=search.shared,
        )


def _noise(
    method: GEEX | Interpolated | GE,
    positions: Positions,
    explicand: Array,
    baseline: Array,
    features: Features,
    block: int = 1,
    path: bool = True,
    still: bool = False,
) -> Noise:
    shape = tuple(explicand.shape)
    shared = _shared(method.shared, shape)
    filter_ = None
    if method.smooth is not None:
        kernel = Kernel(*method.smooth)
        axes = image_axes(shape, features.channels if features.channels is not None else shared)
        kernel.check(shape, axes)
        filter_ = (kernel, axes)
    sigma = _default_sigma(explicand, baseline) if method.sigma is None else float(method.sigma)
    _check_resolution(sigma, explicand, baseline)
    check_path(explicand, baseline)
    return Noise(method.family, sigma, positions, method.mirror, block, filter_, shared, path, still)


def _shared(axis: int | None, shape: Shape) -> int | None:
    """The axis along which noise is shared, counted from the front."""
    if axis is None:
        return None
    if not -len(shape) <= axis < len(shape):
        raise MethodError(f"shared is axis {axis} and x has shape {shape}; wanted an axis of x.")
    return int(axis) % len(shape)


def _default_sigma(explicand: Array, baseline: Array) -> float:
    """Half the deviation of the explicand's elements; where they are all alike, half of the distance x − x̊."""
    xp = namespace(explicand)
    x, absent = (xp.astype(array, xp.float64) for array in (explicand, baseline))
    alike = float(xp.max(x)) == float(xp.min(x))
    largest = float(xp.max(xp.abs(x)))
    unit = 1.0 if 1 / LARGE < largest < LARGE else largest or 1.0  # squares would leave the range of float64
    spread = float(xp.max(xp.abs(x - absent))) if alike else unit * float(xp.std(x / unit))
    return 0.5 * (spread or 1.0)


def check_path(explicand: Array, baseline: Array) -> None:
    """Points between x and x̊ are made of x − x̊, which the type of x has to hold."""
    if difference_overflows(explicand, baseline):
        raise MethodError(
            f"x and the baseline are so far apart that {explicand.dtype}, the type of x, has no x − x̊; give x in "
            "float64, or rescale it."
        )


def _check_resolution(sigma: float, explicand: Array, baseline: Array) -> None:
    """Noise that x's type cannot hold beside x would be rounded away, and the values with it."""
    xp = namespace(explicand)
    kind = xp.finfo(explicand.dtype)
    largest = max(float(xp.max(xp.abs(explicand))), float(xp.max(xp.abs(baseline))))
    least = max(0.5 * float(kind.eps) * largest, float(kind.smallest_normal))
    if not least <= sigma <= (float(kind.max) - largest) / 100:
        raise MethodError(
            f"sigma is {sigma:.4g} and x reaches {largest:.4g} in {explicand.dtype}: that type cannot hold such noise "
            f"beside x. Take sigma of at least {least:.2g}, give x in float64, or rescale it."
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


def _check(method: GEEX | Interpolated | GE) -> None:
    if method.sigma is not None:
        meaning = "a positive number, the standard deviation of the noise, or None"
        object.__setattr__(method, "sigma", positive("sigma", method.sigma, MethodError, meaning))
    truth("mirror", method.mirror, MethodError)
    if method.shared is not None and not is_whole(method.shared):
        raise MethodError(f"shared is {method.shared!r}; wanted an axis of x, or None.")
    family = method.family
    if not isinstance(family, Family):
        raise MethodError(
            f"`family` must be geex.Gaussian(), Laplace(), Logistic() or an object of your own class; got {family!r}. "
            "For a class of your own, subclass geex.Family.",
            code="family-not-a-family",
        )
    if method.smooth is not None:
        if not isinstance(method.smooth, tuple | list) or len(method.smooth) != 2:
            raise MethodError(f"smooth is {method.smooth!r}; wanted (kernel, deviation) such as (5, 0.7), or None.")
        kernel = Kernel(*method.smooth)
        object.__setattr__(method, "smooth", (kernel.size, kernel.sigma))
        if not family.normal:
            raise MethodError(f"smoothed noise of {family} has no simple score; smooth only Gaussian() noise.")


def _check_coupling(coupling: str | None, method: GEEX | Interpolated | GE) -> None:
    if coupling is None:
        return
    if coupling != "orthogonal":
        raise MethodError(f"coupling is {coupling!r}; wanted 'orthogonal' or None.")
    if not method.family.normal:
        raise MethodError(f"{method.family} noise is not isotropic, so it cannot be made orthogonal; take Gaussian().")
    if method.smooth is not None:
        raise MethodError("orthogonal coupling and smoothing were both asked for; smoothing undoes it: take one.")
