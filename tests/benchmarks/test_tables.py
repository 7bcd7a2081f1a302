"""The benchmark of tables: exact values are exact, budgets are kept, and the page tells of all."""

import numpy as np
import pytest

import geex
from tests.games import shapley

pytest.importorskip("shap")
pytest.importorskip("torch")
from benchmarks import tables


def test_all_subsets_give_exact_values():
    weights = np.random.default_rng(0).normal(size=(6, 3))

    def model(rows):
        return np.tanh(rows @ weights).sum(1)

    found = tables.by_subsets(model, np.ones(6), np.zeros(6))
    np.testing.assert_allclose(found, shapley(lambda s: model(np.isin(np.arange(6), list(s))[None] * 1.0)[0], 6))


def test_nobody_asks_more_than_the_budget_and_the_page_tells_of_all(monkeypatch):
    pytest.importorskip("captum")
    monkeypatch.setattr(tables, "BUDGETS", (50, 100))
    weights = np.random.default_rng(0).normal(size=(8, 3))

    def model(rows):
        return np.tanh(rows @ weights).sum(1)

    x = np.ones(8)
    case = tables.Case(model, x, 0 * x, tables.by_subsets(model, x, 0 * x), 3)
    found = [tables.measured(case), tables.measured(case)]
    assert set(found[0]) == {*tables.ENTRANTS, "held"}
    page = tables.page({"rows": 2, "data": {"a game": tables.summary(found)}})
    for name, _, _ in tables.ENTRANTS.values():
        assert page.count(f"| {name} |") >= 1
    monkeypatch.setitem(
        tables.ENTRANTS, "ours", ("ours", lambda model, *_: geex.explain(model, x, queries=80), lambda p: 7)
    )
    with pytest.raises(RuntimeError, match="exceeded its budget"):
        tables.measured(case)
