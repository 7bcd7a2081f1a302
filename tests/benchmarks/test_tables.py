"""The benchmark of tables: exact values are exact, budgets are kept, runs resume, and the page has all entrants."""

import numpy as np
import pytest
from benchmarks.tables import cells, entrants, exact, page, summary
from benchmarks.tables.cases import Case, Setting
from benchmarks.tables.games import GAMES

from tests.games import shapley
from tests.unit.estimate.test_interactions import naive_pairs
from tests.unit.estimate.test_subset_process import network

ABOUT = {"rows": 2, "budgets": (50, 100), "date": "today", "python": "3.12", "versions": "none"}


def test_all_subsets_give_exact_values():
    model = network(6)
    found = shapley(lambda s: model(np.isin(np.arange(6), list(s))[None])[0], 6)
    np.testing.assert_allclose(exact.by_subsets(model, 6), found)
    np.testing.assert_allclose(exact.pairs_by_subsets(model, 6), naive_pairs(model, 6), atol=1e-12)


def test_products_are_exact():
    rng = np.random.default_rng(0)
    weights, shown, hidden = rng.normal(size=5), rng.uniform(0.1, 1, (5, 7)), rng.uniform(0.1, 1, (5, 7))

    def game(masks):
        return np.where(masks[:, None, :] > 0.5, shown, hidden).prod(axis=2) @ weights

    np.testing.assert_allclose(exact.by_products(weights, shown, hidden), exact.by_subsets(game, 7), atol=1e-12)


@pytest.mark.parametrize("setting", [one for one in GAMES if "12 columns" in one.name or "15 columns" in one.name])
def test_closed_forms_are_those_of_all_subsets(setting):
    case = next(iter(setting.cases(1)))
    q = len(case.exact)
    np.testing.assert_allclose(case.exact, exact.by_subsets(case.game, q), atol=1e-9)
    if case.pairs is not None:
        np.testing.assert_allclose(case.pairs, exact.pairs_by_subsets(case.game, q), atol=1e-9)


def test_votes_and_maxima_are_those_of_all_subsets():
    weights = np.array([3, 1, 4, 1, 5, 9])
    vote = exact.by_subsets(lambda masks: (masks @ weights >= 12) * 1.0, 6)
    np.testing.assert_allclose(exact.by_votes(weights, 12), vote)
    largest = exact.by_subsets(lambda masks: (masks * weights).max(axis=1), 6)
    np.testing.assert_allclose(exact.by_maximum(weights * 1.0), largest)


def game_setting():
    model = network(8)
    values = exact.by_subsets(model, 8)
    return Setting("a game", True, lambda count: iter([Case(model, values, seed) for seed in range(count)]))


def test_a_run_resumes_and_the_page_has_what_ran(tmp_path, monkeypatch):
    path = tmp_path / "cells.jsonl"
    monkeypatch.setitem(
        entrants.ENTRANTS, "kernel", ("a rival", lambda game, case, queries: 0 * case.exact, lambda q: 60, 100)
    )
    cells.run([game_setting()], 1, (50,), ["ours"], path)
    first = path.read_text()
    cells.run([game_setting()], 2, (50, 100), ["ours", "kernel"], path)
    assert path.read_text().startswith(first)
    found = cells.done(path)
    assert len(found) == 8
    assert found["a game", 0, 50, "kernel"]["error"] is None
    written = page.page(found, [game_setting()], ABOUT)
    assert "| a rival | –" in written
    assert "ProxySHAP, adjusted," in written  # among those that did not run
    standing = summary.standing(summary.errors(found), ["a game"], 100)
    assert standing.models == 1
    assert standing.median < 1
    assert not standing.lost


def test_an_entrant_may_not_exceed_its_budget(monkeypatch):
    case = next(iter(game_setting().cases(1)))
    over = ("over", lambda game, case, queries: game(np.ones((queries + 1, 8))), lambda q: 7, 100)
    monkeypatch.setitem(entrants.ENTRANTS, "kernel", over)
    with pytest.raises(RuntimeError, match="exceeded its budget"):
        cells.measured(case, 50, "kernel")
