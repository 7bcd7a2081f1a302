"""What is sent, and how much of it may be."""

import numpy as np
import pytest

import geex
from geex._query.batch_size import BatchSize
from geex._query.calls.outcome import Outcome
from geex._query.spending import Spending
from geex.errors import InputError, PartialRun
from tests.helpers import raises

X = np.linspace(0, 1, 6)


def test_a_budget_is_for_jobs_and_for_their_failed_attempts():
    spending = Spending(BatchSize(8), 20)
    assert spending.reserve(8) == 8
    spending.count(Outcome([], sent=14, failed=1), 8)
    assert not spending.spent
    assert spending.reserve(8) == 6
    assert spending.spent
    assert spending.reserve(1) == 0
    assert (spending.sent, spending.failed) == (14, 1)


@pytest.mark.parametrize("price", [0.1, 0.3, 1e-4])
def test_rounding_costs_no_row(price):
    def model(z):
        return z.sum(axis=1)

    with pytest.warns(PartialRun):
        found = geex.explain(
            model, X, method=geex.GEEX(0.5), queries=500, price=price, most_cost=30 * price, progress=False
        )
    assert found.sent == 30


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"most_cost": 1.0}, "most-cost-without-price"),
        ({"most_cost": 1.0, "price": 0}, "most-cost-without-price"),
        ({"most_cost": -1, "price": 1}, "most-cost-not-positive"),
        ({"most_cost": True, "price": 1}, "most-cost-not-positive"),
        ({"most_cost": 0.5, "price": 1}, "most-cost-below-price"),
    ],
)
def test_costs_that_are_none(settings, code):
    with raises(InputError, code):
        geex.explain(lambda z: z.sum(axis=1), X, progress=False, **settings)


def test_what_was_sent_is_saved(tmp_path):
    found = geex.explain(lambda z: z.sum(axis=1), X, progress=False)
    assert (found.sent, found.failed) == (found.queries, 0)
    again = geex.Explanation.load(found.save(tmp_path / "found.npz"))
    assert (again.sent, again.failed) == (found.sent, 0)
