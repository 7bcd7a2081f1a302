"""Deletion and insertion: closed forms of a linear model, and the slow twin."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geex
from geex import errors
from geex.evaluate import Curve, deletion, insertion, noise
from geex.methods import GE
from geex.report.page import _curve
from tests.helpers import explained, raises


def linear(weights, offset=0.0):
    """f(x) = offset + Σ w x, for NumPy and PyTorch."""

    def model(z):
        factors = weights if isinstance(z, np.ndarray) else z.new_tensor(weights)
        return offset + (z * factors).reshape(len(z), -1).sum(1)

    return model


def curved(weights):
    """Two outputs that are not linear."""

    def model(z):
        total = (z * weights).reshape(len(z), -1).sum(1)
        return np.stack([np.sin(total) + 1.5, np.exp(-(total**2) / 50) + 0.1 * np.abs(z).reshape(len(z), -1).sum(1)], 1)

    return model


def twin(f, x, replacement, values, members, step, kind):
    """The curve, one feature and one query at a time. members[g]: the places of feature g."""
    order = sorted(range(len(values)), key=lambda g: (-values[g], g))
    image, source = (x.copy(), replacement) if kind == "deletion" else (replacement.copy(), x)
    curve = []
    for gone, feature in enumerate(order, start=1):
        for place in members[feature]:
            image[place] = source[place]
        if gone % step == 0 or gone == len(order):
            curve.append(f(image[None])[0])
    return np.array(curve)


def members_of(features, shape):
    """The places of every feature, by asking what `total` makes of a one at each place."""
    members = {}
    for place in np.ndindex(shape):
        one = np.zeros((1, *shape))
        one[(0, *place)] = 1
        members.setdefault(int(np.argmax(features.total(one)[0])), []).append(place)
    return members


@st.composite
def cases(draw):
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    kinds = ["elements", "groups"] + ["pixels"] * (len(shape) > 1)
    kind = draw(st.sampled_from(kinds))
    if kind == "pixels":
        features = geex.Pixels(channels=draw(st.integers(-len(shape), len(shape) - 1)))
    elif kind == "groups":
        seed = draw(st.integers(0, 99))
        cut = draw(st.sampled_from([shape] + [shape[1:], shape[:-1]] * (len(shape) > 1)))
        features = geex.Groups(np.random.default_rng(seed).integers(-2, 3, cut) * 7)
    else:
        features = geex.Elements()
    levels = draw(st.sampled_from([1, 3, 1000]))
    return (
        shape,
        features,
        levels,
        draw(st.integers(1, 9)),
        draw(st.sampled_from([None, 1, 3])),
        draw(st.integers(0, 999)),
    )


@settings(max_examples=150)
@given(case=cases())
def test_equals_the_slow_twin(case):
    shape, features, levels, step, batch, seed = case
    rng = np.random.default_rng(seed)
    x, replacement, weights = rng.normal(size=(3, *shape))
    values = rng.integers(0, levels, features.shape(shape)).astype(float)
    members = members_of(features, shape)
    model = curved(weights)
    for kind, method in (("deletion", deletion), ("insertion", insertion)):
        found = method(model, x, values, target=1, features=features, replacement=replacement, step=step, batch=batch)
        slow = twin(lambda z: model(z)[:, 1], x, replacement, values.ravel(), members, step, kind)
        np.testing.assert_allclose(found.curve, slow, rtol=1e-12)
        assert found.queries == 1 + len(slow) == 1 + -(-values.size // step)
        assert found.fractions[-1] == 1
        assert found.aopc == pytest.approx(np.mean(1 - slow / model(x[None])[0, 1]), rel=1e-12)
        assert found.area + found.aopc == pytest.approx(1)


@pytest.mark.parametrize(
    "features", [geex.Elements(), geex.Pixels(0), geex.Pixels(-1), geex.Groups(np.arange(20).reshape(4, 5) // 3)]
)
def test_membership_is_what_total_sums_over(features):
    shape = (3, 4, 5)
    weights = np.random.default_rng(0).normal(size=(1, *shape))
    total = np.bincount(features.index(shape).ravel(), weights.ravel())
    np.testing.assert_allclose(total, features.total(weights)[0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("step", [1, 3, 7, 60, 100])
@pytest.mark.parametrize(
    "features",
    [geex.Elements(), geex.Pixels(0), geex.Pixels(1), geex.Groups(np.arange(60).reshape(3, 4, 5) % 11)],
    ids=["elements", "pixels first", "pixels middle", "groups"],
)
def test_linear_model_has_a_closed_form(features, step):
    """f(x⁽ⁱ⁾) = f(x) − the i·step largest of the shares Σ w(x − r), for the shares as values."""
    rng = np.random.default_rng(1)
    x, replacement, weights = rng.normal(size=(3, 3, 4, 5))
    shares = features.total((weights * (x - replacement))[None])[0]
    values = shares.reshape(features.shape(x.shape))
    f = linear(weights, offset=14.0)
    fx = f(x[None])[0]
    gone = np.cumsum(np.sort(shares)[::-1])
    last = [min(i * step, len(shares)) for i in range(1, -(-len(shares) // step) + 1)]
    found = deletion(f, x, values, features=features, replacement=replacement, step=step)
    np.testing.assert_allclose(found.curve, fx - gone[np.array(last) - 1], rtol=1e-10)
    assert found.aopc == pytest.approx(gone[np.array(last) - 1].mean() / fx, rel=1e-10)
    np.testing.assert_allclose(found.fractions, np.array(last) / len(shares))
    assert found.start == pytest.approx(fx)
    assert found.curve[-1] == pytest.approx(f(replacement[None])[0])


@pytest.mark.parametrize("step", [1, 2])
def test_random_order_of_a_linear_model(step):
    """The mean AOPC over all orders is mean(fractions)·(f(x) − f(r))/f(x); exactly, so over all 5! orders."""
    x, replacement, weights = np.random.default_rng(2).normal(size=(3, 5))
    f = linear(weights, offset=2.0)
    found = [deletion(f, x, order, replacement=replacement, step=step) for order in permutations(range(5))]
    fx, fr = f(x[None])[0], f(replacement[None])[0]
    expected = found[0].fractions.mean() * (fx - fr) / fx
    assert np.mean([curve.aopc for curve in found]) == pytest.approx(expected, rel=1e-10)


def test_insertion_and_deletion_of_a_linear_model_add_up():
    """What deletion takes is what insertion brings: f(del) + f(ins) = f(x) + f(r) at every step."""
    x, replacement, weights, values = np.random.default_rng(3).normal(size=(4, 3, 4))
    f = linear(weights, offset=1.0)
    ends = f(x[None])[0] + f(replacement[None])[0]
    removed = deletion(f, x, values, replacement=replacement, step=5)
    brought = insertion(f, x, values, replacement=replacement, step=5)
    np.testing.assert_allclose(removed.curve + brought.curve, ends, rtol=1e-10)
    assert removed.area + brought.area == pytest.approx(ends / f(x[None])[0])
    assert brought.curve[-1] == pytest.approx(brought.start)


def test_insertion_is_deletion_in_the_opposite_order_for_any_model():
    x, replacement, weights, values = np.random.default_rng(4).normal(size=(4, 12))
    model = curved(weights)
    forth = insertion(model, x, values, target=0, replacement=replacement, step=4).curve
    back = deletion(model, x, -values, target=0, replacement=replacement, step=4).curve
    np.testing.assert_allclose(forth[:-1], back[:-1][::-1], rtol=1e-12)


def test_a_good_order_is_better_than_a_bad_one():
    x = np.ones(6)
    weights = np.arange(1.0, 7.0)
    good, bad = (deletion(linear(weights), x, sign * weights) for sign in (1, -1))
    assert good.aopc > 0.5 > bad.aopc
    good, bad = (insertion(linear(weights), x, sign * weights) for sign in (1, -1))
    assert good.area > 0.6 > bad.area


def test_ties_go_by_index():
    asked = []

    def model(z):
        asked.append(z)
        return z.sum(1)

    deletion(model, np.array([1.0, 2.0, 3.0, 4.0]), [0.0, 1.0, -0.0, 1.0])
    wanted = [[1, 2, 3, 4], [1, 0, 3, 4], [1, 0, 3, 0], [0, 0, 3, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(np.concatenate(asked), wanted)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float16, np.longdouble, bool])
def test_values_of_any_real_type(kind):
    values = np.array([0, 1, 1, 0], dtype=kind)
    x = np.arange(1.0, 5.0)
    np.testing.assert_array_equal(deletion(linear(np.ones(4)), x, values).curve, [8, 5, 4, 0])


def test_infinite_values_have_a_place():
    found = deletion(linear(np.ones(3)), np.array([1.0, 2.0, 4.0]), [0.0, -np.inf, np.inf])
    np.testing.assert_array_equal(found.curve, [3, 2, 0])


@pytest.mark.parametrize("batch", [1, 2, 5, 60, 1000, None])
@pytest.mark.parametrize("method", [deletion, insertion])
def test_the_batch_changes_nothing_and_is_kept(method, batch):
    x, weights, values = np.random.default_rng(5).normal(size=(3, 3, 4, 5))
    sizes = []

    def model(z):
        sizes.append(len(z))
        return curved(weights)(z)

    found = method(model, x, values, step=2, batch=batch)
    np.testing.assert_array_equal(found.curve, method(curved(weights), x, values, step=2, batch=7).curve)
    assert sum(sizes) == found.queries == 31
    assert max(sizes) <= (batch or 512)


@pytest.mark.parametrize("method", [deletion, insertion])
def test_torch_equals_numpy(method):
    torch = pytest.importorskip("torch")
    x, weights, values = np.random.default_rng(6).normal(size=(3, 3, 4, 5))
    settings = {"features": geex.Pixels(0), "step": 3, "replacement": geex.blur(3, 1.0), "target": 0}
    plain = method(linear(weights, 30.0), x, values.sum(0), **settings)
    tensor = torch.tensor(values.sum(0), requires_grad=True)
    found = method(linear(weights, 30.0), torch.tensor(x, requires_grad=True), tensor, **settings)
    np.testing.assert_allclose(found.curve, plain.curve, rtol=1e-12)
    assert isinstance(found.curve, np.ndarray)
    assert found.curve.dtype == np.float64
    mixed = method(linear(weights, 30.0), x, tensor, **settings)
    np.testing.assert_array_equal(mixed.curve, plain.curve)


def test_torch_queries_have_the_type_of_x_and_no_gradient():
    torch = pytest.importorskip("torch")
    types = set()

    def model(z):
        types.add((z.dtype, z.requires_grad))
        return z.sum(1)

    x = torch.ones(4, dtype=torch.bfloat16, requires_grad=True)
    assert deletion(model, x, x, step=2).aopc == pytest.approx(0.75)
    assert types == {(torch.bfloat16, False)}


def test_whole_numbers_become_floats_and_may_be_replaced_by_fractions():
    found = deletion(linear(np.ones(2)), np.array([3, 5], dtype=np.uint8), [1.0, 0.0], replacement=0.5)
    np.testing.assert_array_equal(found.curve, [5.5, 1.0])


def test_a_model_that_writes_into_its_batch_does_no_harm():
    def model(z):
        z *= 2
        return z.sum(1)

    x = np.arange(1.0, 4.0)
    np.testing.assert_array_equal(deletion(model, x, x, batch=1).curve, [6, 2, 0])
    np.testing.assert_array_equal(x, [1, 2, 3])


@pytest.mark.parametrize(
    ("shape", "axis"), [((3, 4, 5), 0), ((4, 5, 3), 2), ((1, 5, 5), 0), ((5, 5, 1), 2), ((7, 2), 1)]
)
def test_values_without_channels(shape, axis):
    x, weights = np.random.default_rng(7).normal(size=(2, *shape))
    values = np.random.default_rng(8).normal(size=geex.Pixels(axis).shape(shape))
    seen = deletion(curved(weights), x, values)
    named = deletion(curved(weights), x, values, features=geex.Pixels(axis))
    np.testing.assert_array_equal(seen.curve, named.curve)
    assert len(seen.curve) == values.size


def test_equal_axes_have_to_be_named():
    x, values = np.ones((3, 3, 3)), np.arange(9.0).reshape(3, 3)
    with raises(errors.FeaturesError, "channel-axis-unclear"):
        deletion(linear(1.0), x, values)
    assert len(deletion(linear(1.0), x, values, features=geex.Pixels(2)).curve) == 9
    # equal leading axes alone are clear
    assert len(deletion(linear(1.0), np.ones((4, 4, 3)), np.ones((4, 4))).curve) == 16


def test_replacements():
    x = np.random.default_rng(9).normal(size=(2, 6, 6)) + 3
    f = linear(np.ones(x.shape))
    image = noise(x, 0.5, seed=4)
    for replacement, last in [
        (2.0, 2.0 * x.size),
        (None, 0.0),
        (image, image.sum()),
        (geex.per_channel([1, 2]), 36 * 3.0),
        (lambda z: -z, -x.sum()),
        (geex.blur(3, 1.0), geex.blur(3, 1.0, channels=0)(x).sum()),
    ]:
        assert deletion(f, x, x[0], replacement=replacement).curve[-1] == pytest.approx(last)


def test_noise_is_shared_over_libraries():
    torch = pytest.importorskip("torch")
    tensor = noise(torch.zeros((40, 50)), sigma=2.0, seed=3)
    assert tensor.dtype == torch.float32
    np.testing.assert_allclose(tensor.numpy(), noise(np.zeros((40, 50)), sigma=2.0, seed=3), rtol=1e-6)


def test_noise():
    x = np.zeros((40, 50))
    image = noise(x, sigma=2.0, seed=3)
    assert image.dtype == np.float64
    np.testing.assert_array_equal(image, noise(x, sigma=2.0, seed=3))
    assert (image != noise(x, sigma=2.0, seed=4)).all()
    # 2000 draws of deviation 2: the mean has deviation 2/√2000, the deviation 2/√4000; z = 3
    assert abs(image.mean()) < 3 * 2 / 2000**0.5
    assert abs(image.std() - 2) < 3 * 2 / 4000**0.5


def test_target_and_score():
    x, weights = np.random.default_rng(10).normal(size=(2, 6))
    model = curved(weights)
    outputs = model(x[None])[0]
    assert deletion(model, x, x).target == int(outputs.argmax())
    assert deletion(model, x, x, target=-1).target == 1
    assert deletion(model, x, x, target=0).start == pytest.approx(outputs[0])
    p = np.exp(outputs) / np.exp(outputs).sum()
    assert deletion(model, x, x, target=np.int64(0), score="softmax").start == pytest.approx(p[0])
    assert deletion(model, x, x, score=lambda answers: answers[:, :1] ** 2).start == pytest.approx(outputs[0] ** 2)


def test_an_explanation_brings_its_target_and_features():
    x, weights = np.random.default_rng(11).normal(size=(2, 3, 3, 3))
    model = curved(weights)
    explanation = explained(model, x, GE(), queries=50, target=0, features=geex.Pixels(2))
    found = deletion(model, x, explanation)
    wanted = deletion(model, x, explanation.values, target=0, features=geex.Pixels(2))
    np.testing.assert_array_equal(found.curve, wanted.curve)
    assert found.target == 0
    assert deletion(model, x, explanation, target=1).target == 1
    with raises(errors.FeaturesError, "channel-axis-unclear"):
        deletion(model, x, explanation.numpy())
    with raises(errors.InputError, "values-of-several-outputs"):
        deletion(model, x, explained(model, x, GE(), queries=50, target="all"))


def test_an_explanation_brings_its_score_and_baseline_from_a_file_too(tmp_path):
    x, weights = np.random.default_rng(12).normal(size=(2, 6))

    def model(z):
        return np.stack([z @ weights, 0 * z[:, 0]], axis=1)

    found = explained(model, x, geex.Shapley(), 40, target=0, score="softmax", baseline=x[::-1].copy())
    loaded = geex.Explanation.load(found.save(tmp_path / "a.npz"))
    np.testing.assert_array_equal(loaded.baseline, x[::-1])
    wanted = deletion(model, x, found.values, target=0, score="softmax", replacement=x[::-1].copy())
    for one in (found, loaded):
        np.testing.assert_array_equal(deletion(model, x, one).curve, wanted.curve)
    with raises(errors.InputError, "values-of-another-input"):
        deletion(model, x + 1, loaded)
    own = explained(model, x, geex.Shapley(), 40, target=0, score=lambda answers: np.exp(answers))
    with raises(errors.InputError, "score-not-stored"):
        deletion(model, x, geex.Explanation.load(own.save(tmp_path / "b.npz")))


def test_of_log_odds_the_chances_are_followed():
    """An explanation of a chance below a half has log-odds below 0; the curve is that of the report."""
    x = np.full((9, 9), 0.5)

    def chances(z):
        p = 1 / (1 + np.exp(3 - 4 * z[:, 2:5, 2:5].mean((1, 2))))
        return np.stack([p, 1 - p], axis=1)

    explanation = geex.explain(chances, x, target=0, queries=80, progress=False)
    assert explanation.settings.score == "sure_log_odds"
    assert explanation.output < 0
    (reported,) = _curve(explanation, chances)
    for method in (deletion, insertion):
        found = method(chances, x, explanation, step=2)
        assert found.start == pytest.approx(1 / (1 + np.e))
        wanted = method(chances, x, explanation.values, target=0, step=2)
        np.testing.assert_array_equal(found.curve, wanted.curve)
        np.testing.assert_array_equal(found.curve, method(chances, x, explanation, step=2, score="auto").curve)
    assert reported.aopc == deletion(chances, x, explanation, step=2).aopc
    with raises(errors.AnswerError, "score-not-above-zero"):
        deletion(chances, x, explanation, score="log_odds")


def test_repr():
    x = np.array([1.0, 2.0])
    assert repr(deletion(linear(np.ones(2)), x, x)) == (
        "Curve: deletion of output 0, aopc 0.8333; f(x) 3, 0 after 2 steps; 3 queries"
    )
    assert repr(insertion(linear(np.ones(2)), x, x, step=2)) == (
        "Curve: insertion of output 0, area 1.0000; f(x) 3, 3 after 1 step; 2 queries"
    )
    assert isinstance(deletion(linear(np.ones(2)), x, x), Curve)


X = np.arange(1.0, 25.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("values", "settings", "error", "code"),
    [
        (np.where(X == 7, np.nan, X), {}, errors.InputError, "values-nan"),
        (X.astype(complex), {}, errors.InputError, "values-not-real"),
        (["a"], {}, errors.InputError, "values-not-real"),
        (np.ones((5, 2, 3, 4)), {}, errors.InputError, "values-shape"),
        (np.ones((5, 3, 4)), {}, errors.InputError, "values-shape"),
        (np.ones((2, 4)), {}, errors.InputError, "values-shape"),
        (np.float64(1.0), {}, errors.InputError, "values-shape"),
        (X, {"features": geex.Pixels(0)}, errors.InputError, "values-shape"),
        (np.ones((9, 3, 4)), {"features": geex.Pixels(0)}, errors.InputError, "values-shape"),
        (np.ones(3), {"features": geex.Groups(X.astype(int) % 2)}, errors.InputError, "values-shape"),
        (X, {"features": geex.Pixels}, errors.FeaturesError, None),
        (X, {"features": geex.Pixels(3)}, errors.FeaturesError, None),
        (X, {"target": [0]}, errors.TargetError, "target-not-whole"),
        (X, {"target": "all"}, errors.TargetError, "target-not-whole"),
        (X, {"target": np.array([0, 1])}, errors.TargetError, "target-not-whole"),
        (X, {"target": True}, errors.TargetError, "target-not-whole"),
        (X, {"target": 1}, errors.TargetError, None),
        (X, {"score": "odds"}, errors.InputError, None),
        (X, {"step": 0}, errors.InputError, None),
        (X, {"step": 1.5}, errors.InputError, None),
        (X, {"batch": 0}, errors.BudgetError, None),
        (X, {"replacement": np.ones((3, 4))}, errors.BaselineError, None),
        (X, {"replacement": [0.0, 1.0]}, errors.BaselineError, "replacement-is-a-list"),
        (X, {"replacement": np.nan}, errors.BaselineError, None),
    ],
)
@pytest.mark.parametrize("method", [deletion, insertion])
def test_errors(method, values, settings, error, code):
    with pytest.raises(error) as info:
        method(linear(np.ones(X.shape)), X, values, **settings)
    assert code in (None, info.value.code)


def test_a_score_of_nothing_cannot_be_normalised():
    asked = []

    def model(z):
        asked.append(len(z))
        return z.sum(1)

    with raises(errors.AnswerError, "score-not-above-zero"):
        deletion(model, np.array([1.0, -1.0]), [1.0, 2.0])
    assert asked == [1]


def test_errors_of_the_rest():
    with pytest.raises(errors.InputError):
        deletion(3, X, X)
    with pytest.raises(errors.ExplicandError):
        deletion(linear(1.0), np.array([np.nan]), [1.0])
    for sigma in (0, -1.0, np.inf, np.nan, "1", True):
        with raises(errors.InputError, "sigma-not-positive"):
            noise(X, sigma)
    with pytest.raises(errors.InputError):
        noise(X, seed=-1)
    with pytest.raises(errors.ModelRaised) as info:
        deletion(lambda z: 1 / 0, X, X)
    assert isinstance(info.value.__cause__, ZeroDivisionError)
