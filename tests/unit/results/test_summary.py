"""The printed explanation: what it says, in which order, and how its numbers are aligned."""

import re
from dataclasses import replace

import numpy as np
import pytest

import geex
from geex._results.account import accounts
from geex.methods import RISE, Random
from tests.helpers import explained

PICTURE = np.random.default_rng(1).uniform(0.5, 1, (10, 10))


def detector(z):
    return 1 / (1 + np.exp(-(z[:, 2:6, 3:7].sum((1, 2)) - 8)))


@pytest.fixture(scope="module")
def guided():
    return geex.explain(detector, PICTURE, method=geex.Guided(), queries=400, progress=False)


def numbers(line):
    return [float(n.replace("−", "-").replace(",", "")) for n in re.findall(r"[+−]?\d[\d,]*\.\d+", line)]


def test_the_largest_features_come_first_and_caveats_last(guided):
    lines = repr(guided).splitlines()
    assert lines[0].startswith("Explanation of output 0: score")
    assert lines[3].startswith("Largest of 100 features")
    low, high = guided.interval(0.95, simultaneous=True)
    values = guided.values_in_interval(0.95, simultaneous=True)
    order = np.lexsort((-np.abs(values).ravel(), ~guided.significant().ravel()))[:8]
    for line, flat in zip(lines[4:12], order, strict=True):
        where = np.unravel_index(flat, guided.values.shape)
        assert line.startswith(f"row {where[0]}, column {where[1]} ")
        wanted = [end[where] for end in (values, guided.stderr, low, high)]
        np.testing.assert_allclose(numbers(line.split("column")[1]), wanted, atol=0.002)
    account = [i for i, line in enumerate(lines) if line.startswith("Account")]
    paragraph = [i for i, line in enumerate(lines) if line.startswith("Values: ")]
    assert account[0] < paragraph[0]
    assert len(lines) - paragraph[0] <= 6
    assert "Intervals do not include bias from smoothing" in " ".join(lines[paragraph[0] :])
    assert max(map(len, lines)) <= 100


def test_columns_are_aligned(guided):
    lines = repr(guided).splitlines()[3:12]
    assert len({line.index(" ±") for line in lines[1:]}) == 1
    assert len({line.index("[") for line in lines[1:]}) == 1
    assert not re.search(r"\de[+-]?\d", "\n".join(lines))


def test_what_does_not_add_up_has_an_account_too(guided):
    (account,) = accounts(guided)
    assert not account.shares
    assert account.base + account.total + account.left == pytest.approx(account.output)
    whole = guided.region(np.ones(PICTURE.shape, bool))
    assert account.change - whole.high == pytest.approx(account.low)
    assert account.change - whole.low == pytest.approx(account.high)
    text = repr(guided)
    left = next(line for line in text.splitlines() if line.startswith("joint effect of several features"))
    np.testing.assert_allclose(numbers(left), [account.left, account.low, account.high], atol=0.006)


def test_what_is_left_lies_in_its_interval_and_adds_up(guided):
    shrunk = replace(guided, values=guided.values / 2, centre=guided.values, gap=guided.gap + guided.values.sum() / 2)
    (account,), (before,) = accounts(shrunk), accounts(guided)
    assert not before.low <= shrunk.gap <= before.high
    assert (account.low, account.high) == pytest.approx((before.low, before.high))
    assert account.low <= account.left <= account.high
    assert account.base + account.total + account.left == pytest.approx(account.output)
    assert account.total == pytest.approx(shrunk.region(np.ones(PICTURE.shape)).value, rel=0.2)


@pytest.mark.parametrize("method", [RISE(cells=2), Random()])
def test_values_in_other_units_are_not_summed(method):
    explanation = explained(detector, PICTURE, method, 100)
    assert not accounts(explanation)[0].comparable
    assert "The values are not parts of this change." in repr(explanation)


@pytest.mark.parametrize(("budget", "told"), [(1000, "999 of 1,000 queries"), (2000, "1,999 of 2,000 queries")])
def test_a_query_that_is_not_used_has_a_reason(budget, told):
    explanation = geex.explain(detector, PICTURE, method=geex.GEEX(0.3), queries=budget, progress=False)
    assert f"{told} (queries come in pairs)" in repr(explanation)


def test_queries_beyond_exact_values_are_not_used():
    explanation = geex.explain(lambda z: z.sum(1), np.ones(3), queries=500, progress=False)
    assert "of 500 queries (no more are needed: the values are exact)" in repr(explanation)
    random = explained(detector, PICTURE, Random(), 100)
    assert "(the method needs no more)" in repr(random)


def test_probabilities_near_1_are_not_1():
    sure = lambda z: np.stack([0 * z[:, 0], -9 * z.sum(1)], axis=1)  # noqa: E731
    text = repr(geex.explain(sure, np.ones(3), score="softmax", queries=100, progress=False))
    assert text.splitlines()[0].endswith("output 0: probability > 0.999")
    assert next(line for line in text.splitlines() if line.startswith("f(x) ")).split()[-2:] == [">", "0.999"]


def test_the_caveats_name_the_rule_by_which_features_are_marked(guided):
    assert "Benjamini–Hochberg" in str(guided)
    assert "Holm" not in str(guided)
    table = geex.explain(lambda z: np.tanh(z).prod(1), np.arange(1.0, 21), queries=200, progress=False)
    assert "Holm" in str(table)
    assert "Benjamini" not in str(table)


def test_intervals_hold_for_the_features_that_can_differ_from_0():
    x = np.zeros((10, 10))
    x[2:6, 3:7] = 1.0
    found = geex.explain(detector, x, method=geex.Guided(), queries=300, progress=False)
    assert "Intervals hold together for the 16 of 100 features that can differ from 0." in " ".join(str(found).split())


@pytest.mark.parametrize(("count", "lines"), [(12, 12), (13, 8)])
def test_a_list_that_is_a_little_longer_than_usual_is_printed_in_full(count, lines):
    text = str(geex.explain(lambda z: z.sum(1), np.ones(count), progress=False))
    assert text.count("\nfeature ") == lines
    assert ("Largest of" in text) == (count > lines)


def test_a_label_that_is_the_number_of_its_output_is_printed_once():
    found = geex.explain(lambda z: z @ np.eye(3)[:, :2], np.ones(3), labels=["0", "1"], progress=False)
    assert str(found).startswith("Explanation of output 0: ")
