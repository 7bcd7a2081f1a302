"""What stands for the absence of a feature.

A baseline is a number, an array, a rule (a callable from the explicand to an array, such as `blur`), or a list
of these, over which the explanation is averaged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geex._arrays.arrays import Array, as_array, like, namespace, owned, working
from geex._arrays.gaussian_filter import Kernel, blurred
from geex._arrays.validation import is_whole
from geex._problem.declared import Call, Unnamed, Value, declared
from geex._problem.features import image_axes
from geex._protocols import Features
from geex.errors import BaselineError, GeexError

Rule = Callable[[Array], Array]
Baseline = float | Array | Rule | Sequence[Any] | None


@dataclass(frozen=True)
class Blur:
    """The explicand's own blurred version; see `blur`."""

    kernel: Kernel
    channels: int | None = None

    def __call__(self, x: Array) -> Array:
        axes = image_axes(tuple(x.shape), self.channels)
        self.kernel.check(tuple(x.shape), axes)
        return blurred(x, axes, self.kernel)


@dataclass(frozen=True)
class PerChannel:
    """One number for each channel; see `per_channel`."""

    values: tuple[float, ...]
    axis: int = 0

    def __call__(self, x: Array) -> Array:
        n = x.ndim
        if not -n <= self.axis < n or x.shape[self.axis] != len(self.values):
            raise BaselineError(
                f"the baseline has {len(self.values)} numbers for axis {self.axis} and x has shape {tuple(x.shape)}; "
                "wanted one number for each entry along that axis."
            )
        lengths = [1] * n
        lengths[self.axis] = len(self.values)
        return np.broadcast_to(np.reshape(self.values, lengths), tuple(x.shape))


def blur(kernel: int, sigma: float, channels: int | None = None) -> Blur:
    """A baseline that is the explicand blurred by a Gaussian of `kernel` pixels and deviation `sigma`.

    `channels` names the axis that is not blurred along; by default it is taken from the features, or seen in the
    shape (a first or last axis of at most 4).
    """
    return Blur(Kernel(kernel, sigma), channels)


def per_channel(values: Sequence[float], axis: int = 0) -> PerChannel:
    """A baseline with one number for each channel, the channels lying along `axis`."""
    numbers = as_array("the baseline's values", values, BaselineError)
    if numbers.ndim != 1 or not is_whole(axis):
        raise BaselineError(f"values is {values!r} and axis {axis!r}; wanted a list of numbers and a whole number.")
    return PerChannel(tuple(float(v) for v in numbers), int(axis))


def mean(data: Any) -> Array:
    """A baseline that is the mean of `data` (n, *shape)."""
    array = working(as_array("the data to average", data, BaselineError))
    if array.ndim == 0 or array.shape[0] == 0:
        raise BaselineError(f"the data to average has shape {tuple(array.shape)}; wanted (n, *shape of x).")
    return namespace(array).mean(array, axis=0)


def baselines(spec: Baseline, explicand: Array, features: Features) -> list[Array]:
    """The baselines that `spec` names, each of the shape, type and device of the (floating) explicand."""
    if isinstance(spec, list | tuple):
        if not spec:
            raise BaselineError("the list of baselines is empty; wanted one or more, or None for zero.")
        if 1 < len(spec) == explicand.shape[0] and explicand.ndim == 1 and all(isinstance(one, Real) for one in spec):
            raise BaselineError(
                f"the baseline is a list of {len(spec)} numbers, as many as x has: np.asarray(baseline) is a row, and "
                "[np.full(x.shape, number), …] are several baselines; wanted one of these."
            )
        return [_one(entry, explicand, features) for entry in spec]
    return [_one(spec, explicand, features)]


def _one(spec: Any, explicand: Array, features: Features) -> Array:
    if isinstance(spec, Blur) and spec.channels is None:
        spec = replace(spec, channels=features.channels)
    if callable(spec) and not is_array_api_obj(spec):
        spec = _rule(spec, explicand)
    if isinstance(spec, list | tuple):
        raise BaselineError("a list of baselines holds a list; wanted numbers, arrays or rules such as geex.blur.")
    array = as_array("the baseline", 0.0 if spec is None else spec, BaselineError)
    if not isinstance(spec, Real) and array.ndim and tuple(array.shape) != tuple(explicand.shape):
        array = _broadcast(array, explicand)
    xp = namespace(explicand)
    array = xp.broadcast_to(like(array, explicand), tuple(explicand.shape)) + xp.zeros_like(explicand)
    if not bool(xp.all(xp.isfinite(array))):
        raise BaselineError("the baseline holds NaN or infinity; wanted finite numbers.")
    return array


def _rule(rule: Rule, explicand: Array) -> Array:
    try:
        made = rule(owned(explicand))
    except GeexError:
        raise
    except Exception as error:
        raise BaselineError(f"the baseline rule {rule!r} raised {type(error).__name__}: {error}") from error
    if made is None:
        raise BaselineError(f"the baseline rule {rule!r} returned None; wanted an array of the shape of x.")
    return made


def _broadcast(array: Array, explicand: Array) -> Array:
    """An array with as many axes as the explicand, some of length 1, is spread over it."""
    shape, wanted = tuple(array.shape), tuple(explicand.shape)
    if len(shape) == len(wanted) and all(n in (1, m) for n, m in zip(shape, wanted, strict=True)):
        return namespace(array).broadcast_to(array, wanted)
    hint = ""
    if len(shape) == 1 and shape[0] in wanted:
        hint = f" For one number per channel say geex.per_channel(values, axis={wanted.index(shape[0])})."
    raise BaselineError(f"the baseline has shape {shape} and x has {wanted}; wanted the same shape or a number.{hint}")


def declared_baseline(spec: Baseline) -> Value:
    """Return the baseline as it stands in a call; arrays and functions of one's own only by what they are."""
    if spec is None or isinstance(spec, Real):
        return 0.0 if spec is None else float(spec)
    if isinstance(spec, list | tuple):
        return tuple(declared_baseline(entry) for entry in spec)
    if isinstance(spec, Blur | PerChannel):
        return declared(spec)
    array: Any = spec if is_array_api_obj(spec) else None
    what = type(spec).__name__ if array is None else f"an array of shape {tuple(array.shape)}"
    return Unnamed(what, "baseline")


@declared.register
def _(spec: Blur) -> Value:
    channels = () if spec.channels is None else (("channels", spec.channels),)
    return Call("blur", "geex", (spec.kernel.size, spec.kernel.sigma), channels)


@declared.register
def _(spec: PerChannel) -> Value:
    return Call("per_channel", "geex", (spec.values,), (("axis", spec.axis),))


def made_again(value: Value) -> Baseline:
    """Return the baseline that `declared_baseline` declared. Raise BaselineError where it cannot be made again."""
    rules: dict[str, Callable[..., Rule]] = {"blur": blur, "per_channel": per_channel}
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, tuple):
        return [made_again(entry) for entry in value]
    if isinstance(value, Call) and value.name in rules:
        return rules[value.name](*value.args, **dict(value.settings))
    raise BaselineError(f"the baseline was {value}, which cannot be made again.", code="baseline-not-remakable")
