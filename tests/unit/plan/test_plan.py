"""Chunks are pure functions of plan and index, every prefix is even, and fingerprints tell plans apart."""

import numpy as np
import pytest

import geex
from geex._plan.path import Dense, Steps
from geex._plan.plan import DrawCache
from geex.methods import Interpolated
from tests.helpers import plan_of

X = np.linspace(-1, 2, 30).reshape(5, 6)


@pytest.mark.parametrize("method", [geex.GEEX(0.5), geex.GEEX(0.5, coupling="orthogonal"), Interpolated(0.5)])
def test_a_chunk_is_made_again_from_the_seed(method):
    plan, _ = plan_of(X, method, 3000)
    first, again = plan.chunk(3), plan.chunk(3)
    assert first.queries().tobytes() == again.queries().tobytes()
    assert first.queries().tobytes() != plan.chunk(2).queries().tobytes()
    assert first.queries().shape == (plan.rows_per_chunk, 5, 6)


def test_mirrored_rows_share_their_place_on_the_path():
    plan, _ = plan_of(X, geex.GEEX(0.5), 100)
    chunk = plan.chunk(0)
    pairs = chunk.queries().reshape(-1, 2, 5, 6)
    alpha = chunk.draws.alpha[:, None, None]
    np.testing.assert_allclose(pairs.mean(axis=1), alpha * X, atol=1e-12)
    np.testing.assert_allclose(pairs[:, 0] - pairs[:, 1], 2 * 0.5 * chunk.draws.noise, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 64, 65, 128, 1000, 2499])
def test_every_prefix_covers_the_path_evenly(count):
    """Against n equal strata, no point of a prefix is far out: the discrepancy is a few strata, not √n."""
    alpha = np.sort(Dense().alpha(7, 0, count))
    even = (np.arange(count) + 0.5) / count
    assert np.abs(alpha - even).max() < 4.0 / min(count, 64)
    assert alpha.min() >= 0
    assert alpha.max() <= 1


def test_a_round_has_one_alpha_in_each_stratum():
    alpha = Dense(64).alpha(3, 64, 64)
    assert sorted(np.floor(alpha * 64).astype(int)) == list(range(64))
    couples = np.floor(alpha * 32).astype(int).reshape(-1, 2)
    assert (couples[:, 0] == couples[:, 1]).all()


def test_alpha_does_not_depend_on_how_it_is_cut():
    whole = Dense(128).alpha(1, 0, 1000)
    parts = np.concatenate([Dense(128).alpha(1, first, 50) for first in range(0, 1000, 50)])
    assert whole.tobytes() == parts.tobytes()


def test_alpha_correlates_neither_with_the_mask_nor_with_the_place():
    """Correlations of 25,600 draws: |z| < 4."""
    plan, count = plan_of(X[:1, :3], geex.GEEX(0.5), 2 * 25600 + 2)
    chunks = list(plan.chunks(count))
    alpha = np.concatenate([chunk.draws.alpha for chunk in chunks])
    noise = np.concatenate([chunk.draws.noise.reshape(-1, 3) for chunk in chunks])
    others = [*noise.T, *(noise**2).T, np.arange(count), np.arange(count) % plan.draws_per_chunk]
    for other in others:
        assert abs(np.corrcoef(alpha, other)[0, 1]) * np.sqrt(count) < 4


def test_steps_are_visited_equally_often():
    alpha = Steps(5).alpha(0, 0, 50)
    values, counts = np.unique(np.round(alpha * 5).astype(int), return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5]
    assert counts.tolist() == [10] * 5


def test_orthogonal_blocks_have_the_right_lengths_and_marginals():
    plan, _ = plan_of(X, geex.GEEX(1.0, coupling="orthogonal"), 6002)
    block = plan.search.block
    assert block == 30
    noise = np.concatenate([plan.chunk(i).draws.noise for i in range(40)]).reshape(-1, block, 30)
    gram = noise @ noise.transpose(0, 2, 1)
    off = gram - np.einsum("bii->bi", gram)[:, :, None] * np.eye(block)
    assert np.abs(off).max() < 1e-9
    squares = np.einsum("bii->bi", gram).ravel()
    assert abs(squares.mean() - 30) < 4 * np.sqrt(60 / squares.size)
    assert abs(squares.var() - 60) < 4 * 60 * np.sqrt(2.8 / squares.size)
    assert abs(noise.mean()) < 4 / np.sqrt(noise.size)


@pytest.mark.parametrize("family", [geex.Gaussian(), geex.Laplace(), geex.Logistic()], ids=str)
def test_families_have_mean_zero_deviation_one_and_their_own_score(family):
    """E ε = 0, E ε² = 1, E s = 0, E s ε = 1 (Stein's identity for a location family): |z| < 4."""
    plan, _ = plan_of(X[:1], geex.GEEX(1.0, family=family), 1000)
    noise = np.concatenate([plan.chunk(i).draws.noise.ravel() for i in range(200)])
    score = family.score(noise)
    for sample, truth in [(noise, 0), (noise**2, 1), (score, 0), (score * noise, 1)]:
        assert abs(sample.mean() - truth) < 4 * sample.std() / np.sqrt(sample.size)


def test_fingerprints():
    def print_of(x=X, method=None, queries=1000, **settings):
        return plan_of(x, method or geex.GEEX(0.5), queries, **settings)[0].fingerprint

    same = print_of()
    assert same == print_of() == print_of(queries=5000) == print_of(features=geex.Pixels(channels=0))
    others = [
        print_of(x=X + 1e-9),
        print_of(baseline=0.1),
        print_of(seed=1),
        print_of(method=geex.GEEX(0.6)),
        print_of(method=geex.GEEX(0.5, family=geex.Laplace())),
        print_of(method=Interpolated(0.5)),
        print_of(x=X.astype(np.float32)),
    ]
    assert len({same, *others}) == len(others) + 1


def test_masks_are_kept_up_to_the_limit_and_made_again_beyond_it():
    plan, _ = plan_of(X, geex.GEEX(0.5), 3000)
    chunk_bytes = plan.draws_per_chunk * 30 * 8
    masks = DrawCache(keep=2 * chunk_bytes)
    draws = [masks.draws(plan.search, 0, i, plan.draws_per_chunk, plan.explicand) for i in range(4)]
    again = [masks.draws(plan.search, 0, i, plan.draws_per_chunk, plan.explicand) for i in range(4)]
    assert [a is b for a, b in zip(draws, again, strict=True)] == [True, True, False, False]
    assert all(a.noise.tobytes() == b.noise.tobytes() for a, b in zip(draws, again, strict=True))
    assert masks.size <= masks.keep


def test_chunks_stay_small_for_large_images():
    plan, _ = plan_of(np.zeros((3, 299, 299), np.float32) + 1, geex.GEEX(0.5), 5000)
    assert plan.rows_per_chunk * 3 * 299 * 299 * 4 < 20e6


def test_groups_are_told_apart_by_their_whole_map():
    large = np.zeros((50, 60), int)
    other = large.copy()
    other[25, 30] = 1
    third = large + 1
    prints = {
        plan_of(np.ones((50, 60)), geex.Presence(), 100, features=geex.Groups(m))[0].fingerprint
        for m in (large, other, third, large.copy())
    }
    assert len(prints) == 3
