"""RISE, LIME and chance: against slow twins, the packages they come from, and planted regions."""

import sys
from functools import partial

import numpy as np
import pytest

import geex
from geex._arrays.random_stream import Stream
from geex.errors import BudgetError, FeaturesError, MethodError, MissingPackage
from geex.methods import LIME, RISE, Random
from geex.methods.rise import interpolation
from tests.helpers import ONCE, assert_within, explained, plan_of, raises

SIDE = 14
PLANTED = (slice(3, 7), slice(8, 12))
QUARTERS = np.arange(SIDE)[:, None] // 7 * 2 + np.arange(SIDE)[None, :] // 7


def picture(seed=0, shape=(SIDE, SIDE), dtype=np.float64):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(dtype)


def planted(z):
    """Two scores (n, 2) that know nothing but the planted region."""
    region = z[(..., *PLANTED)].reshape(z.shape[0], -1)
    return np.stack([np.tanh(region.mean(1)), region[:, 0] * region[:, -1]], axis=1)


def contrast(values):
    """How far the planted region stands out, in deviations of the rest."""
    inside = np.zeros((SIDE, SIDE), dtype=bool)
    inside[PLANTED] = True
    return (values[inside].mean() - values[~inside].mean()) / values[~inside].std()


def masks(plan, count):
    return np.concatenate([np.asarray(chunk.draws.noise) for chunk in plan.chunks(count)])


# RISE


@pytest.mark.parametrize(("cells", "size"), [(7, 28), (7, 14), (7, 30), (3, 10), (2, 5), (7, 5), (8, 224)])
def test_rise_enlarges_grids_as_its_authors_do(cells, size):
    resize = pytest.importorskip("skimage.transform").resize
    grid = np.random.default_rng(1).integers(0, 2, (cells, cells)).astype(float)
    up = (cells + 1) * int(np.ceil(size / cells))
    wanted = resize(grid, (up, up), order=1, mode="reflect", anti_aliasing=False)
    taps = interpolation(cells, size)
    np.testing.assert_allclose(taps @ grid @ taps.T, wanted, atol=1e-12)


def test_rise_masks_are_crops_of_enlarged_grids():
    """Every mask is the crop, at some shift below a cell, of the grid that it was drawn from."""
    plan, count = plan_of(picture(shape=(3, 10, 13)), RISE(cells=4), 66)
    (height, width), shape = (interpolation(4, n) for n in (10, 13)), (3, 4)
    grids = Stream(0, (1, 0), plan.explicand).uniform((plan.draws_per_chunk, 4, 4)) < 0.5
    seen = set()
    for mask, grid in zip(masks(plan, count), grids, strict=False):
        large = height @ grid @ width.T
        shifts = {
            (i, j)
            for i in range(shape[0])
            for j in range(shape[1])
            if np.allclose(mask[0], large[i : i + 10, j : j + 13])
        }
        assert shifts, "a mask is no crop of its grid"
        seen |= shifts
    assert len(seen) == shape[0] * shape[1]


def test_rise_masks_show_with_probability_keep():
    plan, count = plan_of(picture(), RISE(keep=0.3), 8194)
    drawn = masks(plan, count)
    assert drawn.min() >= 0
    assert drawn.max() <= 1 + 1e-12
    assert_within(drawn.mean(0), drawn.std(0) / np.sqrt(count), 0.3, z=4.5)  # 196 pixels
    assert_within(drawn.mean(), drawn.mean((1, 2)).std() / np.sqrt(count), 0.3, z=4)


def test_rise_is_its_slow_twin():
    x, baseline = picture(shape=(2, 9, 8)), 0.25
    method = RISE(cells=3, keep=0.4)

    def model(z):
        return np.tanh(z.sum((1, 2, 3)) / 50) + z[:, 0, 2, 3] * z[:, 1, 5, 5]

    queries = 301
    result = explained(model, x, method, queries, baseline=baseline, features=geex.Pixels(0))
    plan, count = plan_of(x, method, queries, baseline=baseline, features=geex.Pixels(0))
    total = np.zeros((9, 8))
    for mask in masks(plan, count):
        total += model((mask * x + (1 - mask) * baseline)[None])[0] * mask[0]
    np.testing.assert_allclose(result.values, total / (count * 0.4), rtol=1e-12)
    assert result.queries == queries == count + 2


