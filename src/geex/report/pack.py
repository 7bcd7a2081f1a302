"""Numbers and pictures as text in a page.

A value is kept to an eighth of a typical standard error, in two bytes; a standard error to a few percent, in one, on a
logarithmic scale; all deflated. That is far below what the values mean, and a photo's five outputs stay under 2 MB.
"""

import base64
import struct
import zlib
from typing import Any

import numpy as np

from geex.plot.view import Output

# Steps for a typical value.
FINE_STEPS = 8
# The largest code of a value, in 16 bits.
LARGEST_CODE = 32767
# Codes of standard errors, evenly spaced in logarithms; two more mean 0 and unknown.
ERROR_CODES = 253


def packed(output: Output) -> dict[str, Any]:
    """Values, standard errors and a bit for each (does it stand out from noise?), and the numbers that unpack them."""
    values = output.shown()
    errors = np.asarray(output.stderr, np.float64)
    known = errors[np.isfinite(errors) & (errors > 0)]
    largest = float(np.abs(values).max())
    typical = float(np.median(known)) if known.size else 0.0
    step = max(largest / LARGEST_CODE, min(typical / FINE_STEPS, largest / 256)) or 1.0
    whole = (np.rint(values / step) + 32768).astype(np.uint16)
    low, ratio, codes = _codes(errors, known)
    halves = [(whole >> 8).astype(np.uint8).tobytes(), (whole & 255).astype(np.uint8).tobytes()]
    content = b"".join([*halves, codes, np.packbits(output.sure()).tobytes()])
    return {"packed": deflated(content), "step": step, "errorLow": low, "errorRatio": ratio}


def plain(output: Output) -> dict[str, Any]:
    """The same numbers as they are, and where their intervals are drawn: lists are short, and may be exact."""
    errors = [float(error) if np.isfinite(error) else None for error in np.asarray(output.stderr)]
    return {"values": np.asarray(output.shown(), float).tolist(), "errors": errors, "centre": output.centre.tolist()}


def deflated(content: bytes) -> str:
    """Bytes as text: deflated, in base 64."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def png(pixels: np.ndarray) -> bytes:
    """A picture (h, w, 3) in 0 … 255 as a PNG file, every row as its difference from the one above."""
    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels, np.uint8).reshape(height, 3 * width)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, np.uint8), rows - above])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(name, content) for name, content in parts)


def data_url(picture: np.ndarray) -> str:
    """A picture that is its own address."""
    return f"data:image/png;base64,{base64.b64encode(png(picture)).decode()}"


def _part(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _codes(errors: np.ndarray, known: np.ndarray) -> tuple[float, float, bytes]:
    """Codes of errors: 0 where there is none, 1 for zero, and from 2 on low·ratio^(code − 2)."""
    codes = np.zeros(errors.shape, np.uint8)
    codes[errors == 0] = 1
    if not known.size:
        return 1.0, 1.0, codes.tobytes()
    low, high = float(known.min()), float(known.max())
    ratio = max((high / low) ** (1 / ERROR_CODES), 1 + 1e-9)
    positive = np.isfinite(errors) & (errors > 0)
    codes[positive] = np.rint(np.log(errors[positive] / low) / np.log(ratio)).clip(0, ERROR_CODES).astype(np.uint8) + 2
    return low, ratio, codes.tobytes()
