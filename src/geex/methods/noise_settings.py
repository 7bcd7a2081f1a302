"""Settings of methods that add noise: their checks, and the search that they make.

σ = half the standard deviation of the elements of x, if it is not set
"""

from typing import Any, Protocol

from geex._arrays.arrays import Array, Shape, difference_overflows, namespace
from geex._arrays.gaussian_filter import Kernel
from geex._arrays.validation import is_whole, positive, shown, truth
from geex._plan.noise import Noise
from geex._plan.path import Positions
from geex._problem.features import image_axes, long_axes
from geex._protocols import Family, Features
from geex.errors import MethodError

# Sizes whose squares are numbers of float64, and so are those of their inverses.
HUGE = 1e100
# σ must leave room for this many standard deviations below the largest number of x's type.
DEVIATIONS = 100


class NoiseSettings(Protocol):
    """The settings that `GEEX`, `Interpolated` and `GE` share."""

    @property
    def sigma(self) -> float | None: ...

    @property
    def smooth(self) -> tuple[int, float] | None: ...

    @property
    def mirror(self) -> bool: ...

    @property
    def family(self) -> Family: ...

    @property
    def shared(self) -> int | None: ...


def noise_search(
    method: NoiseSettings, positions: Positions, explicand: Array, baseline: Array, features: Features, **settings: Any
) -> Noise:
    """Return the search of a method. `settings` are the further fields of `Noise`."""
    shape = tuple(explicand.shape)
    shared = shared_axis(method.shared, shape)
    smooth = None
    if method.smooth is not None:
        kernel = Kernel(*method.smooth)
        channels = features.channels if features.channels is not None else shared
        axes = long_axes(image_axes(shape, channels), shape) or image_axes(shape, channels)
        kernel.check(shape, axes)
        smooth = (kernel, axes)
    sigma = _default_sigma(explicand, baseline) if method.sigma is None else float(method.sigma)
    _check_resolution(sigma, explicand, baseline)
    check_path(explicand, baseline)
    return Noise(method.family, sigma, positions, method.mirror, smooth=smooth, shared=shared, **settings)


def shared_axis(axis: int | None, shape: Shape) -> int | None:
    """Return the axis along which noise is shared, counted from the front."""
    if axis is None:
        return None
    if not -len(shape) <= axis < len(shape):
        raise MethodError(
            f"`shared` must be an axis of x, whose shape is {shape}; got {axis}.", code="shared-not-an-axis"
        )
    return int(axis) % len(shape)


def _default_sigma(explicand: Array, baseline: Array) -> float:
    """Return half the deviation of the explicand's elements; if they are all equal, half of the distance x − x̊."""
    xp = namespace(explicand)
    x, absent = (xp.astype(array, xp.float64) for array in (explicand, baseline))
    alike = float(xp.max(x)) == float(xp.min(x))
    largest = float(xp.max(xp.abs(x)))
    unit = 1.0 if 1 / HUGE < largest < HUGE else largest or 1.0  # squares would leave the range of float64
    spread = float(xp.max(xp.abs(x - absent))) if alike else unit * float(xp.std(x / unit))
    return 0.5 * (spread or 1.0)


def check_path(explicand: Array, baseline: Array) -> None:
    """Raise MethodError if the type of x cannot hold x − x̊, of which points between them are made."""
    if difference_overflows(explicand, baseline):
        raise MethodError(
            f"x − x̊ must be a number of {explicand.dtype}, the type of x; it is too large. Pass x in float64, or "
            "rescale it.",
            code="difference-overflows",
        )


def _check_resolution(sigma: float, explicand: Array, baseline: Array) -> None:
    """Raise MethodError if rounding in the type of x would remove the noise, and with it the values."""
    xp = namespace(explicand)
    kind = xp.finfo(explicand.dtype)
    largest = max(float(xp.max(xp.abs(explicand))), float(xp.max(xp.abs(baseline))))
    least = max(0.5 * float(kind.eps) * largest, float(kind.smallest_normal))
    if not least <= sigma <= (float(kind.max) - largest) / DEVIATIONS:
        raise MethodError(
            f"`sigma` must be at least {least:.2g} for x up to {largest:.4g} in {explicand.dtype}, or rounding changes "
            f"the noise; got {sigma:.4g}. Use a larger sigma, pass x in float64, or rescale it.",
            code="sigma-out-of-range",
        )


def check_noise(method: NoiseSettings) -> None:
    """Raise MethodError if a setting is wrong."""
    if method.sigma is not None:
        meaning = "a positive number, the standard deviation of the noise, or None"
        object.__setattr__(method, "sigma", positive("sigma", method.sigma, MethodError, meaning))
    truth("mirror", method.mirror, MethodError)
    if method.shared is not None and not is_whole(method.shared):
        raise MethodError(
            f"`shared` must be an axis of x or None; got {shown(method.shared)}.", code="shared-not-an-axis"
        )
    family = method.family
    if not isinstance(family, Family):
        raise MethodError(
            f"`family` must be geex.Gaussian(), Laplace(), Logistic() or an object of your own class; got {family!r}. "
            "For a class of your own, subclass geex.Family.",
            code="family-not-a-family",
        )
    if method.smooth is not None:
        if not isinstance(method.smooth, tuple | list) or len(method.smooth) != 2:
            raise MethodError(
                f"`smooth` must be (kernel, deviation) such as (5, 0.7), or None; got {shown(method.smooth)}.",
                code="smooth-not-two-numbers",
            )
        kernel = Kernel(*method.smooth)
        object.__setattr__(method, "smooth", (kernel.size, kernel.sigma))
        if not family.normal:
            raise MethodError(
                f"`smooth` needs Gaussian noise; got {shown(family)}. Use geex.Gaussian(), or leave out `smooth`.",
                code="family-not-normal",
            )


def check_coupling(coupling: str | None, method: NoiseSettings) -> None:
    """Raise MethodError if the coupling is wrong, or does not go with the other settings."""
    if coupling is None:
        return
    if coupling != "orthogonal":
        raise MethodError(f"`coupling` must be 'orthogonal' or None; got {shown(coupling)}.", code="coupling-unknown")
    if not method.family.normal:
        raise MethodError(
            f"coupling='orthogonal' needs Gaussian noise; got {shown(method.family)}. Use geex.Gaussian().",
            code="family-not-normal",
        )
    if method.smooth is not None:
        raise MethodError(
            "coupling='orthogonal' and `smooth` exclude each other: a filter undoes the coupling. Leave out one.",
            code="coupling-and-smooth",
        )
