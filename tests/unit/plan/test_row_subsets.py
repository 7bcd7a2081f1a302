"""Pairs of a subset and a row of a background, none of which is drawn twice."""

import numpy as np
import pytest

import geex
from geex._plan.row_subsets import RowSubsets, row_subsets


def pairs_of(q, rows, draws, size=64, seed=0):
    """(mask, row) of the first draws."""
    search = RowSubsets(geex.Elements(), tuple(range(q)), tuple(range(rows)))
    chunks = [search.draws(seed, chunk, size, np.zeros(q)) for chunk in range(-(-draws // size))]
    masks = np.concatenate([chunk.noise for chunk in chunks])[:draws] > 0
    return masks, np.concatenate([chunk.rows for chunk in chunks])[:draws]


@pytest.mark.parametrize(("q", "rows"), [(2, 3), (3, 1), (4, 6), (5, 7), (6, 30)])
def test_all_pairs_are_drawn_once(q, rows):
    count = RowSubsets(geex.Elements(), tuple(range(q)), tuple(range(rows))).all_draws
    masks, drawn = pairs_of(q, rows, count)
    assert count == (2 ** (q - 1) - 1) * rows == len(masks)
    both = np.concatenate([np.column_stack([masks, drawn]), np.column_stack([~masks, drawn])])
    assert len(np.unique(both, axis=0)) == 2 * count


@pytest.mark.parametrize("size", [1, 7, 64])
def test_draws_do_not_depend_on_how_they_are_cut(size):
    whole, rows = pairs_of(12, 20, 150)
    masks, drawn = pairs_of(12, 20, 150, size)
    assert (masks == whole).all()
    assert (drawn == rows).all()


def test_rows_and_subsets_take_turns():
    masks, rows = pairs_of(30, 50, 600)
    sizes = np.minimum(masks.sum(axis=1), 30 - masks.sum(axis=1))
    for size in range(1, 16):
        counts = np.bincount(rows[sizes == size], minlength=50)
        assert counts.max() - counts.min() <= 1
    masks = masks[sizes > 1]  # single features come again, with other rows
    assert len(np.unique(np.concatenate([masks, ~masks]), axis=0)) == 2 * len(masks)


def test_queries_have_the_values_of_the_row_where_features_are_absent():
    x, background = np.arange(4.0), np.arange(8.0).reshape(2, 4) + 10
    search = row_subsets(x, background, geex.Elements())
    draws = search.draws(0, 0, 8, x)
    queries = search.queries(draws, x, background)
    for (first, second), mask, row in zip(queries, draws.noise > 0, draws.rows, strict=True):
        assert first.tolist() == np.where(mask, x, background[row]).tolist()
        assert second.tolist() == np.where(mask, background[row], x).tolist()


def test_rows_equal_to_x_and_features_equal_in_all_rows_are_left_out():
    x = np.array([1.0, 2.0, 3.0])
    search = row_subsets(x, np.array([[0.0, 2, 0], [1, 2, 3], [1, 2, 0]]), geex.Elements())
    assert search.players == (0, 2)
    assert search.background == (0, 2)


def test_a_background_of_a_thousand_rows_and_many_features_does_not_overflow():
    masks, rows = pairs_of(200, 999, 64)
    assert masks.shape == (64, 200)
    assert 0 <= rows.min() <= rows.max() < 999
