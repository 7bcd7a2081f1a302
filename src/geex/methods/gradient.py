"""Methods as data: what is drawn, where on the path, and what the values then estimate.

GEEX          ξ = (x−x̊)/n*  ∘ Σ_{ε, α~U[0,1]} f(x(α) + ε) ∇ log π(ε)         the paper's method
Interpolated  ξ = (x−x̊)/(n s) ∘ Σ_j Σ_i f(x(j/s) + ε_i) ∇ log π(ε_i)         the paper's first form
GE            η = 1/n Σ_i f(x + ε_i) ∇ log π(ε_i)                           the gradient estimator alone
"""

from dataclasses import dataclass, field
from math import prod
from typing import ClassVar

from geex._arrays.arrays import Array, Shape, namespace, too_far
from geex._arrays.gaussian_filter import Kernel
from geex._arrays.validation import is_whole, positive, truth, whole
from geex._estimate.score_function import Answered, estimate
from geex._plan.noise import Gaussian, Noise
from geex._plan.path import Dense, Fixed, Positions, Steps
from geex._plan.plan import Plan
from geex._problem.features import image_axes
from geex._problem.outputs import Score
from geex._protocols import Estimate, Family, Features
from geex._stored_names import stored
from geex.errors import MethodError

FEWEST_BLOCKS = 30
BLOCK_ELEMENTS = 2**24
LARGE = 1e100


class ByScore:
    """Methods whose values are means of answers times weights."""

    def estimate(self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score) -> Estimate:
        return estimate(answered, targets, score)

    def regions(
        self, plan: Plan, answered: Answered, ends: Array, targets: list[int], score: Score, rows: Array
    ) -> Estimate:
        """The estimate of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return estimate(answered, targets, score, rows)


@stored("GEEX/1")
@dataclass(frozen=True)
class GEEX(ByScore):
    """The paper's method: single-sample gradient estimates, dense on the path from baseline to explicand.

    sigma: standard deviation of the noise. None: half the deviation of the explicand's elements.
    smooth: (kernel, deviation) of the filter over the noise, for large images; the paper's is (5, 0.7).
    mirror: ask x(α) + ε and x(α) − ε for every draw.
    coupling: "orthogonal" makes draws orthogonal in blocks of at most min(features, draws/30); None: independent.
    family: the noise's density: Gaussian(), Laplace(), Logistic() or your own.
    shared: an axis along which elements get one noise value, as published code does over channels.
    still: leave elements with x = x̊ unperturbed. The paper perturbs them, though their value is 0 either way.
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
        truth("still", self.still, MethodError)

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        block = self._block(explicand, rows)
        return _noise(self, Dense(block) if block > 1 else Dense(), explicand, baseline, features, block=block)

    def _block(self, explicand: Array, rows: int) -> int:
        """Directions of an orthogonal block: even, and few enough that FEWEST_BLOCKS of them are asked."""
        if self.coupling is None:
            return 1
        shared = _shared(self.shared, tuple(explicand.shape))
        elements = prod(n for axis, n in enumerate(explicand.shape) if axis != shared)
        draws = rows // (2 if self.mirror else 1)
        block = min(elements, draws // FEWEST_BLOCKS, BLOCK_ELEMENTS // (4 * prod(explicand.shape)))
        return max(1, int(block) // 2 * 2)

    def estimand(self, search: Noise) -> str:
        return _blurred_path(search, "the path integral from the baseline to x of the gradient")


@stored("Interpolated/1")
@dataclass(frozen=True)
class Interpolated(ByScore):
    """The paper's first form: gradient estimates at s steps j/s of the path, equally many draws at each.

    steps: s. Draws come in rounds of two at every step. The other settings are those of `GEEX`.
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
        return _noise(self, Steps(self.steps), explicand, baseline, features)

    def estimand(self, search: Noise) -> str:
        riemann = f"the right Riemann sum, in {self.steps} steps from the baseline to x, of the gradient"
        return f"{_blurred_path(search, riemann)} The sum's own error is of the order 1/steps."


@stored("GE/1")
@dataclass(frozen=True)
class GE(ByScore):
    """The gradient estimator at the explicand. Its values are slopes: they do not add up to anything.

    It looks at x alone: the baseline is asked for the account, and may equal x.
    """

    sigma: float | None = None
    smooth: tuple[int, float] | None = None
    mirror: bool = True
    family: Family = field(default_factory=Gaussian)
    shared: int | None = None
    compares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check(self)

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> Noise:
        return _noise(self, Fixed(1.0), explicand, baseline, features, path=False)

    def estimand(self, search: Noise) -> str:
        return f"The gradient at x of {_blurred_model(search)}.{_mixed(search)} Slopes do not add up to f(x) − f(x̊)."


def _noise(
    method: GEEX | Interpolated | GE,
    positions: Positions,
    explicand: Array,
    baseline: Array,
    features: Features,
    block: int = 1,
    path: bool = True,
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
    still = getattr(method, "still", False)
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
    if too_far(explicand, baseline):
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


def _blurred_model(search: Noise) -> str:
    family = type(search.family).__name__
    where = " in the elements that differ from the baseline" if search.still else ""
    return f"J, the model averaged over {family} noise of deviation {search.sigma:.4g}{where}"


def _mixed(search: Noise) -> str:
    if search.smooth is not None:
        return " The noise is smoothed, so gradients are mixed over neighbours."
    if search.shared is not None:
        return f" Noise is shared along axis {search.shared}, so gradients are summed along it."
    return ""


def _blurred_path(search: Noise, integral: str) -> str:
    text = f"(x − x̊) times {integral} of {_blurred_model(search)}."
    if mixed := _mixed(search):
        return f"{text}{mixed} The values do not add up."
    return f"{text} They add up to J(x) − J(x̊): the gap to f(x) − f(x̊) is that blur and the noise."


def _check(method: GEEX | Interpolated | GE) -> None:
    if method.sigma is not None:
        meaning = "a positive number, the standard deviation of the noise, or None"
        object.__setattr__(method, "sigma", positive("sigma", method.sigma, MethodError, meaning))
    truth("mirror", method.mirror, MethodError)
    if method.shared is not None and not is_whole(method.shared):
        raise MethodError(f"shared is {method.shared!r}; wanted an axis of x, or None.")
    family = method.family
    if isinstance(family, type) or not hasattr(family, "draw") or not hasattr(family, "score"):
        raise MethodError(f"family is {family!r}; wanted geex.Gaussian(), Laplace(), Logistic() or one of your own.")
    if method.smooth is not None:
        if not isinstance(method.smooth, tuple | list) or len(method.smooth) != 2:
            raise MethodError(f"smooth is {method.smooth!r}; wanted (kernel, deviation) such as (5, 0.7), or None.")
        kernel = Kernel(*method.smooth)
        object.__setattr__(method, "smooth", (kernel.size, kernel.sigma))
        if not isinstance(family, Gaussian):
            raise MethodError(f"smoothed noise of {family} has no simple score; smooth only Gaussian() noise.")
    _check_coupling(getattr(method, "coupling", None), method)


def _check_coupling(coupling: str | None, method: GEEX | Interpolated | GE) -> None:
    if coupling is None:
        return
    if coupling != "orthogonal":
        raise MethodError(f"coupling is {coupling!r}; wanted 'orthogonal' or None.")
    if not isinstance(method.family, Gaussian):
        raise MethodError(f"{method.family} noise is not isotropic, so it cannot be made orthogonal; take Gaussian().")
    if method.smooth is not None:
        raise MethodError("orthogonal coupling and smoothing were both asked for; smoothing undoes it: take one.")