def test_rise_is_unbiased():
    """f is linear, so that E[f m]/keep = f(x̊) + Σ_l g_l E[m_l m_k]/keep has a closed form over grids and shifts."""
    size, cells, keep = 6, 2, 0.5
    g = np.random.default_rng(3).normal(size=size)
    taps = interpolation(cells, size)
    second = np.zeros((size, size))
    for shift in range(3):
        rows = taps[shift : shift + size]
        second += (keep * (1 - keep) * rows @ rows.T + keep**2) / 3
    truth = 2.0 + second @ g / keep
    result = explained(lambda z: 2.0 + z @ g, np.ones(size), RISE(cells, keep), 20002)
    assert_within(result.values, result.stderr, truth, z=3.5)


def test_rise_standard_errors_are_right():
    x = picture()
    runs = [explained(planted, x, RISE(), 402, seed=seed, target=0) for seed in range(60)]
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    claimed = np.sqrt(np.mean([run.stderr**2 for run in runs], axis=0))
    assert 0.9 < np.median(claimed / spread) < 1.1
    ratio = np.sqrt(np.mean([run.gap_stderr**2 for run in runs])) / np.std([run.gap for run in runs], ddof=1)
    assert 0.7 < ratio < 1.4  # 60 runs: ± 9%, z = 3


def test_rise_gives_features_the_mean_of_their_elements():
    x = picture(shape=(3, SIDE, SIDE))
    by_features = {
        name: explained(planted_colour, x, RISE(), 202, target=0, features=features)
        for name, features in {
            "pixels": geex.Pixels(0),
            "elements": geex.Elements(0),
            "groups": geex.Groups(QUARTERS),
        }.items()
    }
    pixels = by_features["pixels"].values
    np.testing.assert_allclose(by_features["elements"].values, np.broadcast_to(pixels, x.shape), rtol=1e-12)
    means = [pixels[label == QUARTERS].mean() for label in range(4)]
    np.testing.assert_allclose(by_features["groups"].values, means, rtol=1e-12)


def planted_colour(z):
    return planted(z.mean(1))


@pytest.mark.parametrize(
    ("shape", "features"), [((30,), None), ((6, 8, 5), geex.Pixels(2)), ((6, 2, 8), geex.Pixels(1)), ((4, 9, 7), None)]
)
def test_rise_takes_inputs_of_any_shape(shape, features):
    result = explained(lambda z: z.reshape(len(z), -1).sum(1), picture(shape=shape), RISE(3), 66, features=features)
    assert result.values.shape == (geex.Elements() if features is None else features).shape(shape)


def test_rise_says_what_is_wrong():
    for settings in ({"cells": 1}, {"cells": 7.0}, {"keep": 0}, {"keep": 1}, {"keep": True}):
        with pytest.raises(MethodError):
            RISE(**settings)
    with raises(BudgetError, "queries-below-least"):
        explained(planted, picture(), RISE(), 3)
    with raises(FeaturesError, "channel-axis-unclear"):
        explained(lambda z: z.sum((1, 2, 3)), np.ones((8, 8, 8)), RISE(), 66)


# LIME


def lime_coefficients(image, model, segments, presence, width=0.25):
    """Coefficients (k, segments) of the package `lime` on given presences, absent segments being black."""
    lime_image = pytest.importorskip("lime.lime_image")

    class Stored(np.random.RandomState):
        def randint(self, low, high=None, size=None):
            assert size == presence.size
            return presence.astype(int).ravel()

    explainer = lime_image.LimeImageExplainer(kernel_width=width, random_state=Stored(0))
    labels = model(image[None]).shape[1]
    found = explainer.explain_instance(
        image, model, top_labels=labels, hide_color=0, num_samples=len(presence), random_seed=0,
        segmentation_fn=lambda _: segments,
    )  # fmt: skip
    return np.array([[weight for _, weight in sorted(found.local_exp[j])] for j in range(labels)])


@pytest.mark.parametrize(("queries", "width"), [(302, 0.25), (302, 0.1), (20, 0.25)])
def test_lime_is_lime(queries, width):
    image = picture(shape=(SIDE, SIDE, 3))
    segments = np.arange(SIDE)[:, None] // 3 * 4 + np.arange(SIDE)[None, :] // 4

    def model(z):
        return planted(z.mean(3)) + 0.01 * z.sum((1, 2, 3))[:, None]

    method = LIME(segments, width=width)
    result = explained(model, image, method, queries, target="all", features=geex.Groups(segments))
    (plan,) = result.record.plans
    drawn = np.concatenate([np.asarray(chunk.draws.noise) for chunk in plan.chunks(queries - 2)])
    presence = np.concatenate([np.zeros((1, drawn.shape[1])), drawn])  # lime makes the first row ones itself
    wanted = lime_coefficients(image, model, segments, presence, width)
    np.testing.assert_allclose(result.values, wanted, rtol=1e-9, atol=1e-9)
    assert result.queries == queries


