"""The array library and device of the explicand, and random numbers made there.

This is the only file that knows libraries by name. The explicand decides: NumPy arrays stay NumPy, PyTorch
tensors stay on their device; any other library that follows the array API gets its random numbers from NumPy.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array

from geex.errors import ExplicandError

Array = Any
Shape = tuple[int, ...]

__all__ = [
    "Array",
    "Shape",
    "Stream",
    "accelerated",
    "as_explicand",
    "device",
    "gradient_free",
    "host",
    "is_real",
    "library",
    "like",
    "namespace",
    "segment_sum",
    "working",
]


def namespace(array: Array) -> Any:
    """The array API namespace of `array`."""
    return array_namespace(array)


def library(array: Array) -> str:
    """Where random numbers for `array` come from, in words: part of a plan's identity."""
    return f"torch {device(array).type}" if is_torch_array(array) else "numpy"


def accelerated(array: Array) -> bool:
    """Whether the array lives on an accelerator, where few large steps are faster than many small ones."""
    return is_torch_array(array) and array.device.type != "cpu"


def is_real(array: Array) -> bool:
    """Whether the elements are real numbers (or bool)."""
    if isinstance(array, np.ndarray | np.generic):
        return array.dtype.kind in "buif"
    return bool(namespace(array).isdtype(array.dtype, ("bool", "integral", "real floating")))


def as_explicand(x: Any) -> Array:
    """x as an array of real, finite numbers with at least one element."""
    array = x.detach() if is_torch_array(x) else x if is_array_api_obj(x) else np.asarray(x)
    if not is_real(array):
        raise ExplicandError(
            f"x has elements of type {array.dtype}; wanted real numbers. Convert it first, "
            "for instance with np.asarray(x, dtype=float)."
        )
    if 0 in array.shape:
        raise ExplicandError(f"x has shape {tuple(array.shape)} and so no element; wanted at least one feature.")
    xp = namespace(array)
    finite = xp.isfinite(xp.astype(array, _float_type(array)))
    if not bool(xp.all(finite)):
        place = tuple(int(i) for i in np.argwhere(~host(finite))[0])
        raise ExplicandError(f"x is not finite at {place}; wanted finite numbers. Fill or drop what is missing first.")
    return array


def working(x: Array) -> Array:
    """x in the floating type that queries and weights are made in: float64, or float32 for narrower types."""
    return namespace(x).astype(x, _float_type(x))


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
        value = value.detach()
        if not is_torch_array(array):
            value = value.cpu().numpy()
    elif is_torch_array(array) and is_array_api_obj(value):
        value = host(value)
    if accelerated(array) and not is_torch_array(value):
        # from pinned memory the copy does not wait for what the accelerator is doing
        return xp.asarray(value, dtype=dtype).pin_memory().to(array.device, non_blocking=True)
    return xp.asarray(value, dtype=dtype, device=device(array))


def host(array: Array) -> np.ndarray:
    """A NumPy copy, wherever the array lives."""
    if is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.asarray(array)


def gradient_free(array: Array) -> AbstractContextManager[Any]:
    """A context in which the library of `array` records no gradients."""
    if not is_torch_array(array):
        return nullcontext()
    import torch

    return torch.no_grad()


def segment_sum(rows: Array, order: np.ndarray, lengths: np.ndarray) -> Array:
    """Sums of `rows` (n, p) over runs of columns: columns taken in `order`, then summed in runs of `lengths`."""
    xp = namespace(rows)
    if is_torch_array(rows):
        columns = rows.T[like(order, rows, xp.int64)]
        return xp.segment_reduce(columns, "sum", lengths=like(lengths, rows, xp.int64), axis=0).T
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return like(np.add.reduceat(host(rows)[:, order], starts, axis=1), rows)


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
