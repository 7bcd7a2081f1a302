"""Patches of a picture, at which pixels are judged."""

import numpy as np
import pytest

import geex
from geex._results.significance.patches import patch_index, patches_of
from geex.plot.view import scene
from tests.helpers import explained


@pytest.mark.parametrize(("shape", "sides"), [((28, 28), (7, 7)), ((224, 300), (16, 16)), ((8, 40), (2, 10))])
def test_patches_divide_a_picture_evenly(shape, sides):
    index = patch_index(shape)
    counts = np.bincount(index)
    assert len(counts) == sides[0] * sides[1]
    assert counts.max() <= 1.6 * counts.min()
    grid = index.reshape(shape)
    assert (np.diff(grid, axis=0) >= 0).all()
    assert (np.diff(grid, axis=1) >= 0).all()


@pytest.mark.parametrize("shape", [(5,), (7, 30), (3, 20, 20)])
def test_features_that_are_no_picture_have_no_patches(shape):
    assert patch_index(shape) is None


def test_weak_pixels_stand_out_by_their_patch():
    """Each of 16 neighbours is within noise, and their sum is far from it; nothing else has an effect."""
    effect, runs, found, wrong = np.zeros((16, 16)), 20, 0, 0
    effect[4:8, 8:12] = 0.12

    for seed in range(runs):
        noise = np.random.default_rng(seed)

        def model(z, noise=noise):
            return (z * effect).sum((1, 2)) + 0.5 * noise.normal(size=len(z))

        one = explained(
            model, np.ones((16, 16)), geex.Presence(alpha=0.5), 600, seed=seed, limits=geex.Limits(twice=False)
        )
        sure = scene(one).outputs[0].sure().reshape(16, 16)
        found += sure[4:8, 8:12].mean() > 0.5
        wrong += (sure & (effect == 0)).any()
    assert found > runs * 0.8
    assert wrong <= 5  # one run in twenty is expected, five of twenty have probability 0.3%


def test_patches_of_noise_stand_out_in_one_run_of_twenty():
    runs, wrong = 60, 0
    for seed in range(runs):
        noise = np.random.default_rng(seed)
        one = explained(
            lambda z, noise=noise: noise.normal(size=len(z)),
            np.ones((12, 12)),
            geex.Presence(),
            400,
            seed=seed,
            limits=geex.Limits(twice=False),
        )
        wrong += patches_of(one).count > 0
    assert wrong / runs < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_a_saved_explanation_has_no_patches(tmp_path):
    found = explained(lambda z: z.sum((1, 2)), np.ones((9, 9)), geex.Presence(), 100)
    assert patches_of(found) is not None
    assert patches_of(geex.Explanation.load(found.save(tmp_path / "a.npz"))) is None
