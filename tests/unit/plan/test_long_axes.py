"""Axes of length 1 do not count, and matrices along long axes are bounded."""

import numpy as np
import pytest

import geex
from geex._arrays.random_stream import Stream
from geex._estimate.linear.knots import LONGEST_AXIS, knots_for
from geex._plan import presence_masks
from geex._plan.presence_masks import smooth_fields
from geex._problem.features import long_axes, neighbouring
from tests.helpers import explained

X = np.cumsum(np.random.default_rng(0).normal(size=60))
WEIGHTS = np.exp(-((np.arange(60) - 20) ** 2) / 50)
METHODS = [
    geex.Shapley(),
    geex.Guided(),
    geex.Presence(widths=(4.0,)),
    geex.Regression(geex.GEEX(0.5)),
    geex.GEEX(0.5, smooth=(5, 1.0)),
]


def model(z):
    return np.tanh(z.reshape(len(z), -1) @ WEIGHTS / 20)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_a_series_with_one_channel_is_a_series(method):
    # this regression takes a plain series for columns, so its reference has a channel axis that is named
    named = (X[:, None], geex.Elements(channels=1))
    plain = named if isinstance(method, geex.Regression) else (X, geex.Elements(line=True))
    line = explained(model, plain[0], method, 300, features=plain[1])
    others = [
        named,
        (X[:, None], geex.Elements()),
        (X[None, :], geex.Elements()),
        (X[:, None, None], geex.Elements(channels=2)),
    ]
    if not isinstance(method, geex.GEEX | geex.Regression):
        others.append((X[:, None], geex.Pixels(channels=1)))
    for x, features in others:
        found = explained(model, x, method, 300, features=features)
        assert found.values.ravel().tobytes() == line.values.tobytes(), (x.shape, features)


def test_axes_of_one_entry_have_no_neighbours():
    assert neighbouring(geex.Elements(), (9, 1)) == (0,)
    assert neighbouring(geex.Elements(), (1, 9)) == (1,)
    assert neighbouring(geex.Pixels(channels=0), (3, 1, 7)) == (1,)
    assert neighbouring(geex.Elements(), (1, 1)) == ()
    assert long_axes((0, 2), (1, 5, 6)) == (2,)


@pytest.mark.parametrize("grid", [(43_844, 2), (3000, 3), (2, 5000), (43_844,), (20_000, 20)])
def test_knots_along_an_axis_are_bounded(grid):
    knots = knots_for(grid, tuple(range(len(grid))))
    assert max(knots.shape) <= LONGEST_AXIS + 1


def test_the_knots_of_images_stay_as_they_are():
    assert knots_for((64, 64), (0, 1)).shape == (64, 64)
    assert knots_for((299, 299), (0, 1)).shape == (76, 76)
    assert knots_for((1500,), (0,)).shape == (1500,)


def test_a_long_field_is_the_same_in_blocks(monkeypatch):
    """Up to bumps below the rounding of float64."""
    widths = np.repeat([1.0, 30.0], 3)
    stream = Stream(0, (1,), np.zeros(1))
    whole = smooth_fields(stream, (3, 1000), (1,), widths)
    monkeypatch.setattr(presence_masks, "DENSE", 64)
    monkeypatch.setattr(presence_masks, "BLOCK", 64)
    np.testing.assert_allclose(smooth_fields(stream, (3, 1000), (1,), widths), whole, rtol=0, atol=1e-13)
