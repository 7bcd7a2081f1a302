"""Joint intervals for sums over regions."""

import re

import numpy as np
import pytest

import geex
from geex.errors import InputError, MethodError
from geex.methods import Random
from tests.helpers import explained, raises

RNG = np.random.default_rng(1)
X = RNG.normal(size=(4, 5))
W = RNG.normal(size=(4, 5))
MASK = np.zeros((4, 5), bool)
MASK[1:3, 1:4] = True


def model(z):
    return np.tanh((z * W).sum((1, 2)) / 4)


METHODS = [
    geex.GEEX(0.5),
    geex.GEEX(0.5, coupling="orthogonal"),
    geex.Presence(),
    geex.Regression(),
    geex.Regression(geex.GEEX(0.5)),
    geex.Shapley(),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_region_is_the_sum_of_its_values(method):
    explanation = explained(model, X, method, 502)
    region = explanation.region(MASK)
    assert region.value == pytest.approx(explanation.values[MASK].sum())
    assert region.low < region.value < region.high
    share = region.value / (explanation.output - explanation.base_value) if explanation.adds_up else np.nan
    assert region.share == pytest.approx(share, nan_ok=True)
    whole = explanation.region(np.ones((4, 5)))
    assert whole.stderr == pytest.approx(explanation.gap_stderr, rel=1e-6, abs=1e-9)
    one = np.zeros((4, 5))
    one[2, 3] = 1
    assert explanation.region(one).stderr == pytest.approx(explanation.stderr[2, 3], rel=1e-6)


def test_several_targets_have_a_region_each():
    explanation = explained(lambda z: np.stack([model(z), -model(z)], 1), X, geex.GEEX(0.5), 502, target="all")
    region = explanation.region(MASK)
    np.testing.assert_allclose(region.value, explanation.values[:, MASK].sum(axis=1))
    np.testing.assert_allclose(region.share, region.value / (explanation.output - explanation.base_value))


@pytest.mark.parametrize("method", [geex.GEEX(0.5), geex.Presence()], ids=lambda m: type(m).__name__)
@pytest.mark.slow
def test_its_interval_covers(method):
    """A linear model: 95% intervals of the sum cover 93 to 97%, over 1000 seeds (known to 0.7%)."""
    truth = (W * X)[MASK].sum()
    inside = []
    for seed in range(1000):
        region = explained(lambda z: (z * W).sum((1, 2)), X, method, 202, seed=seed).region(MASK)
        inside.append(region.low <= truth <= region.high)
    assert 0.93 < np.mean(inside) < 0.97


@pytest.mark.parametrize("method", [*METHODS, geex.Guided()], ids=lambda m: type(m).__name__)
def test_without_answers_the_interval_is_the_widest_that_the_joint_one_can_be(method, tmp_path):
    explanation = explained(model, X, method, 302, target=[0])
    loaded = geex.Explanation.load(explanation.save(tmp_path / "a.npz"))
    for _ in range(20):
        mask = RNG.random((4, 5)) < 0.4
        joint, widest = explanation.region(mask), loaded.region(mask)
        assert (joint.joint, widest.joint) == (True, False)
        assert widest.value == pytest.approx(joint.value)
        assert widest.share == pytest.approx(joint.share, nan_ok=True)
        assert (widest.low <= joint.low + 1e-12).all()
        assert (widest.high >= joint.high - 1e-12).all()
        np.testing.assert_allclose(widest.stderr, explanation.stderr[:, mask].sum(axis=1))
    one = np.zeros((4, 5), bool)
    one[2, 3] = True
    low, high = explanation.interval()
    np.testing.assert_allclose([loaded.region(one).low, loaded.region(one).high], [low[:, 2, 3], high[:, 2, 3]])


def test_a_loaded_region_of_one_output_is_made_of_numbers():
    explanation = explained(model, X, geex.GEEX(0.5), 102)
    region = explanation.numpy().region(MASK)
    assert all(isinstance(number, float) for number in (region.value, region.stderr, region.low, region.share))
    assert explanation.numpy().region(np.zeros((4, 5))).value == 0


def test_what_is_no_region():
    explanation = explained(model, X, geex.GEEX(0.5), 102)
    for bad in (np.ones((5, 4)), np.full((4, 5), 2), "left"):
        with pytest.raises(InputError):
            explanation.region(bad)
    with raises(MethodError, "no-joint-errors"):
        explained(model, X, Random(), 102).region(MASK)


def test_regions_in_torch():
    torch = pytest.importorskip("torch")
    slope = torch.from_numpy(W)
    explanation = explained(lambda z: (z * slope).sum((1, 2)), torch.from_numpy(X), geex.Regression(), 202)
    assert explanation.region(MASK).value == pytest.approx((W * X)[MASK].sum(), abs=1e-5)


@pytest.mark.filterwarnings("ignore::geex.errors.LittleToExplain")
@pytest.mark.parametrize("several", [True, False])
def test_of_nothing_there_is_no_share(several):
    found = explained(
        lambda z: np.abs(z[:, 0, 0] - X[0, 0] / 2), X, geex.Regression(), 200, target="all" if several else 0
    )
    assert np.isnan(found.region(MASK).share).all()
    assert np.isfinite(found.region(MASK).value).all()


def test_a_mask_of_other_numbers_says_which():
    with raises(InputError, "mask-not-boolean"):
        explained(model, X, geex.GEEX(0.5), 100).region(MASK * 0.5)


def test_regions_by_the_names_of_their_features():
    x, weights = np.ones(5), np.arange(1.0, 6)
    found = explained(lambda z: z @ weights, x, geex.Shapley(), 100).named(names=["age", "bmi", "s5", "s6", "the"])
    assert found.region(["bmi", "s5"]).value == pytest.approx(5)
    assert found.region({"age"}).value == found.region("age").value == pytest.approx(1)
    with raises(InputError, "feature-unknown") as caught:
        found.region(["bmi", "s7"])
    assert "'s6'" in str(caught.value)
    assert "'age'" not in str(caught.value)  # only the nearest names
    with raises(InputError, "features-without-names"):
        explained(lambda z: z @ weights, x, geex.Shapley(), 100).region(["bmi"])


def test_words_that_come_twice_are_one_region():
    shown = geex.models.text(lambda texts: np.array([float(text.count("very")) for text in texts]), "very very good")
    found = explained(shown, shown.x, geex.Shapley(), 50)
    assert found.region(["very"]).value == pytest.approx(2)


def test_a_printed_region_is_one_line_of_rounded_numbers():
    several = lambda z: np.stack([model(z), 3 - model(z)], axis=1)  # noqa: E731
    found = geex.explain(several, X, method=geex.Presence(), queries=400, target="all", progress=False)
    one = geex.estimate(found, target=0)
    line = r"Region: [+−]\S+ ± \S+, interval \[\S+, \S+\], −?\d+% of the change f\(x\) − f\(x̊\)"
    assert re.fullmatch(line, str(one.region(MASK)))
    assert len(str(found.region(MASK)).splitlines()) == 2
    assert str(one.numpy().region(MASK)).endswith("the widest interval that is possible")
