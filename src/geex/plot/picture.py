"""The picture under the values: the one that was given, or x itself."""

from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from geex._arrays.arrays import Shape, host
from geex.errors import InputError

DARK = 64  # pixels of a picture in 0 … 255 that are all below would be all but black
# Weights of red, green and blue in the brightness (Rec. 601).
LUMINANCE = np.array([0.299, 0.587, 0.114])


def picture_of(explicand: np.ndarray | None, axis: int | None, image: Any, shape: Shape) -> np.ndarray:
    """Return the picture under the values, (h, w, 3) in 0 … 255."""
    if image is not None:
        return _given(image, shape)
    if explicand is None:
        return np.full((*shape, 3), 255, np.uint8)
    pixels = explicand if axis is None else np.moveaxis(explicand, axis, -1)
    low, high = float(pixels.min()), float(pixels.max())
    if low >= 0 and high <= 255:
        low, high = 0.0, 1.0 if high <= 1 else 255.0 if high > DARK else high
    return _coloured((pixels - low) / ((high - low) or 1.0))


def _given(image: Any, shape: Shape) -> np.ndarray:
    pixels = host(image) if is_torch_array(image) else np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[-1] not in (1, 3, 4) and pixels.shape[0] in (1, 3, 4):
        pixels = np.moveaxis(pixels, 0, -1)
    if (
        pixels.ndim not in (2, 3)
        or pixels.shape[:2] != shape
        or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3, 4))
    ):
        raise InputError(
            f"`image` must have the shape {shape} or {(*shape, 3)} of the pixels with values; got {pixels.shape}.",
            code="image-shape",
        )
    if pixels.dtype.kind not in "buif" or not np.isfinite(pixels).all() or pixels.min() < 0 or pixels.max() > 255:
        raise InputError(
            "`image` must hold numbers from 0 to 255, or from 0 to 1. Pass the picture before preprocessing.",
            code="image-range",
        )
    whole = pixels.dtype.kind in "ui" or float(pixels.max()) > 1
    return _coloured(pixels / 255 if whole else pixels.astype(float))


def _coloured(pixels: np.ndarray) -> np.ndarray:
    """(h, w) or (h, w, c) in 0 … 1 as (h, w, 3) in 0 … 255; what is neither grey nor RGB(A) as its mean."""
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    pixels = pixels[..., :3] if pixels.shape[-1] in (3, 4) else pixels.mean(axis=-1, keepdims=True)
    return np.asarray(np.rint(np.clip(np.broadcast_to(pixels, (*pixels.shape[:2], 3)), 0, 1) * 255), np.uint8)


def grey(picture: np.ndarray) -> np.ndarray:
    """Return the luminance of a picture (h, w), in 0 … 255."""
    return np.asarray(picture @ LUMINANCE)
