"""Subsets that are asked once, and a process over them, beside slow twins that go through all subsets."""

from itertools import chain, combinations, product
from math import comb

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import geex
from geex._arrays.random_stream import Stream
from geex._estimate.shapley.subset_process import (
    Hyperparameters,
    SubsetProcess,
    kernel,
    prior_covariance,
    select_hyperparameters,
    value_covariance,
)
from geex._plan.subsets import Subsets, in_turn, shuffled, strata
from tests.games import shapley
from tests.helpers import assert_within, explained
from tests.naive import naive_shapley_regression

THETA = np.array([0.3, 0.1, 0.5, 0.05, 0.2])


def network(q, seed=0):
    """A process with interactions of every order."""
    rng = np.random.default_rng(seed)
    inner, outer = rng.normal(size=(q, 12)), rng.normal(size=12)
    return lambda z: np.tanh(np.asarray(z, float) @ inner) @ outer


def masks_of(q, draws, seed=0, size=256):
    search = Subsets(geex.Elements(), tuple(range(q)))
    chunks = [search.draws(seed, chunk, size, np.zeros(q)).noise for chunk in range(-(-draws // size))]
    return np.concatenate(chunks)[:draws] > 0


def odd_subsets(q):
    return [list(part) for size in range(1, q + 1, 2) for part in combinations(range(q), size)]


def signs(rows, subset):
    return np.prod(rows[:, subset], axis=1)


# subsets


@pytest.mark.parametrize("q", [2, 3, 6, 7, 10])
def test_all_subsets_are_asked_once(q):
    count = Subsets(geex.Elements(), tuple(range(q))).all_draws
    masks = masks_of(q, count)
    assert len(masks) == count == 2 ** (q - 1) - 1
    both = np.concatenate([masks, ~masks])
    assert len(np.unique(both, axis=0)) == 2**q - 2
    assert not both.all(axis=1).any()


@pytest.mark.parametrize("q", [12, 20, 30, 64])
def test_no_subset_is_asked_twice(q):
    masks = masks_of(q, 1500)
    assert len(np.unique(np.concatenate([masks, ~masks]), axis=0)) == 3000


@pytest.mark.parametrize("q", [5, 9, 30, 300])
def test_draws_do_not_depend_on_how_they_are_cut(q):
    draws = min(200, Subsets(geex.Elements(), tuple(range(q))).all_draws)
    whole = masks_of(q, draws)
    for size in (1, 7, 64):
        assert (masks_of(q, draws, size=size) == whole).all()
    assert draws < 20 or (masks_of(q, draws, seed=1) != whole).any()


def test_every_prefix_has_its_share_of_sizes():
    members, weights = strata(30)
    assert weights.sum() == pytest.approx(1)
    assert members[:3].tolist() == [30, comb(30, 2), comb(30, 3)]
    assert members[14] == comb(30, 15) / 2
    for draws in (40, 400, 4000):
        sizes, _ = in_turn(30, 0, draws)
        counts = np.bincount(sizes, minlength=16)[1:]
        free = counts < members
        share = np.sqrt(weights) * free
        wanted = (draws - counts[~free].sum()) * share / share.sum()
        assert np.abs(counts - wanted)[free].max() <= 1.5


def test_only_features_that_differ_play():
    x, baseline = np.arange(6.0), np.array([0.0, 0, 2, 0, 4, 0])
    asked = []
    found = explained(lambda z: asked.append(z) or z.prod(1) + z[:, 1], x, geex.Shapley(), 50, baseline=baseline)
    assert found.values[[0, 2, 4]].tolist() == [0, 0, 0]
    assert len(np.unique(np.concatenate(asked), axis=0)) == found.queries == 8


def test_more_queries_ask_what_is_missing_up_to_all_subsets(tmp_path):
    q, model, asked = 8, network(8), []
    for queries in (60, 150, 256):
        settings = {"method": geex.Shapley(), "queries": queries, "journal": tmp_path / "run.geex", "progress": False}
        found = geex.explain(
            lambda z: asked.append(z) or model(z),
            np.ones(q),
            **settings,
            limits=geex.Limits(twice=False, compare=False),
        )
    rows = np.concatenate(asked)
    assert len(rows) == len(np.unique(rows, axis=0)) == 256
    np.testing.assert_allclose(found.values, shapley(lambda s: model(np.isin(np.arange(q), list(s))[None])[0], q))
    assert found.estimand.exact


# the process


def test_covariances_are_those_of_all_interactions():
    q, rows = 5, np.array(list(product((-1.0, 1.0), repeat=5)))
    subsets = odd_subsets(q)
    spread = [np.prod(THETA[subset]) for subset in subsets]
    waves = np.stack([signs(rows, subset) for subset in subsets])
    np.testing.assert_allclose(kernel(rows, rows, THETA), (waves.T * spread) @ waves, atol=1e-12)
    shares = np.array([[(k in subset) / len(subset) for subset in subsets] for k in range(q)])
    np.testing.assert_allclose(value_covariance(rows, THETA), (shares * spread) @ waves, atol=1e-12)
    np.testing.assert_allclose(prior_covariance(THETA), (shares * spread) @ shares.T, rtol=1e-6, atol=1e-9)


def test_the_shapley_value_of_a_wave_is_shared_by_its_players():
    """ξ_k = 2 c_T / |T|, and nothing for even T."""
    q = 5
    for subset in chain(odd_subsets(q), [[0, 1], [1, 2, 3, 4]]):
        exact = shapley(lambda s, subset=subset: np.prod([1 if k in s else -1 for k in subset]), q)
        wanted = np.zeros(q)
        wanted[subset] = 2 / len(subset) * (len(subset) % 2)
        np.testing.assert_allclose(exact, wanted, atol=1e-12)


def test_the_fit_is_the_posterior_mean_and_what_it_leaves_out_is_left_out():
    rng = np.random.default_rng(0)
    contrasts = 2.0 * masks_of(5, 9) - 1
    d, whole, hyperparameters = rng.normal(size=9), 1.3, Hyperparameters(THETA, 0.2, 0.0)
    process = SubsetProcess(contrasts, d, whole, hyperparameters)
    rows, answers = np.vstack([contrasts, np.ones(5)]), np.append(d, whole)
    system = kernel(rows, rows, THETA) + np.diag([0.2] * 9 + [0.0])
    np.testing.assert_allclose(
        process.values, value_covariance(rows, THETA) @ np.linalg.solve(system, answers), atol=1e-9
    )
    assert process.values.sum() == pytest.approx(whole)
    without = np.arange(9) != 4
    fewer = SubsetProcess(contrasts[without], d[without], whole, hyperparameters)
    assert process.residuals[4] == pytest.approx(d[4] - fewer.predicted(contrasts[4:5])[0])
    np.testing.assert_allclose(process.values - process.slopes[4] * process.residuals[4], fewer.values, atol=1e-9)
    scale = answers @ np.linalg.solve(system, answers) / 10
    told = value_covariance(rows, THETA) @ np.linalg.solve(system, value_covariance(rows, THETA).T)
    np.testing.assert_allclose(process.covariance, scale * (prior_covariance(THETA) - told), atol=1e-9)


def test_a_linear_game_has_no_interactions_and_no_noise():
    contrasts = 2.0 * masks_of(12, 60) - 1
    slope = np.linspace(-1, 2, 12)
    hyperparameters = select_hyperparameters(contrasts, (contrasts @ slope)[:, None], np.array([slope.sum()]))[0]
    assert hyperparameters.theta.sum() < 1e-3
    process = SubsetProcess(contrasts, contrasts @ slope, slope.sum(), hyperparameters)
    np.testing.assert_allclose(process.values, slope, atol=1e-8)
    assert np.abs(process.residuals).max() < 1e-7


def test_a_sparse_game_is_found_from_fewer_queries_than_players():
    """Six of 200 players matter. One prior variance for all of them left half of the squared values unexplained."""
    rng = np.random.default_rng(0)
    contrasts, slope = 2.0 * masks_of(200, 60) - 1, np.zeros(200)
    slope[rng.choice(200, 6, replace=False)] = rng.normal(size=6)
    hyperparameters = select_hyperparameters(contrasts, (contrasts @ slope)[:, None], np.array([slope.sum()]))[0]
    values = SubsetProcess(contrasts, contrasts @ slope, slope.sum(), hyperparameters).values
    assert np.sum((values - slope) ** 2) < 1e-3 * np.sum(slope**2)


# the values


@pytest.mark.parametrize(("queries", "most"), [(60, 0.995), (200, 0.995), (600, 1.0)])
@pytest.mark.slow
def test_intervals_cover_what_they_promise(queries, most):
    """Over games, seeds and players. Where most subsets were asked they are too wide: what is left may be noise."""
    q, held = 10, []
    for seed in range(24):
        model = network(q, seed)
        exact = shapley(lambda s, model=model: model(np.isin(np.arange(q), list(s))[None])[0], q)
        found = explained(model, np.ones(q), geex.Shapley(), queries, seed=seed)
        low, high = found.interval()
        region = found.region(np.arange(q) < 4)
        held += [*((low <= exact) & (exact <= high)), region.low <= exact[:4].sum() <= region.high]
        assert found.gap == pytest.approx(0, abs=1e-9)
    assert 0.93 < np.mean(held) <= most


@pytest.mark.parametrize("queries", [27, 35])
@pytest.mark.slow
def test_agreeing_with_a_sum_of_players_by_chance_is_not_knowing(queries):
    """A forest knows few numbers, so 12 to 16 draws of 13 players are now and then exactly those of a sum. z < 12:
    errors were next to nothing."""
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    absent = X.mean(axis=0)
    for number in (0, 18, 27, 45, 126):
        settings = {"target": int(forest.predict(X[[number]])[0]), "baseline": absent}
        true = explained(forest.predict_proba, X[number], geex.Shapley(), 8200, **settings).values
        for seed in range(3):
            found = explained(forest.predict_proba, X[number], geex.Shapley(), queries, seed=seed, **settings)
            assert_within(found.centre, np.maximum(found.stderr, 1e-9), true, z=12)


def test_the_whole_is_known_however_few_draws_there_are():
    found = explained(network(10), np.ones(10), geex.Shapley(), 12)
    assert found.region(np.ones(10, bool)).stderr == pytest.approx(0, abs=1e-6)
    assert found.stderr.min() > 0.1 * np.sqrt(np.mean(found.values**2))


def test_series_are_asked_and_fitted_like_columns():
    """A smooth prior took interactions for noise, and errors of Shapley values were several times as large."""
    settings = {"queries": 120, "baseline": 0.0}
    line = explained(network(20), np.ones(20), geex.Shapley(), features=geex.Elements(line=True), **settings)
    np.testing.assert_array_equal(line.values, explained(network(20), np.ones(20), geex.Shapley(), **settings).values)


@pytest.mark.slow
def test_far_fewer_queries_than_independent_masks_take():
    """Against the plain regression on as many masks that are drawn independently."""
    q, model = 12, network(12)
    exact = shapley(lambda s: model(np.isin(np.arange(q), list(s))[None])[0], q)

    ours = [explained(model, np.ones(q), geex.Shapley(), 300, seed=seed).values for seed in range(5)]
    plain = [naive_shapley_regression(model, q, 149, seed) for seed in range(5)]
    assert np.linalg.norm(ours - exact, axis=1).mean() < 0.5 * np.linalg.norm(plain - exact, axis=1).mean()


def test_errors_of_a_noisy_model_do_not_vanish_when_nearly_all_is_asked():
    q, rng = 8, np.random.default_rng(0)
    slope = np.linspace(-1, 1, q)

    def model(z):
        """Noise on all but x and the baseline, whose difference is taken for known."""
        return z @ slope + 0.1 * rng.normal(size=len(z)) * (z != z[:, :1]).any(1)

    found = [explained(model, np.ones(q), geex.Shapley(), 250, seed=seed) for seed in range(8)]
    for one in found:
        assert_within(one.values, one.stderr, slope)
    spread = np.std([one.values for one in found], axis=0, ddof=1).mean()
    assert 0.5 * spread < np.mean([one.stderr.mean() for one in found]) < 3 * spread


def test_an_output_does_not_depend_on_the_others_nor_on_its_size():
    def model(z):
        return np.stack(
            [network(9)(z), 1e-90 * network(9, 1)(z), 1e90 * network(9, 1)(z), 0 * z[:, 0] + z[:, 1]], axis=1
        )

    every = explained(model, np.ones(9), geex.Shapley(), 200, target="all")
    for output in range(4):
        alone = explained(model, np.ones(9), geex.Shapley(), 200, target=output)
        assert (alone.values == every.values[output]).all()
        assert (alone.stderr == every.stderr[output]).all()
    np.testing.assert_allclose(every.values[2], 1e180 * every.values[1], rtol=1e-9)
    assert np.abs(every.values[3] - np.eye(9)[1]).max() < 1e-9


def test_tensors():
    torch = pytest.importorskip("torch")
    model, x = network(14), np.ones(14)
    wide = explained(model, x, geex.Shapley(), 900)
    narrow = explained(lambda z: torch.from_numpy(model(z.numpy())), torch.from_numpy(x), geex.Shapley(), 900)
    assert isinstance(narrow.values, torch.Tensor)
    np.testing.assert_allclose(narrow.values.numpy(), wide.values)


@pytest.mark.slow
def test_many_draws(monkeypatch):
    model, x = network(14), np.ones(14)
    exact = shapley(lambda s: model(np.isin(np.arange(14), list(s))[None])[0], 14)
    wide = explained(model, x, geex.Shapley(), 900)
    monkeypatch.setattr("geex._estimate.shapley.subset_process_errors.FITTED", 100)
    fewer = explained(model, x, geex.Shapley(), 900)
    assert_within(fewer.values, fewer.stderr, exact)
    assert fewer.gap == pytest.approx(0, abs=1e-9)
    assert np.linalg.norm(fewer.values - exact) < 3 * np.linalg.norm(wide.values - exact)


def test_what_is_asked_in_full_of_a_noisy_model_has_its_noise():
    """What is left of the budget repeats subsets: one answer for each is not enough."""
    q, slope = 8, np.linspace(-1, 1, 8)
    held = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        with pytest.warns(geex.errors.UnsteadyModel):
            found = geex.explain(
                lambda z, rng=rng: z @ slope + 0.5 * rng.normal(size=len(z)),
                np.ones(q),
                method=geex.Shapley(),
                queries=300,
                progress=False,
            )
        assert 299 <= found.queries <= 300
        assert found.noise == pytest.approx(0.5, rel=0.6)
        low, high = found.interval()
        region = found.region(np.arange(q) < 3)
        held.append([*((low <= slope) & (slope <= high)), region.low <= slope[:3].sum() <= region.high])
    assert np.mean(held) > 0.85
    assert np.mean(held, axis=0)[-1] > 0.85


@pytest.mark.parametrize("game", ["and", "majority"])
@pytest.mark.slow
def test_sums_of_one_sign_are_covered(game):
    """A fit to few draws makes all values smaller, and their sum most of all."""
    q, held = 30, []
    for seed in range(20):
        players = np.random.default_rng(seed).permutation(q)[: 6 if game == "and" else 11]

        def model(z, players=players):
            shown = z[:, players].sum(1)
            return (shown == 6) * 1.0 if game == "and" else (shown > 5.5) * 1.0

        found = explained(model, np.ones(q), geex.Shapley(), 150, seed=seed)
        region = found.region(np.isin(np.arange(q), players))
        held.append(region.low <= 1 <= region.high)
    assert np.mean(held) >= 0.8


def test_a_constant_output_does_not_widen_the_others():
    def model(z):
        return np.stack([network(12)(z), 0 * z[:, 0] + 1], axis=1)

    every = explained(model, np.ones(12), geex.Shapley(), 200, target="all")
    assert every.freedom == explained(lambda z: model(z)[:, :1], np.ones(12), geex.Shapley(), 200, target=0).freedom


@pytest.mark.parametrize("count", [1, 2, 3, 10, 43758, 99999])
def test_shuffled_numbers_are_all_there(count):
    found = shuffled(np.arange(count), count, Stream(1, (5, 3), np.zeros(1)))
    assert (np.sort(found) == np.arange(count)).all()


def test_exact_values_of_a_game_with_a_large_offset():
    with pytest.warns(geex.errors.LittleToExplain):
        found = explained(lambda z: network(7)(z) + 1e9, np.ones(7), geex.Shapley(), 200)
    assert found.gap == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("method", [geex.Shapley(), geex.Regression(complete=True)], ids=["Shapley", "Regression"])
@pytest.mark.parametrize("shape", [(12,), (3, 4)])
@pytest.mark.filterwarnings("ignore::geex.errors.UnsteadyModel")
@pytest.mark.slow
def test_noise_of_the_ends_is_in_what_adds_up_to_their_difference(method, shape):
    """Half the features have half of what f(x) − f(x̊) is off by: √2 σ / 2 from one answer each. So the ends are
    repeated, and the error is less than half of that."""
    slope, half = np.linspace(1, 2, 12), (np.arange(12) < 6).reshape(shape)
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def model(z, rng=rng):
            return z.reshape(len(z), -1) @ slope + 0.1 * rng.normal(size=len(z))

        found = explained(model, np.ones(shape), method, 3000, seed=seed, limits=geex.Limits())
        errors.append(found.region(half).stderr)
        assert found.gap_stderr < 0.5 * found.noise
        assert abs(found.output - slope.sum()) < 5 * found.noise / found.end_queries[0] ** 0.5
    assert np.mean(errors) < 0.1 * 2**0.5 / 4


@pytest.mark.slow
def test_errors_shrink_beyond_the_draws_that_are_fitted():
    weights = np.arange(1, 19) / 18

    def largest(z):
        return (z * weights).max(1)

    errors = [
        np.sqrt(np.mean(explained(largest, np.ones(18), geex.Shapley(), queries, limits=geex.Limits()).stderr ** 2))
        for queries in (3000, 24_000)
    ]
    assert errors[1] < errors[0] / 4
