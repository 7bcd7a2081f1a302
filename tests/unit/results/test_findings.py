"""Corrected p-values, simultaneous intervals, and the largest k, against plain loops."""

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

import geex
from geex._results.significance.findings import Findings, inside, quantile, resolution
from geex.errors import InputError
from tests.helpers import explained

RNG = np.random.default_rng(3)
WEIGHTS = np.array([3.0, -2.0, 1.0, 0.0, 0.0, 0.5])


def findings(centre, stderr, freedom=np.inf, smallest=0.0):
    rows = np.atleast_2d(centre), np.atleast_2d(stderr)
    return Findings(*rows, freedom, np.full(len(rows[0]), smallest))


def steep(z):
    return np.tanh(z @ WEIGHTS / 2)


def holm(p, alpha):
    """Reject the smallest p while it is at most α over how many are left."""
    rejected, left = set(), list(range(len(p)))
    while left and min(p[i] for i in left) <= alpha / len(left):
        smallest = min(left, key=lambda i: p[i])
        rejected.add(smallest)
        left.remove(smallest)
    return rejected


@pytest.mark.parametrize("freedom", [3.0, 40.0, np.inf])
def test_signs_are_those_of_holms_method(freedom):
    centre, stderr = RNG.normal(0, 4, 200), RNG.uniform(0.5, 2, 200)
    p = 2 * stdtr(freedom, -np.abs(centre / stderr))
    for level in (0.95, 0.5):
        signs = findings(centre, stderr, freedom).signs(level)[0]
        assert set(np.flatnonzero(signs)) == holm(p, 1 - level)
        assert (signs[signs != 0] == np.sign(centre)[signs != 0]).all()


def test_features_without_an_error_are_not_counted():
    centre, stderr = np.array([2.5, 0.0, 0.0, 1.0, 1e-12]), np.array([1.0, 0.0, 0.0, np.nan, 0.0])
    found = findings(centre, stderr, smallest=1e-9)
    assert found.counts.tolist() == [1]
    assert found.signs()[0].tolist() == [1, 0, 0, 0, 0]
    assert np.isnan(found.p_values[0, 3])
    assert findings(np.array([1e-12]), np.array([1e-14]), smallest=1e-9).signs().tolist() == [[0]]


def test_one_interval_is_the_simultaneous_interval_of_one_feature():
    assert quantile(0.95, 7.0) == quantile(0.95, 7.0, 1) == pytest.approx(stdtrit(7.0, 0.975))
    assert quantile(0.95, np.inf, 1000) == pytest.approx(4.0556, abs=1e-3)  # 1 − 0.025/1000 of the normal distribution


def test_the_largest_are_those_that_no_interval_contradicts():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        centre, stderr = rng.normal(0, 3, 9), rng.uniform(0, 0.6, 9)
        k = int(rng.integers(1, 9))
        found = findings(centre, stderr)
        half = found.simultaneous()[0] * stderr
        low, high = np.maximum(np.abs(centre) - half, 0), np.abs(centre) + half
        within, outside, signs = (rows[0] for rows in found.top(k))
        for i in range(9):
            others = [j for j in range(9) if j != i]
            assert within[i] == (sum(high[j] >= low[i] for j in others) < k)
            assert outside[i] == (sum(low[j] > high[i] for j in others) >= k)
            assert signs[i] == (np.sign(centre[i]) if low[i] > 0 else 0)
        assert within.sum() <= k
        assert not (within & outside).any()


def test_equal_features_at_the_border_stay_undecided():
    within, outside, _ = findings([3.0, 1.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0]).top(2)
    assert within[0].tolist() == [True, False, False, False]
    assert outside[0].tolist() == [False, False, False, True]
    assert findings(np.ones(3), np.full(3, np.nan)).top(1)[0].any() == False  # noqa: E712


def test_values_move_to_the_nearest_end():
    moved = inside(np.array([0.0, 2.0, 5.0, 1.0]), np.array([1.0, 1.0, 1.0, np.nan]), np.array([3.0, 3.0, 3.0, np.nan]))
    assert moved.tolist() == [1.0, 2.0, 3.0, 1.0]


def test_rounding_follows_the_type_of_x():
    ends = np.array([2.0]), np.array([-4.0])
    assert resolution(*ends) < 1e-13
    assert 1e-6 < resolution(*ends, np.ones(3, np.float32))[0] < 1e-3
    assert resolution(*ends, np.ones(3, np.int8)) == resolution(*ends)


