"""The width of answers: one wrong answer does not make all others wrong."""

import pytest

from geex._query.calls.answer_width import FirstAnswerWrong, Widths
from geex.errors import AnswerError
from tests.helpers import raises


def test_another_width_is_an_error():
    widths = Widths()
    assert not widths.found
    widths.check((3,))
    widths.check((3,))
    for _ in range(3):
        with raises(AnswerError, "answer-width-changed"):
            widths.check(())
    widths.check((3,))
    assert widths.found


def test_a_first_answer_is_wrong_where_the_next_two_agree():
    widths = Widths()
    widths.check((4,))
    with raises(AnswerError, "answer-width-changed"):
        widths.check((3,))
    with raises(FirstAnswerWrong, "first-answer-width") as caught:
        widths.check((3,))
    assert caught.value.columns == 3


@pytest.mark.parametrize("others", [[(3,), (4,), (3,)], [(3,), (2,), (3,)]])
def test_it_is_right_where_they_do_not(others):
    widths = Widths()
    widths.check((4,))
    for width in others:
        if width == (4,):
            widths.check(width)
        else:
            with raises(AnswerError, "answer-width-changed"):
                widths.check(width)
