"""Baselines: the input that stands for the absence of features.

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
from geex._arrays.validation import is_whole, shown
from geex._problem.background import Background
from geex._problem.declared import Call, Unnamed, Value, declared
from geex._problem.features import image_axes, long_axes
from geex._problem.table.cells import is_number
from geex._problem.table.rows import frame_rows, is_frame
from geex._protocols import Features
from geex.errors import BaselineError, GeexError

Rule = Callable[[Array], Array]
Baseline = float | Array | Rule | Background | Sequence[Any] | None


@dataclass(frozen=True)
class Blur:
    """The explicand's own blurred version; see `blur`."""

    kernel: Kernel
    channels: int | None = None

    def __call__(self, x: Array) -> Array:
        shape = tuple(x.shape)
        axes = long_axes(image_axes(shape, self.channels), shape) or image_axes(shape, self.channels)
        self.kernel.check(shape, axes)
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
                f"`values` must have one number for each entry of x along the axis; got {len(self.values)} for axis "
                f"{self.axis} of shape {tuple(x.shape)}.",
                code="per-channel-length",
            )
        lengths = [1] * n
        lengths[self.axis] = len(self.values)
        return np.broadcast_to(np.reshape(self.values, lengths), tuple(x.shape))


def blur(kernel: int, sigma: float, channels: int | None = None) -> Blur:
    """Return a baseline rule: x, blurred by a Gaussian filter.

    Parameters
    ----------
    kernel
        The size of the filter in pixels, an odd number.
    sigma
        The standard deviation of the filter in pixels.
    channels
        The channel axis, which is not blurred along. None: that of the features, or else a first or last axis of at
        most 4 entries.

    Returns
    -------
    Blur
        A rule for `geex.explain(baseline=…)`.

    Raises
    ------
    MethodError
        `kernel` is not odd, or `sigma` is not positive.

    Notes
    -----
    The baseline is w * x, the image mirrored at its border. Values then attribute detail: what is flat in x is the same
    in the baseline.

    Examples
    --------
    >>> import geex, numpy as np
    >>> image = np.eye(5)
    >>> geex.blur(3, 1.0)(image).shape
    (5, 5)
    """
    return Blur(Kernel(kernel, sigma), channels)


def per_channel(values: Sequence[float], axis: int = 0) -> PerChannel:
    """Return a baseline rule: one number for each channel.

    Parameters
    ----------
    values
        One number for each channel.
    axis
        The channel axis of x.

    Returns
    -------
    PerChannel
        A rule for `geex.explain(baseline=…)`.

    Raises
    ------
    BaselineError
        `values` is not a list of numbers, or `axis` is not a whole number.

    Examples
    --------
    >>> import geex, numpy as np
    >>> black = geex.per_channel([-2.1, -2.0, -1.8])
    >>> black(np.zeros((3, 4, 4)))[:, 0, 0]
    array([-2.1, -2. , -1.8])
    """
    numbers = as_array("values", values, BaselineError)
    if numbers.ndim != 1 or not is_whole(axis):
        raise BaselineError(
            f"`values` must be a list of numbers and `axis` a whole number; got {shown(values)} and {shown(axis)}.",
            code="per-channel-form",
        )
    return PerChannel(tuple(float(v) for v in numbers), int(axis))


def mean(data: Any) -> Array:
    """Return a baseline: the mean of inputs, each over the inputs that have a value.

    Parameters
    ----------
    data
        Inputs (n, *shape of x), or a data frame of numbers.

    Returns
    -------
    Array
        The mean (*shape of x), for `geex.explain(baseline=…)`. The mean of a data frame is a row with its names.

    Raises
    ------
    BaselineError
        `data` is empty, or does not hold real numbers alone.

    Examples
    --------
    >>> import geex, numpy as np
    >>> geex.mean([[0.0, 1.0], [2.0, 3.0]])
    array([1., 2.])
    """
    if is_frame(data):
        _check_numbers(data)
    array = working(as_array("data", data, BaselineError)) if not is_frame(data) else data
    if len(array.shape) == 0 or array.shape[0] == 0:
        raise BaselineError(
            f"`data` must have the shape (n, *shape of x), n at least 1; got {tuple(array.shape)}.", code="data-empty"
        )
    if is_frame(data):
        return data.mean()
    xp = namespace(array)
    missing = xp.isnan(array)
    if not bool(xp.any(missing)):
        return xp.mean(array, axis=0)
    count = xp.sum(xp.astype(~missing, array.dtype), axis=0)
    total = xp.sum(xp.where(missing, xp.zeros_like(array), array), axis=0)
    return xp.where(count == 0, count * float("nan"), total / xp.clip(count, 1, None))


