"""geex as an approximator of shapiq, in its own benchmark."""

import numpy as np
import pytest

from geex.errors import BudgetError, InputError, MissingPackage
from geex.interop.shapiq import Approximator
from tests.helpers import raises

WEIGHTS = np.array([1.0, -2.0, 3.0, 0.5])


def game(players):
    assert players.dtype == bool
    return players @ WEIGHTS + 5.0


def test_a_game_without_the_package():
    approximator = Approximator(4, random_state=3)
    found = approximator.explained(20, game)
    np.testing.assert_allclose(found.values, WEIGHTS)
    assert found.base_value == 5.0
    assert approximator.explanation is found


def test_evaluations_stay_within_the_budget():
    counts = []
    Approximator(12).explained(50, lambda players: counts.append(len(players)) or players[:, 0] * players[:, 1])
    assert sum(counts) <= 50
    with raises(BudgetError, "queries-below-least"):
        Approximator(12).explained(3, game)


def test_another_index():
    with raises(InputError, "index-unknown"):
        Approximator(4, index="k-SII")
    with raises(InputError, "index-unknown"):
        Approximator(4, max_order=2)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shapiq.interaction_values", None)
    with raises(MissingPackage, "shapiq-missing"):
        Approximator(4).approximate(20, game)


def test_interaction_values():
    shapiq = pytest.importorskip("shapiq")
    approximator = Approximator(n=4, random_state=0)
    assert isinstance(approximator, shapiq.approximator.base.Approximator)
    found = approximator(100, game)
    assert isinstance(found, shapiq.InteractionValues)
    assert [found[(player,)] for player in range(4)] == pytest.approx(WEIGHTS.tolist())
    assert found[()] == 5.0
    assert not found.estimated
    assert found.estimation_budget == 16
    approximator.set_random_state(5)
    assert approximator.random_state == 5


def test_the_benchmark_of_shapiq():
    pytest.importorskip("shapiq_benchmark")
    from shapiq_benchmark import run
    from shapiq_benchmark.benchmark import Benchmark
    from shapiq_games.synthetic import SOUM

    benchmark = Benchmark(SOUM(n=7, n_basis_games=15, random_state=1))
    found = run(benchmark, [Approximator], [20, 60, 128], index="SV", order=1, seeds=(0, 1))
    assert found["status"].tolist() == ["ok"] * 6
    assert (found[found["budget"] == 128]["mse"] < 1e-20).all()
    assert run(benchmark, [Approximator], [60], index="k-SII", order=2)["status"].tolist() == ["unsupported"]


def test_the_explainer_of_shapiq():
    shapiq = pytest.importorskip("shapiq")
    rows = np.random.default_rng(0).normal(size=(50, 4))
    explainer = shapiq.TabularExplainer(
        model=lambda z: z @ WEIGHTS,
        data=rows,
        approximator=Approximator(4),
        imputer="baseline",
        index="SV",
        max_order=1,
    )
    found = explainer.explain(rows[0], budget=16)
    np.testing.assert_allclose([found[(k,)] for k in range(4)], WEIGHTS * (rows[0] - rows.mean(axis=0)), atol=1e-9)
