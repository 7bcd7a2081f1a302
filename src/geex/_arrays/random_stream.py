"""Random numbers that depend on a seed and a place alone, in any order of calls.

NumPy arrays and those of other libraries get NumPy's numbers. PyTorch tensors get PyTorch's, made on their device.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from geex._arrays.arrays import Array, Shape, like, namespace

# The smallest uniform number: its logarithm is finite, and float32 distinguishes it from 0.
SMALLEST = 2.0**-26


@dataclass(frozen=True)
class Stream:
    """Random numbers that are a function of (seed, place), in the library, type and on the device of the array `model`.

    Parameters
    ----------
    seed
        The seed of the run.
    place
        Where the numbers are used, such as a stream number and a chunk. Other places have independent numbers.
    model
        An array whose library, device and type the numbers have.
    """

    seed: int
    place: tuple[int, ...]
    model: Array

    def generator(self) -> np.random.Generator:
        """Return NumPy's generator for this place, for the few numbers that are needed on the host."""
        return np.random.default_rng(self._sequence())

    def normal(self, shape: Shape) -> Array:
        """Draw independent N(0, 1) numbers."""
        if is_torch_array(self.model):
            return self._torch("randn", shape)
        draws = self.generator().standard_normal(shape, dtype=self._dtype())
        return like(draws, self.model)

    def uniform(self, shape: Shape) -> Array:
        """Draw independent uniform numbers in the open interval (0, 1)."""
        if is_torch_array(self.model):
            return namespace(self.model).clip(self._torch("rand", shape), SMALLEST, None)
        draws = self.generator().random(shape, dtype=self._dtype())
        return like(np.maximum(draws, SMALLEST), self.model)

    def _dtype(self) -> Any:
        return np.float64 if self.model.dtype == namespace(self.model).float64 else np.float32

    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=self.place)

    def _torch(self, draw: str, shape: Shape) -> Array:
        import torch

        generator = torch.Generator(device=self.model.device)
        # seeds of PyTorch have 63 bits
        generator.manual_seed(int(self._sequence().generate_state(1, np.uint64)[0] >> np.uint64(1)))
        return getattr(torch, draw)(shape, generator=generator, dtype=self.model.dtype, device=self.model.device)
