"""How many rows the next call has, from how long calls took."""

import pytest

from geex._query.batch_size import FIRST, BatchSize


def sizes(seconds, calls=14, most=512, first=2):
    """The rows of calls that take `seconds(rows)`, after a first one of two rows."""
    size = BatchSize(most)
    size.took(first, seconds(first))
    found = []
    for _ in range(calls):
        found.append(size.rows)
        size.took(size.rows, seconds(size.rows))
    return found


def test_the_first_call_is_small():
    assert BatchSize(512).rows == FIRST
    assert BatchSize(3).rows == 3


@pytest.mark.parametrize("seconds", [1e-6, 1e-3, 0.2])
def test_a_fast_model_has_the_same_sizes_in_every_run(seconds):
    assert sizes(lambda rows: seconds)[:5] == [8, 32, 128, 512, 512]
    assert sizes(lambda rows: seconds, most=300)[:5] == [8, 32, 128, 300, 300]


def test_calls_of_a_model_that_takes_time_for_every_row_take_a_second():
    assert set(sizes(lambda rows: 0.05 * rows)[1:]) == {16}
    assert set(sizes(lambda rows: 5.0 * rows)[1:]) == {1}


def test_a_server_that_takes_long_for_any_call_gets_more_rows_each_time():
    found = sizes(lambda rows: 2.0)
    assert found[:7] == [8, 16, 32, 64, 128, 256, 512]
    assert set(found[6:]) == {512}


def test_more_rows_are_tried_until_they_are_not_faster():
    found = sizes(lambda rows: max(2.0, rows / 10))
    assert max(found) == 32
    assert found[-1] == 8, "ten rows a second"
    assert found.count(32) == 1


def test_calls_end_where_chunks_end():
    size, first, found = BatchSize(512), 0, []
    while first < 2048:
        found.append(size.at(first, 512))
        first += found[-1]
        size.took(found[-1], 1e-3)
    assert found == [8, 24, 96, 384, 512, 512, 512]
    assert BatchSize(100, fixed=True).at(30, 512) == 100
    assert BatchSize(512, fixed=True).at(30, 100) == 100


def test_a_slow_first_call_does_not_count_for_long():
    size = BatchSize(512)
    size.took(2, 3.0)
    assert size.rows == FIRST
    size.took(FIRST, 1e-3)
    assert size.rows == 4 * FIRST


@pytest.mark.parametrize("seconds", [1e-9, 100.0])
def test_what_the_user_sets_stays(seconds):
    size = BatchSize(40, fixed=True)
    size.took(2, seconds)
    assert size.rows == 40
