"""Every way to say what absence looks like."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import geex
from geex._problem.baselines import baselines
from geex._problem.features import Elements, Pixels
from geex.errors import BaselineError
from tests.helpers import raises

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 20, 24))


def one(spec, x=X, features=None):
    return baselines(spec, x, features or Elements())[0]


def test_numbers_arrays_and_none():
    assert (one(None) == 0).all()
    assert (one(0.5) == 0.5).all()
    assert (one(1) == 1).all()
    array = RNG.normal(size=X.shape)
    assert (one(array) == array).all()
    assert (one(np.array([1.0, 2, 3]).reshape(3, 1, 1))[1] == 2).all()


def test_per_channel():
    baseline = one(geex.per_channel([1, 2, 3]))
    assert [float(channel.mean()) for channel in baseline] == [1, 2, 3]
    assert one(geex.per_channel([1, 2], axis=-1), np.zeros((4, 5, 2))).shape == (4, 5, 2)
    with raises(BaselineError, "per-channel-length"):
        one(geex.per_channel([1, 2, 3], axis=1))


def test_the_mean_of_data():
    data = RNG.normal(size=(10, *X.shape))
    np.testing.assert_allclose(one(geex.mean(data)), data.mean(axis=0))
    np.testing.assert_allclose(one(geex.mean((data > 0).astype(np.uint8))), (data > 0).mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("channels", [0, 2])
def test_blur_equals_a_gaussian_filter(channels):
    x = X if channels == 0 else np.moveaxis(X, 0, 2)
    sigmas = [0.0 if axis == channels else 1.5 for axis in range(3)]
    wanted = gaussian_filter(x, sigmas, mode="mirror", radius=[0 if axis == channels else 4 for axis in range(3)])
    np.testing.assert_allclose(one(geex.blur(9, 1.5), x), wanted, atol=1e-12)
    np.testing.assert_allclose(one(geex.blur(9, 1.5), x, Pixels(channels)), wanted, atol=1e-12)
    np.testing.assert_allclose(one(geex.blur(9, 1.5, channels=channels), x), wanted, atol=1e-12)


def test_blur_of_grey_images_and_series():
    assert one(geex.blur(3, 1.0), X[0]).shape == (20, 24)
    assert one(geex.blur(3, 1.0), X[0, 0]).shape == (24,)
    assert one(geex.blur(3, 1.0), np.ones((6, 6))).max() == pytest.approx(1)


def test_any_rule():
    assert (one(lambda x: x - 1) == X - 1).all()
    assert (one(lambda x: 7) == 7).all()


def test_several():
    assert len(baselines([0, X + 1, geex.blur(3, 1.0)], X, Elements())) == 3
    with raises(BaselineError, "baselines-nested"):
        baselines([[0.0, 1.0]], X, Elements())


def test_a_baseline_is_in_the_type_and_library_of_the_explicand():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X).float()
    for spec in (0, X, torch.from_numpy(X) + 1, geex.blur(5, 1.0), geex.per_channel([1, 2, 3]), geex.mean(X[None] + 1)):
        baseline = one(spec, x)
        assert baseline.dtype == torch.float32
        assert baseline.shape == x.shape


def test_a_list_of_baselines_for_one_number():
    found = geex.explain(lambda z: 2 * z, np.array(3.0), baseline=[1.0, 2.0], queries=20, progress=False)
    assert found.base_value == 3.0


def test_rows_as_a_baseline_get_the_advice_to_make_them_a_background():
    with raises(BaselineError, "baseline-shape") as caught:
        geex.explain(lambda z: z.sum(1), np.ones(3), baseline=np.zeros((20, 3)), queries=60, progress=False)
    assert "geex.background(rows)" in str(caught.value)
