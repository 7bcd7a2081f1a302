"""Means over explicands, their errors, and paired differences."""

import doctest

import numpy as np
import pytest

from geex import errors
from geex.evaluate import Paired, Summary, compare, paired, summary
from tests.helpers import raises


def test_mean_and_standard_error():
    numbers = np.random.default_rng(0).normal(size=30)
    found = summary(numbers)
    assert found.mean == pytest.approx(numbers.mean())
    assert found.stderr == pytest.approx(np.sqrt(((numbers - numbers.mean()) ** 2).sum() / 29 / 30))
    assert found.count == 30


def test_interval_of_many_is_that_of_a_normal():
    """The bootstrap's deviation of the mean is s/√n·√(1−1/n); its ends are ±1.96 of it.

    At 10,000 resamples an end has a deviation of √(0.025·0.975/10⁴)/φ(1.96) = 0.027 of those; z = 3.
    """
    numbers = np.random.default_rng(1).normal(size=400)
    found = summary(numbers)
    ends = found.mean + np.array([-1.96, 1.96]) * found.stderr
    np.testing.assert_allclose(found.interval, ends, atol=3 * 0.027 * found.stderr)


def test_interval_does_not_depend_on_the_blocks(monkeypatch):
    numbers = np.random.default_rng(2).normal(size=20)
    whole = summary(numbers)
    monkeypatch.setattr(compare, "BLOCK_SIZE", 20 * 77)
    np.testing.assert_allclose(summary(numbers).interval, whole.interval, rtol=1e-12)


def test_the_seed_decides():
    numbers = np.random.default_rng(3).normal(size=20)
    assert summary(numbers, seed=1) == summary(numbers, seed=1)
    assert summary(numbers, seed=1).interval != summary(numbers, seed=2).interval
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    summary(numbers)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_paired_is_the_summary_of_differences():
    a, b = np.random.default_rng(4).normal(size=(2, 25))
    b[:5] = a[:5]
    found, difference = paired(a, b), summary(a - b)
    assert (found.mean, found.stderr, found.interval) == (difference.mean, difference.stderr, difference.interval)
    assert found.share == np.mean(a > b)
    assert found.share + paired(b, a).share == pytest.approx(0.8)


def test_pairing_takes_out_what_explicands_share():
    common, small = np.random.default_rng(5).normal(size=(2, 40))
    a, b = common + 0.1 + 0.01 * small, common
    assert paired(a, b).interval[0] > 0
    assert summary(a).interval[0] < summary(b).interval[1]


def test_kinds_of_numbers():
    wanted = summary([1.0, 2.0, 4.0])
    for numbers in ((1, 2, 4), iter([1, 2, 4]), np.array([1, 2, 4], dtype=np.float32)):
        assert summary(numbers) == wanted
    assert summary([1.0, 1.0]) == Summary(1.0, 0.0, (1.0, 1.0), 2)


def test_a_tensor_of_numbers():
    torch = pytest.importorskip("torch")
    assert summary(torch.tensor([1.0, 2.0, 4.0])) == summary([1.0, 2.0, 4.0])


def test_repr():
    assert repr(Summary(0.9, 0.01, (0.88, 0.92), 50)) == "Summary: 0.9000 ± 0.0100, 95% [0.8800, 0.9200], 50 inputs"
    assert repr(Paired(0.02, 0.01, (-0.001, 0.04), 0.7, 50)) == (
        "Paired: a − b +0.0200 ± 0.0100, 95% [-0.0010, +0.0400], a > b for 70% of 50 inputs"
    )


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ([1.0], "numbers-too-few"),
        ([[1.0, 2.0]], "numbers-not-a-list"),
        (3.0, "numbers-not-a-list"),
        (["a", "b"], "numbers-not-a-list"),
        ([1.0, np.nan, 2.0], "numbers-not-finite"),
    ],
)
def test_errors(numbers, code):
    with raises(errors.InputError, code):
        summary(numbers)


def test_errors_of_pairs_and_seeds():
    with raises(errors.InputError, "lengths-differ"):
        paired([1, 2, 3], [1, 2])
    with pytest.raises(errors.InputError):
        summary([1, 2], seed="x")


def test_examples():
    found = doctest.testmod(compare)
    assert found.attempted == 2
    assert found.failed == 0