def _check_numbers(frame: Any) -> None:
    """Raise BaselineError unless all columns of a data frame hold numbers."""
    for row in frame_rows(frame)[:1]:
        for name, cell, dtype in zip(row.names, row.cells, row.dtypes or (None,) * len(row.cells), strict=True):
            if not is_number(cell) if dtype is None else dtype.kind not in "buif":
                raise BaselineError(
                    f"`data` must hold numbers; column {str(name)!r} does not, and has no mean.",
                    code="data-not-real",
                    fix="Pass another row as the baseline, such as X.mode().iloc[0].",
                )


def baselines(spec: Baseline, explicand: Array, features: Features) -> list[Array]:
    """Return the baselines of `spec`, each in the shape, type and on the device of the (floating) explicand."""
    if isinstance(spec, Background):
        return [_one(row, explicand, features) for row in spec.rows]
    if isinstance(spec, list | tuple):
        check_list(spec, tuple(explicand.shape))
        return [_one(entry, explicand, features) for entry in spec]
    return [_one(spec, explicand, features)]


def check_list(spec: Sequence[Any], shape: tuple[int, ...]) -> None:
    """Raise BaselineError for a list without baselines, and for one that may be a row (p,)."""
    if not spec:
        raise BaselineError(
            "A list of baselines must hold at least one; got an empty one. None is a baseline of zeros.",
            code="baselines-empty",
        )
    if (len(spec),) == shape and len(spec) > 1 and all(isinstance(one, Real) for one in spec):
        raise BaselineError(
            f"`baseline` is ambiguous: a list of {len(spec)} numbers, as many as x has, may be one row or several "
            "baselines.",
            code="baseline-ambiguous",
            fix="Pass np.asarray(baseline) for a row, or [np.full(x.shape, number), …] for several baselines.",
        )


def _one(spec: Any, explicand: Array, features: Features) -> Array:
    if isinstance(spec, Blur) and spec.channels is None:
        spec = replace(spec, channels=features.channels)
    if callable(spec) and not is_array_api_obj(spec):
        spec = applied_rule(spec, owned(explicand))
    if isinstance(spec, list | tuple):
        raise BaselineError(
            "A list of baselines must hold numbers, arrays or rules such as geex.blur; it holds a list.",
            code="baselines-nested",
        )
    array = as_array("baseline", 0.0 if spec is None else spec, BaselineError)
    if not isinstance(spec, Real) and array.ndim and tuple(array.shape) != tuple(explicand.shape):
        array = _broadcast(array, explicand)
    xp = namespace(explicand)
    array = xp.broadcast_to(like(array, explicand), tuple(explicand.shape)) + xp.zeros_like(explicand)
    if not bool(xp.all(xp.isfinite(array))):
        raise BaselineError(
            "`baseline` must hold finite numbers; it holds NaN or infinity.", code="baseline-not-finite"
        )
    return array


def applied_rule(rule: Callable[[Any], Any], x: Any) -> Any:
    """Return the baseline that a rule makes of x. Raise BaselineError if it fails."""
    try:
        made = rule(x)
    except GeexError:
        raise
    except Exception as error:
        raise BaselineError(
            f"The baseline rule raised {type(error).__name__}: {error}", code="baseline-rule-raised"
        ) from error
    if made is None:
        raise BaselineError(
            "A baseline rule must return an array of the shape of x; it returned None.", code="baseline-rule-none"
        )
    return made


def _broadcast(array: Array, explicand: Array) -> Array:
    """Return an array with as many axes as the explicand, some of length 1, in the shape of the explicand."""
    shape, full = tuple(array.shape), tuple(explicand.shape)
    if len(shape) == len(full) and all(n in (1, m) for n, m in zip(shape, full, strict=True)):
        return namespace(array).broadcast_to(array, full)
    fix = ""
    if len(shape) == 1 and shape[0] in full:
        fix = f"For one number per channel, pass geex.per_channel(values, axis={full.index(shape[0])})."
    if shape[1:] == full:
        fix = "For rows of data, pass geex.background(rows) or geex.mean(rows)."
    raise BaselineError(
        f"`baseline` must be a number or have the shape of x, {full}; got {shape}.", code="baseline-shape", fix=fix
    )


def declared_baseline(spec: Baseline) -> Value:
    """Return the baseline as a call can show it; of arrays and functions of one's own, only what they are."""
    if spec is None or isinstance(spec, Real):
        return 0.0 if spec is None else float(spec)
    if isinstance(spec, list | tuple):
        return tuple(declared_baseline(entry) for entry in spec)
    if isinstance(spec, Blur | PerChannel | Background):
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


def restored_baseline(value: Value) -> Baseline:
    """Return the baseline that `declared_baseline` declared. Raise BaselineError if only its kind was kept."""
    rules: dict[str, Callable[..., Rule]] = {"blur": blur, "per_channel": per_channel}
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, tuple):
        return [restored_baseline(entry) for entry in value]
    if isinstance(value, Call) and value.name in rules:
        return rules[value.name](*value.args, **dict(value.settings))
    raise BaselineError(f"The baseline was {value}, which cannot be made again.", code="baseline-not-remakable")
