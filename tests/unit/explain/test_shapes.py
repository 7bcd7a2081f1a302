"""Any shape and type of explicand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import geex
from geex.methods import Interpolated
from tests.helpers import explained

TYPES = [np.float16, np.float32, np.float64, np.uint8, np.int16, np.int64, np.bool_]
METHODS = [
    geex.GEEX(),
    geex.GEEX(0.5, coupling="orthogonal"),
    geex.GEEX(0.3, mirror=False),
    Interpolated(steps=2),
]


@settings(max_examples=60)
@given(
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=6),
    dtype=st.sampled_from(TYPES),
    method=st.sampled_from(METHODS),
    queries=st.integers(10, 90),
    batch=st.sampled_from([None, 1, 3, 64]),
    outputs=st.sampled_from([None, 1, 3]),
)
def test_values_have_the_shape_of_the_explicand(shape, dtype, method, queries, batch, outputs):
    x = (np.arange(int(np.prod(shape))).reshape(shape) % 2 + (np.dtype(dtype).kind != "b")).astype(dtype)
    x = np.ones(shape, dtype) if not x.any() else x
    wanted = x.dtype if x.dtype.kind == "f" else None

    def model(z):
        assert z.shape[1:] == shape
        assert wanted is None or z.dtype == wanted
        assert z.dtype.kind == "f"
        t = z.reshape(len(z), -1).astype(float).sum(axis=1)
        return t if outputs is None else np.stack([t * (j + 1) for j in range(outputs)], axis=1)

    explanation = explained(model, x, method, queries, batch=batch, features=geex.Elements())
    assert explanation.values.shape == shape
    assert explanation.stderr.shape == shape
    assert np.isfinite(explanation.values).all()
    assert np.isfinite(explanation.stderr).all()
    assert explanation.queries <= queries
    repr(explanation)


@given(height=st.integers(1, 5), width=st.integers(1, 5), first=st.booleans())
@settings(max_examples=20)
def test_pixels_of_images_that_are_not_square(height, width, first):
    shape = (3, height, width) if first else (height, width, 3)
    x = np.random.default_rng(0).normal(size=shape)
    features = geex.Pixels(channels=0 if first else -1)
    elements = explained(lambda z: z.sum((1, 2, 3)), x, geex.GEEX(0.5), 202)
    pixels = explained(lambda z: z.sum((1, 2, 3)), x, geex.GEEX(0.5), 202, features=features)
    assert pixels.values.shape == (height, width)
    np.testing.assert_allclose(pixels.values, elements.values.sum(axis=0 if first else 2), atol=1e-12)
    assert pixels.gap == pytest.approx(elements.gap)
    assert pixels.gap_stderr == pytest.approx(elements.gap_stderr)


def test_one_feature():
    explanation = explained(lambda z: 3 * z[:, 0], np.array([2.0]), geex.GEEX(0.5, coupling="orthogonal"), 2002)
    assert abs(explanation.values[0] - 6) < 4 * explanation.stderr[0]
    assert explanation.stderr[0] == pytest.approx(explanation.gap_stderr)


def test_integer_images_are_explained_in_floating_point():
    x = np.arange(12, dtype=np.uint8).reshape(3, 4)
    explanation = explained(lambda z: z.sum((1, 2)), x, geex.GEEX(5.0), 20002)
    assert np.abs((explanation.values - x)[x > 0] / explanation.stderr[x > 0]).max() < 4
    assert explanation.values[0, 0] == 0


def test_lists_and_nested_lists_will_do():
    assert explained(lambda z: z.sum(1), [1.0, 2.0], geex.GEEX(0.5), 12).values.shape == (2,)


@pytest.mark.parametrize("method", [geex.Regression(), geex.Shapley(), geex.Presence(alpha=0.5)], ids=str)
def test_an_input_that_is_one_number(method, tmp_path):
    found = geex.explain(lambda z: 2 * z, np.float64(3.0), method=method, queries=20, progress=False)
    np.testing.assert_allclose(found.values, 6.0, rtol=1e-6)
    assert found.region(np.array(True)).value == pytest.approx(6)
    loaded = geex.Explanation.load(found.save(tmp_path / "number.npz"))
    assert loaded.values.shape == loaded.stderr.shape == ()
    assert loaded.region(np.array(True)).value == pytest.approx(6)
    assert "6" in repr(loaded)


def test_a_strip_that_is_far_longer_than_wide():
    strip = np.ones((2, 1500), np.float32)
    found = explained(lambda z: z[:, :, :200].mean((1, 2)), strip, geex.Regression(), 203)
    low, high = found.interval(0.99)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    assert found.values[:, :200].sum() > 5 * abs(found.values[:, 1000:].sum())