def test_several_outputs_have_a_family_each():
    both = explained(lambda z: np.stack([steep(z), 0 * z[:, 0] + 1], 1), np.ones(6), geex.Presence(), 400, target="all")
    one = explained(lambda z: np.stack([steep(z), 0 * z[:, 0] + 1], 1), np.ones(6), geex.Presence(), 400, target=0)
    np.testing.assert_array_equal(both.signs()[0], one.signs())
    assert not both.significant()[1].any()
    np.testing.assert_allclose(both.interval(0.9, True)[0][0], one.interval(0.9, True)[0])
    assert both.top(2).inside.shape == (2, 6)


def test_torch_tensors_stay_tensors():
    torch = pytest.importorskip("torch")
    weights = torch.from_numpy(WEIGHTS)
    found = explained(lambda z: torch.tanh(z @ weights), torch.ones(6, dtype=torch.float64), geex.Presence(), 400)
    assert found.significant().dtype == torch.bool
    assert found.signs().dtype == torch.int8
    assert torch.is_tensor(found.top(2).inside)
    assert torch.is_tensor(found.values_in_interval())


def test_wrong_settings_are_named():
    found = explained(steep, np.ones(6), geex.Presence(), 100)
    for call, code in (
        (lambda: found.interval(1.0), "level-not-a-probability"),
        (lambda: found.interval(0.9, "yes"), "simultaneous-not-boolean"),
        (lambda: found.significant(0), "level-not-a-probability"),
        (lambda: found.top(0), "k-too-small"),
        (lambda: found.top(1.5), "k-not-whole"),
        (lambda: geex.Top(0), "k-too-small"),
        (lambda: geex.Top(2, level=2), "level-not-a-probability"),
    ):
        with pytest.raises(InputError) as refused:
            call()
        assert refused.value.code == code


def test_top_needs_two_looks_that_agree():
    """One look that names other features than the one before does not end the run."""
    rule = geex.Top(1)

    class Look(geex.Estimate):
        def __init__(self, values):
            self.values, self.stderr, self.sum_stderr = np.array([values]), np.full((1, 3), 0.1), np.zeros(1)

    span = np.array([6.0])
    first, other, open_ = Look([5.0, 1.0, 0.0]), Look([1.0, 5.0, 0.0]), Look([5.0, 4.9, 0.0])
    assert rule.met(first, None, span) is None
    assert rule.met(first, other, span) is None
    assert rule.met(first, open_, span) is None
    assert rule.met(first, first, span)
    assert rule.met(Look([0.0, 0.0, 0.0]), Look([0.0, 0.0, 0.0]), span) is None


def benjamini_hochberg(p, alpha):
    """Reject the i smallest p for the largest i with p_(i) ≤ α i / m."""
    ordered = np.sort(p)
    below = [i + 1 for i in range(len(p)) if ordered[i] <= alpha * (i + 1) / len(p)]
    return set(np.flatnonzero(p <= ordered[max(below) - 1])) if below else set()


def test_what_is_marked_among_neighbours_is_benjamini_and_hochbergs_choice():
    centre, stderr = RNG.normal(0, 3, 200), RNG.uniform(0.5, 2, 200)
    p = 2 * stdtr(np.inf, -np.abs(centre / stderr))
    alone = findings(centre, stderr)
    pixels = Findings(alone.centre, alone.stderr, np.inf, alone.resolution, neighbours=True)
    for level in (0.95, 0.5):
        assert set(np.flatnonzero(pixels.marks[0] <= 1 - level)) == benjamini_hochberg(p, 1 - level)
    assert (pixels.p_values == alone.p_values).all()
    assert (alone.marks == alone.p_values).all()
    assert (pixels.marks <= pixels.p_values).all()


def test_of_noise_alone_nothing_is_marked_in_19_of_20_runs():
    rng = np.random.default_rng(0)
    runs = rng.normal(size=(2000, 300))
    noisy = Findings(runs, np.ones(runs.shape), np.inf, np.zeros(2000), neighbours=True)
    assert abs(np.mean(~noisy.quiet) - 0.05) < 3 * (0.05 * 0.95 / 2000) ** 0.5


def test_the_largest_are_printed_by_name():
    found = explained(lambda z: z @ WEIGHTS, np.ones(6), geex.Shapley(), 200)
    assert str(found.top(2)) == "TopFeatures: the 2 largest at 0.95: inside 0, 1; outside 2, 3, 4, 5; undecided none"
    assert "inside a, b;" in str(found.named(names=list("abcdef")).top(2))


def test_of_many_features_the_number_is_printed():
    found = explained(lambda z: z @ np.arange(40.0), np.ones(40), geex.Shapley(), 200)
    assert "outside 38 of 40" in str(found.top(2))
