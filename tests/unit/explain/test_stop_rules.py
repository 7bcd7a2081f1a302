"""Rules that end a run, and what is said about how many queries it takes."""

from dataclasses import dataclass

import numpy as np
import pytest

import geex
from geex.errors import InputError, LittleToExplain
from geex.methods import Random
from tests.helpers import explained, raises

RNG = np.random.default_rng(0)
SLOPE = RNG.normal(size=(6, 5))
X = np.ones((6, 5))


def linear(z):
    return (z * SLOPE).sum((1, 2)) + 0.5 * np.tanh(z.sum((1, 2)))


METHODS = [geex.GEEX(0.5), geex.Regression(), geex.Presence(), geex.Guided(), geex.GEEX(0.5, coupling="orthogonal")]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("rule", [geex.Precise(0.3), geex.Settled(0.7)], ids=str)
def test_a_rule_ends_the_run_and_says_why(method, rule):
    found = explained(linear, X, method, 20_000, stop=rule)
    assert found.queries < 20_000
    assert found.ended
    assert found.ended in repr(found)
    assert not found.partial


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_budget_is_never_overspent(method):
    asked = []

    def model(z):
        asked.append(len(z))
        return linear(z)

    found = explained(model, X, method, 157, stop=geex.Precise(1e-9))
    assert sum(asked) == found.queries <= 157
    assert found.ended == ""
    assert "Precise(tolerance=1e-09) was not met" in repr(found)


def test_without_being_met_a_rule_changes_nothing():
    for method in (geex.Regression(), geex.Guided()):
        free = explained(linear, X, method, 203)
        ruled = explained(linear, X, method, 203, stop=geex.Precise(1e-9))
        np.testing.assert_allclose(ruled.values, free.values, atol=1e-9)


def test_precise_means_what_it_says():
    """At the stop the sum over the top tenth is known to the tolerance: 95% intervals cover in at least 85 of 100."""
    true = SLOPE
    hits = []
    for seed in range(100):
        found = explained(
            lambda z: (z * SLOPE).sum((1, 2)), X, geex.GEEX(0.5), 50_000, seed=seed, stop=geex.Precise(0.2)
        )
        top = np.argsort(-np.abs(found.values).ravel())[:3]
        hits.append(abs(found.values.ravel()[top].sum() - true.ravel()[top].sum()) <= 0.2 * abs(SLOPE.sum()))
    assert np.mean(hits) >= 0.85


@dataclass(frozen=True)
class Looked(geex.Estimate):
    """An estimate of 20 features at one look."""

    values: np.ndarray
    stderr: np.ndarray
    freedom: float = np.inf

    @property
    def sum_stderr(self):
        return self.stderr.sum(axis=1)


def looked(first):
    values = np.zeros((1, 20))
    values[0, :2] = first, 0.3
    return Looked(values, np.full((1, 20), 0.01))


def test_precise_wants_two_looks_that_agree():
    """Known to ±0.05 by its own errors; but errors are made of the answers that were seen."""
    rule, span = geex.Precise(0.05), np.ones(1)
    assert rule.met(looked(0.5), None, span) is None
    assert rule.met(looked(0.5), looked(0.6), span) is None
    assert rule.met(looked(0.5), looked(0.53), span)


def test_a_stopped_run_resumes_and_stops_at_the_same_place(tmp_path):
    asked = []

    def model(z):
        asked.append(len(z))
        return linear(z)

    settings = {"stop": geex.Settled(0.7), "journal": tmp_path / "run.geex"}
    first = explained(model, X, geex.Regression(), 5000, **settings)
    count = sum(asked)
    again = explained(model, X, geex.Regression(), 5000, **settings)
    assert sum(asked) == count
    assert again.values.tobytes() == first.values.tobytes()
    stored = geex.estimate(tmp_path / "run.geex")
    assert stored.values.tobytes() == first.values.tobytes()
    assert stored.ended == first.ended


def test_how_many_queries_are_needed():
    """Errors fall as one over the root: what the advice says at 500 queries holds at that many, within a factor 2."""
    few = explained(linear, X, geex.GEEX(0.5), 500)
    wanted = few.needed(0.1)
    assert wanted > 500
    assert f"{float(f'{few.needed():.3g}'):,.0f}" in few.advice()
    many = explained(linear, X, geex.GEEX(0.5), wanted)
    assert 0.5 < many.needed(0.1) / wanted < 2
    assert "These queries are enough for ±20% on the total of the top 10%" in many.advice(0.2)
    assert few.needed(1e-300) > 1e15
    assert explained(linear, X, Random(), 3).needed() is None
    with raises(InputError, "tolerance-not-positive"):
        few.needed(0)


@pytest.mark.parametrize("stop", [geex.Precise, "precise", 0.05])
def test_what_is_no_rule(stop):
    with pytest.raises(InputError) as raised:
        explained(linear, X, geex.GEEX(), 100, stop=stop)
    assert raised.value.code == "stop-not-a-rule"


@pytest.mark.parametrize(
    ("rule", "code"), [(geex.Precise, "tolerance-not-a-share"), (geex.Settled, "overlap-not-a-share")]
)
@pytest.mark.parametrize("value", [0, -1, 2, "a", float("nan")])
def test_bad_settings(rule, code, value):
    with raises(InputError, code):
        rule(value)


@pytest.mark.parametrize(
    "method", [geex.Guided(), geex.Presence(alpha=0.5), geex.Regression(), geex.GEEX(0.1)], ids=str
)
@pytest.mark.parametrize("rule", [geex.Precise(0.3), geex.Settled(0.7)], ids=str)
def test_where_nothing_made_a_difference_nothing_is_known(method, rule):
    whole = np.ones((10, 10))
    found = explained(lambda z: (z == whole).all((1, 2)) * 1.0, whole, method, 300, stop=rule)
    assert not found.values.any()
    assert found.ended == ""
    assert found.queries >= 299
    assert found.needed() is None
    assert "exact" not in repr(found)


@pytest.mark.parametrize("rule", [geex.Precise(0.3), geex.Settled(0.7)], ids=str)
def test_where_nothing_changes_a_ranking_of_zeros_ends_nothing(rule):
    with pytest.warns(LittleToExplain):
        found = explained(lambda z: np.full(len(z), 3.0), np.ones(50), geex.Regression(), 300, stop=rule)
    assert not found.values.any()
    assert found.ended == ""
    assert found.queries == 300


def test_an_output_that_never_changes_keeps_no_run_going():
    found = explained(
        lambda z: np.stack([linear(z), np.ones(len(z))], 1),
        X,
        geex.Regression(),
        5000,
        target="all",
        stop=geex.Settled(0.7),
    )
    assert found.ended


def test_no_more_queries_are_advised_than_make_it_exact():
    weights = np.random.default_rng(0).normal(size=(9, 5))
    found = explained(lambda z: np.tanh(z @ weights).sum(1), np.ones(9), geex.Shapley(), 200)
    assert found.needed(1e-6) == 512
    assert "±0.0001% on" in found.advice(1e-6)
    assert found.advice(1e-6).startswith("About 512 queries would be needed")
    assert explained(lambda z: np.tanh(z @ weights).sum(1), np.ones(9), geex.Shapley(), 512).needed(1e-6) == 0