def test_lime_gives_every_pixel_the_coefficient_of_its_segment():
    x = picture()
    groups = explained(planted, x, LIME(), 102, target=[1, 0], features=geex.Groups(QUARTERS))
    pixels = explained(planted, x, LIME(QUARTERS), 102, target=[1, 0])
    np.testing.assert_allclose(pixels.values, groups.values[:, QUARTERS], rtol=1e-12)
    np.testing.assert_allclose(pixels.stderr, groups.stderr[:, QUARTERS], rtol=1e-12)
    assert geex.estimate(pixels, target=[1, 0], features=geex.Groups(QUARTERS)).values == pytest.approx(groups.values)
    np.testing.assert_allclose(pixels.gap_stderr, 49 * groups.gap_stderr, rtol=1e-12)


def test_lime_fits_a_linear_model_exactly_but_for_the_ridge():
    x, g = picture(shape=(8,)), np.arange(8.0)
    result = explained(lambda z: 3 + z @ g, x, LIME(ridge=1e-9), 402)
    np.testing.assert_allclose(result.values, g * x, rtol=1e-8, atol=1e-9)
    assert np.abs(result.stderr).max() < 1e-7
    assert abs(result.gap) < 1e-6


def test_lime_standard_errors_are_right():
    """The spread over 80 runs has an error of 8%; the model has interactions, which are LIME's noise."""
    x = picture(shape=(8,))
    runs = [explained(lambda z: np.sin(z).prod(1) + z[:, 0] * z[:, 1], x, LIME(), 202, seed=seed) for seed in range(80)]
    claimed = np.sqrt(np.mean([run.stderr**2 for run in runs], axis=0))
    ratio = claimed / np.std([run.values for run in runs], axis=0, ddof=1)
    assert np.abs(np.log(ratio)).max() < 0.3
    assert 0.9 < np.median(ratio) < 1.2
    gaps = np.std([run.gap for run in runs], ddof=1)
    assert 0.75 < np.sqrt(np.mean([run.gap_stderr**2 for run in runs])) / gaps < 1.35


@pytest.mark.parametrize(
    ("shape", "channels"), [((40, 40), None), ((3, 40, 40), 0), ((40, 40, 3), 2), ((1, 40, 40), 0)]
)
def test_lime_cuts_an_image_into_superpixels(shape, channels):
    pytest.importorskip("skimage")
    y, x = np.mgrid[:40, :40] / 40
    image = np.sin(6 * x) + (y > 0.4)
    image = image if channels is None else np.repeat(np.expand_dims(image, channels), shape[channels], channels)
    result = explained(lambda z: z.reshape(len(z), -1).mean(1), image, LIME(), 66, baseline=-1.0)
    assert 35 <= result.record.plans[0].search.count <= 60
    assert result.values.shape == shape
    assert len(np.unique(result.values.round(12))) <= result.record.plans[0].search.count


def test_lime_cuts_a_series_into_runs():
    result = explained(lambda z: z.sum((1, 2)), np.ones((2, 120)), LIME(), 66, features=geex.Pixels(0))
    assert result.record.plans[0].search.count == 50
    result = explained(lambda z: z.sum(1), np.ones(120), LIME(), 66)
    assert result.record.plans[0].search.count == 120


def test_lime_without_scikit_image_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with raises(MissingPackage, "scikit-image-missing"):
        explained(planted, picture(), LIME(), 66)
    assert explained(planted, picture(), LIME(QUARTERS), 66).values.shape == (SIDE, SIDE)


def test_lime_says_what_is_wrong():
    for settings in ({"segments": QUARTERS / 2}, {"superpixels": 1}, {"width": 0}, {"ridge": -1.0}, {"segments": []}):
        with pytest.raises(MethodError):
            LIME(**settings)
    with raises(FeaturesError, "map-of-segments-shape"):
        explained(planted, picture(), LIME(QUARTERS[:5]), 66)
    with raises(BudgetError, "queries-below-least"):
        explained(planted, picture(), LIME(QUARTERS), 3)


def test_searches_over_other_segments_have_other_plans():
    ones = explained(planted, picture(), LIME(QUARTERS), 66)
    same = explained(planted, picture(), LIME(QUARTERS + 5), 66)
    other = explained(planted, picture(), LIME(QUARTERS.T), 66)
    assert ones.settings.fingerprints == same.settings.fingerprints != other.settings.fingerprints


