"""How values look over a picture: vermillion for, blue against, the stronger the more of it.

    pixel = (1 − a)·paper + a·colour(sign),   a = opacity · min(|value| / limit, 1)

The paper is the picture in grey, drawn towards white, so that colour means a value and nothing else.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geex._arrays.arrays import largest
from geex._arrays.validation import is_number
from geex.errors import InputError
from geex.plot.canvas import AGAINST, DOUBT, FOR
from geex.plot.picture import grey
from geex.plot.view import Output, Scene

# What `show` may name.
SHOWS = ("signed", "positive", "top", "sure")
# How far the picture fades to white below values.
FADED = 0.7
# Brightness of the pixels outside the top.
DARKENED = 0.25


@dataclass(frozen=True)
class Look:
    """Which values are drawn over an image, and how strongly.

    Parameters
    ----------
    show
        "signed", "positive", "top" or "sure"; see `Explanation.plot`.
    percentile
        The percentile of absolute values from which on colours are full.
    opacity
        The opacity of full colours, above 0 and at most 1.
    top
        The share of pixels that "top" shows.
    level
        "sure" greys what may be noise; of the coloured pixels, a share of 1 − `level` at most is expected to be.

    Raises
    ------
    InputError
        A setting is wrong.

    Examples
    --------
    >>> import geex
    >>> geex.plot.Look("top", top=0.05).top
    0.05
    """

    show: str = "signed"
    percentile: float = 99.5
    opacity: float = 0.85
    top: float = 0.1
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.show not in SHOWS:
            raise InputError(f"`show` must be one of {', '.join(SHOWS)}; got {self.show!r}.", code="show-unknown")
        for name in ("opacity", "top"):
            share = getattr(self, name)
            if not is_number(share) or not 0 < share <= 1:
                raise InputError(f"`{name}` must be above 0 and at most 1; got {share!r}.", code=f"{name}-out-of-range")


def tinted(scene: Scene, output: Output, look: Look, limit: float | None = None) -> np.ndarray:
    """The picture with the values of one output over it: (h, w, 3) in 0 … 255."""
    assert scene.picture is not None
    values = scene.spread(output.shown(look.level) if look.show == "sure" else output.values)
    limit = output.limit(look.percentile) if limit is None else limit
    if look.show == "top":
        return _lit(scene.picture, values, look.top)
    values = values - output.origin
    if look.show == "positive":
        values = np.maximum(values, 0)
    colour = np.where((values >= 0)[..., None], FOR, AGAINST).astype(float)
    if look.show == "sure":
        colour[~scene.spread(output.sure(look.level))] = DOUBT
    amount = look.opacity * np.minimum(np.abs(values) / limit, 1)[..., None]
    return _bytes((1 - amount) * paper(scene.picture)[..., None] + amount * colour)


def paper(picture: np.ndarray) -> np.ndarray:
    """The picture in grey and faded (h, w)."""
    return np.asarray(255 * FADED + (1 - FADED) * grey(picture))


def colours(look: Look) -> Any:
    """The matplotlib map from −limit … limit to what full paper white shows."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [np.array(colour) / 255 * look.opacity + 1 - look.opacity for colour in (AGAINST, FOR)]
    return LinearSegmentedColormap.from_list("geex", np.stack([ends[0], np.ones(3), ends[1]]))


def _lit(picture: np.ndarray, values: np.ndarray, top: float) -> np.ndarray:
    """The picture in its own colours where values are highest, and dark elsewhere."""
    return _bytes(np.where(largest(values, top)[..., None], picture, DARKENED * picture))


def _bytes(pixels: np.ndarray) -> np.ndarray:
    return np.asarray(np.rint(np.clip(pixels, 0, 255)), np.uint8)
