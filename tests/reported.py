"""Explanations that the tests of reports share: a photo, a row, and a picture of which one spot matters."""

from functools import cache

import numpy as np

import geex
from tests.helpers import explained

rng = np.random.default_rng(5)
PHOTO = rng.uniform(0.1, 1, (3, 12, 16)).astype(np.float32)
NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a & b",
    "\"quoted\" 'name'",
    "${title} $x",
]


def looks(z):
    """Five outputs, each of a column of the picture, as probabilities."""
    columns = np.asarray(z)[..., :5].mean((1, 2)) * np.array([5.0, 4, 3, 2, 1])
    odds = np.exp(columns - columns.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)


@cache
def photo_explained():
    return explained(looks, PHOTO, geex.GEEX(0.3), 400, features=geex.Pixels(channels=0)).named(labels=NASTY)


@cache
def columns_explained():
    model = lambda z: np.stack([z @ [1.0, -2.0, 0.5, 0.0], z.sum(1)], axis=1)  # noqa: E731
    explanation = explained(model, np.array([1.0, 1.5, 2.0, 1.0]), geex.Presence(), 300, target=0)
    return explanation.named(labels=NASTY[:2], names=["pay", "<b>age</b>", "</script>", "nothing"])


STEEP = rng.uniform(0.5, 1, (12, 12))


def spot(z):
    """Two outputs that depend on a square of the picture."""
    odds = 9 * (z[:, 2:5, 6:10].mean((1, 2)) - 0.4)
    return np.stack([odds, -odds], axis=1)


@cache
def spot_explained():
    return geex.explain(spot, STEEP, labels=["cat", "dog"], progress=False)
