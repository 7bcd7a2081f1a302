"""The array library and device of the explicand, and random numbers made there.

This is the only file that knows libraries by name. The explicand decides: NumPy arrays stay NumPy, PyTorch
tensors stay on their device; any other library that follows the array API gets its random numbers from NumPy.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_numpy_array, is_torch_array
from scipy.linalg import solve_triangular

from geex._arrays.blas import PRODUCTS, one_thread
from geex.errors import ExplicandError, GeexError

Array = Any
Shape = tuple[int, ...]

SIDE = 512  # of matrices along the axis of an image, many at a time: threads wait for each other at every one of them

__all__ = [
    "Array",
    "Shape",
    "Stream",
    "accelerated",
    "along",
    "as_array",
    "as_explicand",
    "device",
    "dtype_of",
    "exact",
    "gradient_free",
    "gram",
    "host",
    "is_real",
    "library",
    "like",
    "namespace",
    "near",
    "owned",
    "revived",
    "segment_sum",
    "solved",
    "too_far",
    "working",
]


def namespace(array: Array) -> Any:
    """The array API namespace of `array`."""
    return array_namespace(array)


def library(array: Array) -> str:
    """Where random numbers for `array` come from, in words: part of a plan's identity."""
    return f"torch {device(array).type}" if is_torch_array(array) else "numpy"


def revived(array: np.ndarray, where: str) -> Array:
    """An array that was stored, back in the library and on the kind of device that `library` told."""
    if not where.startswith("torch"):
        return array
    import torch

    return torch.as_tensor(array, device=where.split()[1])


def dtype_of(name: str, array: Array) -> Any:
    """The type of that name, in the library of `array`."""
    return getattr(namespace(array), name) if is_torch_array(array) else np.dtype(name)


def accelerated(array: Array) -> bool:
    """Whether the array lives on an accelerator, where few large steps are faster than many small ones."""
    return is_torch_array(array) and array.device.type != "cpu"


def is_real(array: Array) -> bool:
    """Whether the elements are real numbers (or bool)."""
    if isinstance(array, np.ndarray | np.generic):
        return array.dtype.kind in "buif"
    return bool(namespace(array).isdtype(array.dtype, ("bool", "integral", "real floating")))


def as_array(name: str, value: Any, kind: type[GeexError]) -> Array:
    """`value` as an array of real numbers in a type that computes; raises `kind` where it cannot be one."""
    if isinstance(value, np.ma.MaskedArray):
        raise kind(f"{name} is a masked array, and what is masked has no value; fill it first, with {name}.filled(…).")
    array: Array = value
    if is_torch_array(value):
        array = value.detach()
        if array.layout is not namespace(array).strided or array.device.type == "meta":
            raise kind(f"{name} is a sparse or meta tensor; wanted a dense one. Convert it first, with .to_dense().")
    elif not is_array_api_obj(value):
        try:
            array = np.asarray(value)
        except Exception as error:
            raise kind(
                f"{name} is a {type(value).__name__} that makes no array ({error}); wanted real numbers."
            ) from None
    if not is_real(array):
        way = " geex.models.text(model, text) explains a text by its words." if isinstance(value, str) else ""
        raise kind(f"{name} is a {type(value).__name__} with elements of type {array.dtype}; wanted real numbers.{way}")
    return _computable(array)


def _computable(array: Array) -> Array:
    """NumPy arrays in the machine's byte order, and no wider than float64."""
    if not isinstance(array, np.ndarray | np.generic):
        return array
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8
    return np.asarray(array, dtype=np.float64 if wide else array.dtype.newbyteorder("="))


def as_explicand(x: Any) -> Array:
    """x as an array of real, finite numbers with at least one element."""
    array = as_array("x", x, ExplicandError)
    if 0 in array.shape:
        raise ExplicandError(f"x has shape {tuple(array.shape)} and so no element; wanted at least one feature.")
    xp = namespace(array)
    finite = xp.isfinite(xp.astype(array, _float_type(array)))
    if not bool(xp.all(finite)):
        place = tuple(int(i) for i in np.argwhere(~host(finite))[0])
        raise ExplicandError(f"x is not finite at {place}; wanted finite numbers. Fill or drop what is missing first.")
    return array


def owned(array: Array, dtype: Any = None) -> Array:
    """A copy of one's own, its rows one after the other in memory: nobody else writes to it, and sums over it run in
    the same order however it came."""
    if is_torch_array(array):
        return array.detach().to(dtype, copy=True).contiguous() if dtype else array.detach().clone().contiguous()
    if isinstance(array, np.ndarray | np.generic):
        return np.array(array, dtype=dtype, order="C", copy=True)
    return namespace(array).asarray(array, dtype=dtype, copy=True)


def working(x: Array) -> Array:
    """A copy of x in the floating type that queries and weights are made in: float64, or float32 for narrower types."""
    return owned(x, _float_type(x))


def _float_type(x: Array) -> Any:
    xp = namespace(x)
    if xp.isdtype(x.dtype, "real floating"):
        return xp.float64 if x.dtype == xp.float64 else xp.float32
    narrow = x.dtype == xp.bool or xp.iinfo(x.dtype).bits <= 16
    return xp.float32 if narrow else xp.float64


