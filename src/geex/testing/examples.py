"""Little models and inputs that checks use. They lie in a module, so that other processes can import them."""

from typing import Any

import numpy as np

from geex._arrays.arrays import host

# The shape of the input of the checks.
SHAPE = (6, 5)


def picture() -> np.ndarray:
    """An input with values between 0.5 and 2, and one element that equals a baseline of 0."""
    x = 0.5 + 1.5 * np.random.default_rng(7).random(SHAPE)
    x[2, 3] = 0.0
    return x


def slopes(size: int) -> np.ndarray:
    """The slopes (size, 2) of `linear`."""
    return np.random.default_rng(8).uniform(-1.0, 1.0, (size, 2))


def linear(z: Any) -> np.ndarray:
    """Two outputs that are linear in z."""
    flat = _flat(z)
    return np.asarray(flat @ slopes(flat.shape[1]))


def curved(z: Any) -> np.ndarray:
    """Two outputs with interactions."""
    flat = _flat(z)
    sums = np.stack([(flat * slope).sum(axis=1) for slope in slopes(flat.shape[1]).T], axis=1)
    return np.asarray(np.tanh(sums + 0.3 * (flat[:, :1] * flat[:, -1:])))


def broken(z: Any) -> np.ndarray:
    """Raise for any batch of more than five rows."""
    if len(z) > 5:
        raise ValueError("this model is broken on purpose")
    return curved(z)


class Counted:
    """A model that counts the rows that it is asked. It raises where it would answer more than `most`."""

    def __init__(self, model: Any, most: float = np.inf) -> None:
        self.model, self.most, self.rows = model, most, 0

    def __call__(self, z: Any) -> Any:
        if self.rows + len(z) > self.most:
            raise ValueError("the run ends here on purpose")
        self.rows += len(z)
        return self.model(z)


def _flat(z: Any) -> np.ndarray:
    rows = np.asarray(host(z), dtype=np.float64)
    return rows.reshape(len(rows), -1)
