"""Which rows of a job are answered, and which are sent again."""

import numpy as np
import pytest

from geex._query.calls.answered_rows import Rows, spans, usable_rows

QUERIES = np.arange(24.0).reshape(8, 3)


@pytest.mark.parametrize("places", [[], [0], [3, 4, 5], [0, 1, 4, 6, 7]])
def test_spans_hold_all_places(places):
    found = [np.array(places)[first:stop] for first, stop in spans(np.array(places, int))]
    assert [place for span in found for place in span] == places
    assert all((np.diff(span) == 1).all() for span in found)


def test_rows_that_are_no_numbers_are_not_usable():
    answers = np.array([[1.0, 2.0], [np.nan, 0.0], [np.inf, 0.0], [1e200, 0.0], [-1e99, 0.0]])
    assert usable_rows(answers).tolist() == [True, False, False, False, True]
    assert usable_rows(answers[:, 0]).tolist() == [True, False, False, False, True]


def test_kept_rows_are_not_pending_and_are_in_their_places():
    rows = Rows(QUERIES)
    answers = QUERIES.sum(axis=1)
    usable = np.array([True, False, True, True, False, True, True, False])
    rows.keep_some(rows.pending(), answers, usable)
    assert rows.pending().tolist() == [1, 4, 7]
    assert np.array_equal(rows.queries_of(rows.pending()), QUERIES[[1, 4, 7]])
    rows.keep(rows.pending(), answers[~usable])
    assert not len(rows.pending())
    found = np.zeros(8)
    for first, count, part in rows.parts:
        found[first : first + count] = part
    assert np.array_equal(found, answers)


def test_parts_do_not_change_with_the_memory_of_the_model():
    rows, answers = Rows(QUERIES), np.ones(3)
    rows.keep(np.array([0, 1, 2]), answers)
    answers[:] = 7
    assert np.array_equal(rows.parts[0][2], np.ones(3))