def like(value: Any, array: Array, dtype: Any = None) -> Array:
    """`value` as an array of the library and device of `array`, in `dtype` (default: that of `array`)."""
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
    """The array as NumPy's, wherever it lives; types that NumPy does not have become float32."""
    if not is_torch_array(array):
        return np.asarray(array)
    array = array.detach().cpu()
    try:
        return np.asarray(array.numpy())
    except TypeError:
        return np.asarray(array.float().numpy())


def gradient_free(array: Array) -> AbstractContextManager[Any]:
    """A context in which the library of `array` records no gradients."""
    if not is_torch_array(array):
        return nullcontext()
    import torch

    context: AbstractContextManager[Any] = torch.no_grad()
    return context


def largest(values: np.ndarray, share: float) -> np.ndarray:
    """Which are the largest, as booleans: a share of them, one at the least, and of equal ones the first.
    NaN is less than all."""
    row = np.where(np.isnan(values), -np.inf, values).ravel()
    count = max(1, round(share * len(row)))
    least = np.partition(row, -count)[-count]
    chosen: np.ndarray = row > least
    chosen[np.flatnonzero(row == least)[: count - np.count_nonzero(chosen)]] = True
    return chosen.reshape(values.shape)


def too_far(one: Array, other: Array) -> bool:
    """Whether the difference of two arrays of one type is somewhere beyond that type."""
    xp = namespace(one)
    return bool(xp.max(xp.abs(one / 2 - other / 2)) > xp.finfo(one.dtype).max / 2)


def segment_sum(rows: Array, order: np.ndarray, lengths: np.ndarray) -> Array:
    """Sums of `rows` (n, p) over runs of columns: columns taken in `order`, then summed in runs of `lengths`."""
    xp = namespace(rows)
    if is_torch_array(rows):
        columns = rows.T[like(order, rows, xp.int64)]
        return xp.segment_reduce(columns, "sum", lengths=like(lengths, rows, xp.int64), axis=0).T
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return like(np.add.reduceat(host(rows)[:, order], starts, axis=1), rows)


def along(grid: Array, axis: int, matrix: Array) -> Array:
    """Σ_i grid[…, i, …] matrix[i, j], for i along an axis: products as they lie in memory, with no copy."""
    xp, shape = namespace(grid), tuple(grid.shape)
    before, after = shape[:axis], shape[axis + 1 :]
    rows = xp.reshape(grid, (-1, shape[axis], prod(after)))
    with one_thread(max(matrix.shape) <= SIDE):
        made = rows[:, :, 0] @ matrix if prod(after) == 1 else matrix.T @ rows
    return xp.reshape(made, (*before, matrix.shape[1], *after))


def near(array: Array) -> Array:
    """The array in NumPy, without a copy, unless it is on an accelerator: small products are faster there."""
    return array if accelerated(array) else host(array)


def exact(array: Array) -> Array:
    """The array in a type whose products can be solved with: float64 on an accelerator, where those of float32 may be
    made of ten bits (TF32), and as it is elsewhere."""
    return namespace(array).astype(array, namespace(array).float64, copy=False) if accelerated(array) else array


def gram(rows: Array) -> Array:
    """rowsᵀ rows (q, q). NumPy sees that it is symmetric, and makes half of it."""
    own = near(rows)
    with one_thread(own.shape[0] * own.shape[1] ** 2 <= PRODUCTS):
        return like(own.T @ own, rows)


def solved(lower: Array, right: Array, transposed: bool = False) -> Array:
    """L⁻¹ right, or L⁻ᵀ right, for a lower triangular L."""
    if is_torch_array(lower):
        return namespace(lower).linalg.solve_triangular(lower.T if transposed else lower, right, upper=transposed)
    if is_numpy_array(lower):
        with one_thread(lower.shape[0] * prod(right.shape) <= PRODUCTS):
            return solve_triangular(lower, right, trans=int(transposed), lower=True, check_finite=False)
    return namespace(lower).linalg.solve(lower.T if transposed else lower, right)


@dataclass(frozen=True)
class Stream:
    """Random numbers that are a function of (seed, place) alone, made in the library and on the device of `model`.

    `model` is any array there; its type is the type of what is drawn.
    """

    seed: int
    place: tuple[int, ...]
    model: Array

    def generator(self) -> np.random.Generator:
        """NumPy's generator for this place, for the few numbers that belong on the host."""
        return np.random.default_rng(self._sequence())

    def normal(self, shape: Shape) -> Array:
        """Independent N(0, 1)."""
        if is_torch_array(self.model):
            return self._torch("randn", shape)
        draws = self.generator().standard_normal(shape, dtype=self._dtype())
        return like(draws, self.model)

    def uniform(self, shape: Shape) -> Array:
        """Independent uniforms in the open interval (0, 1)."""
        smallest = 2.0**-26
        if is_torch_array(self.model):
            return namespace(self.model).clip(self._torch("rand", shape), smallest, None)
        draws = self.generator().random(shape, dtype=self._dtype())
        return like(np.maximum(draws, smallest), self.model)

    def _dtype(self) -> Any:
        return np.float64 if self.model.dtype == namespace(self.model).float64 else np.float32

    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=self.place)

    def _torch(self, draw: str, shape: Shape) -> Array:
        import torch

        generator = torch.Generator(device=self.model.device)
        generator.manual_seed(int(self._sequence().generate_state(1, np.uint64)[0] >> np.uint64(1)))
        return getattr(torch, draw)(shape, generator=generator, dtype=self.model.dtype, device=self.model.device)
