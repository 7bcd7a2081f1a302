"""The bar: what moves it, and what it forecasts."""

import io
import sys

import pytest

from geex._query.calls.outcome import Outcome
from geex._query.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(1000, True, price=0.5) as progress:
        yield progress


def rate(progress):
    facts = progress.bar.format_dict
    return facts["rate"] or (facts["n"] - facts["initial"]) / facts["elapsed"]


def test_stored_answers_count_for_the_bar_and_not_for_the_rate(bar):
    bar.bar.start_t -= 10.0
    bar.update(900, stored=True)
    bar.update(10)
    assert bar.bar.n == 910
    assert rate(bar) == pytest.approx(1.0, rel=0.1)


def test_attempts_cost_money_too(bar):
    bar.update(8)
    bar.count(Outcome([], sent=8))
    assert "4.00" in bar.bar.postfix
    bar.count(Outcome([], sent=8, failed=2))
    assert "8.00" in bar.bar.postfix
    assert "16 rows sent, 2 calls failed" in bar.bar.postfix
