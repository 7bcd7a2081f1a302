"""Arrays of any library: the namespace, type and device of the explicand, and conversions to them.

This is the only file that names array libraries, with `random_stream` and `linear_algebra`. The explicand decides:
NumPy arrays stay NumPy, PyTorch tensors stay on their device, other arrays follow the array API.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array

from geex._arrays.validation import code_name, subject
from geex.errors import ExplicandError, GeexError

Array = Any
Shape = tuple[int, ...]

__all__ = [
    "Array",
    "Shape",
    "accelerated",
    "as_array",
    "as_explicand",
    "device",
    "difference_overflows",
    "dtype_of",
    "gradient_free",
    "host",
    "is_real",
    "largest",
    "library",
    "like",
    "namespace",
    "owned",
    "restored_array",
    "working",
]


def namespace(array: Array) -> Any:
    """Return the array API namespace of `array`."""
    return array_namespace(array)


def library(array: Array) -> str:
    """Return the name of the library that makes random numbers for `array`: part of a plan's fingerprint."""
    return f"torch {device(array).type}" if is_torch_array(array) else "numpy"


def restored_array(array: np.ndarray, where: str) -> Array:
    """Return a stored array in the library and on the kind of device that `library` named."""
    if not where.startswith("torch"):
        return array
    import torch

    return torch.as_tensor(array, device=where.split()[1])


def dtype_of(name: str, array: Array) -> Any:
    """Return the type of that name, in the library of `array`."""
    return getattr(namespace(array), name) if is_torch_array(array) else np.dtype(name)


def accelerated(array: Array) -> bool:
    """Return whether the array is on an accelerator, where few large steps are faster than many small ones."""
    return is_torch_array(array) and array.device.type != "cpu"


def is_real(array: Array) -> bool:
    """Return whether the elements are real numbers or booleans."""
    if isinstance(array, np.ndarray | np.generic):
        return array.dtype.kind in "buif"
    return bool(namespace(array).isdtype(array.dtype, ("bool", "integral", "real floating")))


def as_array(name: str, value: Any, kind: type[GeexError]) -> Array:
    """Return the value as an array of real numbers, in a type that computes. Raise `kind` if it cannot be one."""
    what, code = subject(name), code_name(name)
    if isinstance(value, np.ma.MaskedArray):
        raise kind(
            f"{what} must have a value everywhere; got a masked array.",
            code=f"{code}-masked",
            fix="Fill it first, with .filled(…).",
        )
    array: Array = value
    if is_torch_array(value):
        array = value.detach()
        if array.layout is not namespace(array).strided or array.device.type == "meta":
            raise kind(
                f"{what} must be a dense tensor; got a sparse or meta tensor.",
                code=f"{code}-not-dense",
                fix="Convert it first, with .to_dense().",
            )
    elif not is_array_api_obj(value):
        try:
            array = np.asarray(value)
        except Exception as error:
            raise kind(
                f"{what} must be an array of real numbers; got a {type(value).__name__} ({error}).",
                code=f"{code}-not-an-array",
            ) from None
    if not is_real(array):
        fix = "To explain a text by its words, use geex.models.text(model, text)." if isinstance(value, str) else ""
        raise kind(
            f"{what} must hold real numbers; got a {type(value).__name__} with elements of type {array.dtype}.",
            code=f"{code}-not-real",
            fix=fix,
        )
    return _computable(array)


def _computable(array: Array) -> Array:
    """Return a NumPy array in the machine's byte order, and no wider than float64."""
    if not isinstance(array, np.ndarray | np.generic):
        return array
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8
    return np.asarray(array, dtype=np.float64 if wide else array.dtype.newbyteorder("="))


def as_explicand(x: Any) -> Array:
    """Return x as an array of real, finite numbers. Raise ExplicandError if it is none, or empty."""
    array = as_array("x", x, ExplicandError)
    if 0 in array.shape:
        raise ExplicandError(
            f"`x` must have at least one element; got an array of shape {tuple(array.shape)}.", code="x-empty"
        )
    xp = namespace(array)
    finite = xp.isfinite(xp.astype(array, _float_type(array)))
    if not bool(xp.all(finite)):
        place = tuple(int(i) for i in np.argwhere(~host(finite))[0])
        raise ExplicandError(
            f"`x` must hold finite numbers; it is not finite at {place}. Fill in missing values first.",
            code="x-not-finite",
        )
    return array


def owned(array: Array, dtype: Any = None) -> Array:
    """Return a contiguous copy: no other code writes to it, and sums over it do not depend on the layout of `array`."""
    if is_torch_array(array):
        return array.detach().to(dtype, copy=True).contiguous() if dtype else array.detach().clone().contiguous()
    if isinstance(array, np.ndarray | np.generic):
        return np.array(array, dtype=dtype, order="C", copy=True)
    return namespace(array).asarray(array, dtype=dtype, copy=True)


def working(x: Array) -> Array:
    """Return a copy of x in the type of queries and weights: float64, or float32 for narrower types."""
    return owned(x, _float_type(x))


def _float_type(x: Array) -> Any:
    xp = namespace(x)
    if xp.isdtype(x.dtype, "real floating"):
        return xp.float64 if x.dtype == xp.float64 else xp.float32
    narrow = x.dtype == xp.bool or xp.iinfo(x.dtype).bits <= 16
    return xp.float32 if narrow else xp.float64


def like(value: Any, array: Array, dtype: Any = None) -> Array:
    """Return the value as an array of the library and device of `array`, in `dtype` (default: that of `array`)."""
    xp = namespace(array)
    dtype = array.dtype if dtype is None else dtype
    if is_torch_array(value):
        value = value.detach() if is_torch_array(array) else host(value)
    elif is_torch_array(array) and is_array_api_obj(value):
        value = owned(_computable(host(value)))
    if accelerated(array) and not is_torch_array(value):
        # from pinned memory the copy does not wait for what the accelerator is doing
        return xp.asarray(value, dtype=dtype).pin_memory().to(array.device, non_blocking=True)
    return xp.asarray(value, dtype=dtype, device=device(array))


def host(array: Array) -> np.ndarray:
    """Return the array as a NumPy array. Types that NumPy does not have become float32."""
    if not is_torch_array(array):
        return np.asarray(array)
    array = array.detach().cpu()
    try:
        return np.asarray(array.numpy())
    except TypeError:  # bfloat16 and others
        return np.asarray(array.float().numpy())


def gradient_free(array: Array) -> AbstractContextManager[Any]:
    """Return a context in which the library of `array` records no gradients."""
    if not is_torch_array(array):
        return nullcontext()
    import torch

    context: AbstractContextManager[Any] = torch.no_grad()
    return context


def largest(values: np.ndarray, share: float) -> np.ndarray:
    """Return which values are the largest, as booleans: a share of them, at least one, and of equal ones the first.

    NaN is less than all other values.
    """
    row = np.where(np.isnan(values), -np.inf, values).ravel()
    count = max(1, round(share * len(row)))
    least = np.partition(row, -count)[-count]
    chosen: np.ndarray = row > least
    chosen[np.flatnonzero(row == least)[: count - np.count_nonzero(chosen)]] = True
    return chosen.reshape(values.shape)


def difference_overflows(one: Array, other: Array) -> bool:
    """Return whether the difference of two arrays of one type has an element beyond that type."""
    xp = namespace(one)
    # halves, so that the check itself does not overflow
    return bool(xp.max(xp.abs(one / 2 - other / 2)) > xp.finfo(one.dtype).max / 2)
