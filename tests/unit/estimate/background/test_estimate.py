"""Shapley values over a background: the mean game."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import geex
from geex.errors import BaselineError, BudgetError, LittleToExplain
from tests.games import shapley

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(size=(6, 8))
BACKGROUND = RNG.normal(size=(12, 6))
X = RNG.normal(size=6)


def network(z):
    return np.tanh(np.asarray(z) @ WEIGHTS[: np.shape(z)[1]]).sum(1)


def summed(kind, weights, z):
    return kind(z @ weights).sum(1)


def mean_game(model, x, background):
    """Exact Shapley values of the mean over rows."""

    def worth(present):
        shown = np.isin(np.arange(len(x)), list(present))
        return float(model(np.where(shown, x, background)).mean())

    return shapley(worth, len(x))


def explained(model=network, x=X, background=BACKGROUND, queries=300, **settings):
    return geex.explain(model, x, baseline=geex.background(background), queries=queries, progress=False, **settings)


def test_values_of_a_linear_model_are_exact_from_few_queries():
    weights = np.arange(1.0, 7)
    found = explained(lambda z: z @ weights, queries=40)
    assert found.values == pytest.approx(weights * (X - BACKGROUND.mean(axis=0)), abs=1e-6)


def test_values_approach_the_mean_game():
    exact = mean_game(network, X, BACKGROUND)
    errors = [np.abs(explained(queries=queries).values - exact).max() for queries in (60, 300)]
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.02 * np.abs(exact).max()


def test_all_pairs_make_the_values_exact():
    x, background = X[:4], BACKGROUND[:, :4]
    found = explained(network, x, background, 1000)
    assert found.queries == 1 + 12 + 1 + 2 * 7 * 12
    assert found.values == pytest.approx(mean_game(network, x, background), abs=1e-9)
    assert found.stderr == pytest.approx(np.zeros(4), abs=1e-9)


def test_values_add_up_to_the_mean_over_rows():
    found = explained(queries=80)
    assert found.base_value == pytest.approx(network(BACKGROUND).mean())
    assert found.values.sum() == pytest.approx(network(X[None])[0] - network(BACKGROUND).mean())
    assert found.adds_up
    assert found.estimand.baselines == 12


def test_x_among_the_rows_adds_zeros():
    rows = np.vstack([BACKGROUND[:5], X])
    found, exact = explained(background=rows, queries=400), mean_game(network, X, rows)
    assert found.values == pytest.approx(exact, abs=0.01 * np.abs(exact).max())


def test_a_background_of_copies_of_x_has_values_of_zero():
    with pytest.warns(LittleToExplain):
        found = explained(background=np.stack([X, X]))
    assert not found.values.any()


def test_one_feature_that_differs_has_all_of_the_difference():
    rows = np.stack([X, X, X])
    rows[1:, 2] = [5.0, 6.0]
    found = explained(background=rows)
    assert found.values[2] == pytest.approx(network(X[None])[0] - network(rows).mean())
    assert not np.delete(found.values, 2).any()
    assert found.queries <= 6


def test_features_equal_in_every_row_have_the_value_zero():
    rows = BACKGROUND.copy()
    rows[:, 2] = X[2]
    found = explained(background=rows)
    assert found.values[2] == found.stderr[2] == 0


def test_the_budget_is_the_most_queries_and_no_query_is_repeated():
    queried = []
    found = explained(lambda z: queried.append(np.array(z)) or network(z), queries=150, limits=geex.Limits(twice=False))
    rows = np.concatenate(queried)
    assert len(rows) == found.queries <= 150
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_too_few_queries_for_the_rows_are_refused():
    with pytest.raises(BudgetError) as caught:
        explained(queries=14)
    assert caught.value.code == "queries-below-least"


def test_more_queries_continue_from_the_journal(tmp_path):
    counted = []

    def model(z):
        counted.append(len(z))
        return network(z)

    journal = tmp_path / "run.geex"
    limits = geex.Limits(twice=False, compare=False)
    explained(model, queries=100, journal=journal, limits=limits)
    longer = explained(model, queries=200, journal=journal, limits=limits)
    assert sum(counted) == longer.queries
    assert longer.values.tolist() == explained(queries=200, limits=limits).values.tolist()
    assert geex.estimate(journal).values.tolist() == longer.values.tolist()


def test_a_background_and_a_list_of_its_rows_are_two_runs_of_a_journal(tmp_path):
    journal = tmp_path / "run.geex"
    explained(queries=100, journal=journal)
    geex.explain(network, X, baseline=list(BACKGROUND), queries=200, progress=False, journal=journal)
    assert geex.estimate(journal, which=0).queries <= 100
    assert geex.estimate(journal, which=1).queries > 100


def test_several_outputs_cost_the_queries_of_one():
    found = explained(lambda z: np.stack([network(z), 2 * network(z) + 1], axis=1), target="all", queries=200)
    alone = explained(queries=200)
    assert found.values[0] == pytest.approx(alone.values, abs=1e-9)
    assert found.values[1] == pytest.approx(2 * alone.values, rel=1e-6, abs=1e-9)


def test_regions_sum_values_with_a_joint_interval():
    found, exact = explained(queries=150), mean_game(network, X, BACKGROUND)
    region = found.region([True, True, True, False, False, False])
    assert region.value == pytest.approx(found.values[:3].sum())
    assert region.low <= exact[:3].sum() <= region.high
    everything = found.region([True] * 6)
    assert everything.stderr == pytest.approx(0, abs=1e-6)


def test_other_methods_average_over_the_rows_as_baselines():
    found = explained(lambda z: z.sum(1), queries=2000, method=geex.GEEX(sigma=0.1))
    assert found.estimand.baselines == 12
    assert found.values == pytest.approx(X - BACKGROUND.mean(axis=0), abs=6 * found.stderr.max())


def test_a_data_frame_is_a_background_in_the_order_of_x():
    names = list("abcdef")
    frame = pd.DataFrame(BACKGROUND, columns=names)
    row = pd.Series(X, names)
    wanted = explained(queries=100)
    for baseline in (frame, frame[names[::-1]], geex.background(frame[names[::-1]])):
        found = geex.explain(network, row, baseline=baseline, queries=100, progress=False)
        assert found.values.tolist() == wanted.values.tolist()


def test_a_background_of_other_columns_is_refused():
    frame = pd.DataFrame(BACKGROUND, columns=list("abcdeg"))
    with pytest.raises(BaselineError) as caught:
        geex.explain(network, pd.Series(X, list("abcdef")), baseline=frame)
    assert caught.value.code == "background-columns"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (np.zeros((0, 3)), "background-shape"),
        (np.zeros(3), "background-shape"),
        ([[0.0, np.inf, 1.0]], "background-not-finite"),
    ],
)
def test_rows_that_are_no_background_are_refused(rows, code):
    with pytest.raises(BaselineError) as caught:
        geex.background(rows)
    assert caught.value.code == code


def test_a_large_background_is_sampled():
    rows = np.arange(3000.0).reshape(1000, 3)
    assert geex.background(rows).rows.shape == (100, 3)
    assert geex.background(rows, most=20, seed=1).rows.shape == (20, 3)
    assert geex.background(rows).rows.tolist() == geex.background(rows).rows.tolist()


def test_the_noise_of_the_model_is_in_the_errors():
    noise = np.random.default_rng(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", geex.errors.UnsteadyModel)
        found = explained(lambda z: network(z) + 0.5 * noise.normal(size=len(z)), queries=200)
    assert found.noise is not None
    assert found.stderr.mean() > 1.2 * explained(queries=200).stderr.mean()


@pytest.mark.slow
def test_intervals_cover_the_mean_game():
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        weights, background, x = rng.normal(size=(9, 8)), rng.normal(size=(25, 9)), rng.normal(size=9)
        kind = [np.tanh, lambda a: (a > 0.5).astype(float), lambda a: np.maximum(a, 0)][seed % 3]
        model = partial(summed, kind, weights)
        low, high = explained(model, x, background, 150, seed=seed).interval(0.95)
        exact = mean_game(model, x, background)
        covered += ((low <= exact) & (exact <= high)).tolist()
    assert 0.92 <= np.mean(covered) <= 0.995  # 540 intervals: 95% ± 3 z at most