# Chance


def test_chance_asks_two_queries():
    asked = []

    def model(z):
        asked.append(len(z))
        return planted(z)

    result = geex.explain(model, picture(), method=Random(), progress=False, limits=ONCE)
    assert sum(asked) == result.queries == 2
    assert np.isnan(result.stderr).all()
    assert np.isnan(result.gap_stderr)


def test_chance_depends_on_seed_and_target_alone():
    run = partial(explained, planted, method=Random())
    one = run(picture(), target="all").values
    np.testing.assert_array_equal(one, run(picture(1), target="all").values)
    np.testing.assert_array_equal(one[1], run(picture(), target=1).values)
    assert not np.any(one[0] == one[1])
    assert not np.any(one == run(picture(), target="all", seed=1).values)
    assert len(np.unique(one)) == one.size
    again = geex.estimate(run(picture()), target=1)
    np.testing.assert_array_equal(again.values, one[1])


def test_chance_ranks_evenly():
    """Means of 400 uniforms: deviation √(1/12/400); 16 of them, z = 3.5."""
    runs = [explained(lambda z: z.sum((1, 2)), np.ones((4, 4)), Random(), 2, seed=seed) for seed in range(400)]
    mean = np.mean([run.values for run in runs], axis=0)
    assert_within(mean, np.full((4, 4), np.sqrt(1 / 12 / 400)), 0.5, z=3.5)


# All of them

METHODS = [RISE(), LIME(QUARTERS), Random()]


@pytest.mark.parametrize("method", METHODS[:2])
def test_they_find_what_was_planted(method):
    if isinstance(method, LIME):
        method = LIME(np.arange(SIDE)[:, None] // 2 * 7 + np.arange(SIDE)[None, :] // 2)
    result = explained(planted, picture(), method, 2002, target=0)
    assert contrast(result.values) > 2


@pytest.mark.parametrize("method", METHODS)
def test_they_do_not_depend_on_the_batch(method):
    x = picture(dtype=np.float32)
    results = [explained(planted, x, method, 303, batch=batch, target="all") for batch in (None, 1, 7, 1000)]
    for other in results[1:]:
        assert other.values.tobytes() == results[0].values.tobytes()
        assert other.stderr.tobytes() == results[0].stderr.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_they_run_in_pytorch(method):
    torch = pytest.importorskip("torch")

    def model(z):
        assert isinstance(z, torch.Tensor)
        return torch.as_tensor(planted(z.numpy()))

    results = [explained(model, torch.as_tensor(picture()), method, 302, batch=batch, target=0) for batch in (None, 5)]
    assert isinstance(results[0].values, torch.Tensor)
    assert torch.equal(results[0].values, results[1].values)
    if not isinstance(method, Random):
        reference = explained(planted, picture(), method, 302, target=0)  # as many: the ridge shrinks by their number
        joint = np.hypot(results[0].stderr.numpy(), reference.stderr)
        assert_within(results[0].values.numpy(), joint, reference.values, z=4.5)


@pytest.mark.parametrize("method", METHODS)
def test_a_longer_run_starts_with_the_shorter_one(method):
    short, long = (explained(planted, picture(), method, queries, target=0).record for queries in (100, 600))
    np.testing.assert_array_equal(short.answers[0], long.answers[0][: len(short.answers[0])])


@pytest.mark.parametrize("method", METHODS)
def test_they_average_over_baselines(method):
    result = explained(planted, picture(), method, 403, target=0, baseline=[0.0, 0.5])
    assert result.values.shape == (SIDE, SIDE)
    assert result.settings.baselines == 2
    assert result.estimand.additive is geex.Additive.NO
    assert repr(result)


@pytest.mark.parametrize("method", [*METHODS, LIME()])
def test_a_batch_is_explained_as_one_by_one(method):
    if method.__class__ is LIME:
        pytest.importorskip("skimage")
    xs = np.stack([picture(0), picture(1)])
    batch = geex.explain_batch(planted, xs, method=method, queries=102, progress=False, limits=ONCE)
    for x, result in zip(xs, batch, strict=True):
        np.testing.assert_array_equal(result.values, explained(planted, x, method, 102).values)


def test_lime_needs_more_queries_until_its_error_is_small():
    """Draws of segments repeat: no number of them makes the values exact."""
    result = explained(planted, picture(), LIME(QUARTERS), 66)
    assert result.error_share() > 0.001
    assert result.needed(0.001) > 66
    assert "noise" not in result.advice(0.001)
