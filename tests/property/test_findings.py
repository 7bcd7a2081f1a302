"""What is called a finding is one: family-wise error over seeds, and values inside the intervals beside them."""

import json

import numpy as np
import pytest

import geex
from geex.cli.results import json_of
from geex.plot.view import scene
from geex.report.region import largest
from tests.helpers import explained

WEIGHTS = np.array([1.2, 1.0, 0.8, 0.55, 0.5, 0.3])


def steep(z):
    return np.tanh(z[:, :6] @ WEIGHTS)


def noise(seed):
    stream = np.random.default_rng([seed, 7])
    return lambda z: stream.normal(size=len(z))


def rarely(mistakes, runs, level=0.95):
    """Whether so many of `runs` runs with a mistake are what the level allows (z = 3)."""
    return mistakes / runs < 1 - level + 3 * np.sqrt(level * (1 - level) / runs)


METHODS = [geex.Shapley(), geex.Regression(), geex.Presence(alpha=0.5), geex.GEEX(0.3)]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_noise_is_rarely_a_finding(method):
    """Of 30 features without any effect, 95% intervals of single ones exclude 0 in most runs."""
    runs = 150
    found = [explained(noise(seed), np.ones(30), method, 300, seed=seed) for seed in range(runs)]
    assert rarely(sum(bool(one.significant().any()) for one in found), runs)
    singly = [one.interval() for one in found]
    assert np.mean([((low > 0) | (high < 0)).any() for low, high in singly]) > 0.5
    assert rarely(
        sum(bool((low > 0).any() or (high < 0).any()) for low, high in (one.interval(0.95, True) for one in found)),
        runs,
    )


@pytest.mark.slow
def test_few_features_of_many_are_found_and_no_others():
    runs, size = 100, 20
    found = [explained(steep, np.ones(size), geex.Shapley(), 200, seed=seed) for seed in range(runs)]
    assert rarely(sum(bool(one.significant()[6:].any()) for one in found), runs)
    assert np.mean([one.significant()[:6] for one in found]) > 0.9
    assert rarely(sum(bool(one.top(3).inside[3:].any() or one.top(3).outside[:3].any()) for one in found), runs)


def test_a_run_ends_when_the_largest_are_certain():
    found = explained(steep, np.ones(20), geex.Shapley(), 3000, stop=geex.Top(3))
    assert found.queries < 3000
    assert np.flatnonzero(found.top(3).inside).tolist() == [0, 1, 2]
    assert found.top(3).undecided[:3].tolist() == [False, False, False]
    assert found.ended


def test_values_are_inside_the_intervals_beside_them():
    """Noise over many features: most smoothed values lie outside the intervals of single features."""
    found = explained(noise(0), np.ones(2048), geex.Shapley(), 999)
    low, high = found.interval()
    excluded = (low > 0) | (high < 0)
    assert np.mean((found.values < low) | (found.values > high), where=excluded) > 0.5
    for simultaneous in (False, True):
        low, high = found.interval(0.95, simultaneous)
        values = found.values_in_interval(0.95, simultaneous)
        assert ((low <= values) & (values <= high)).all()
    output = scene(found).outputs[0]
    low, high = output.interval()
    assert ((low <= output.shown()) & (output.shown() <= high)).all()
    for entry in json.loads(json.dumps(json_of(found, False)))["largest"]:
        assert entry["simultaneous_interval"][0] <= entry["value"] <= entry["simultaneous_interval"][1]
    region = found.region(excluded)
    assert region.low <= region.value <= region.high


def test_a_value_in_its_interval_is_as_close_to_the_truth_or_closer():
    """Wherever the interval contains the truth: six equal features of sixty, whose values are known."""
    true = np.r_[np.full(6, np.tanh(3) / 6), np.zeros(54)]
    for seed in range(10):
        found = explained(lambda z: np.tanh(z[:, :6].sum(1) / 2), np.ones(60), geex.Shapley(), 120, seed=seed)
        low, high = found.interval(0.5)
        covered = (low <= true) & (true <= high)
        moved = np.abs(found.values_in_interval(0.5) - true) <= np.abs(found.values - true) + 1e-12
        assert moved[covered].all()


def test_all_that_is_shown_of_noise_is_grey(tmp_path):
    from geex.plot.tint import Look, tinted

    found = explained(noise(1), np.ones((12, 12)), geex.GEEX(0.3), 400)
    seen = scene(found)
    picture = tinted(seen, seen.outputs[0], Look("sure")).astype(int)
    assert not seen.outputs[0].sure().any()
    assert np.ptp(picture, axis=-1).max() <= 1
    assert np.ptp(tinted(seen, seen.outputs[0], Look("signed")).astype(int), axis=-1).max() > 20
    assert (
        found.nothing_found.split(".")[0].replace("features", "pixels") in found.report(tmp_path / "a.html").read_text()
    )


def test_the_part_that_is_chosen_has_an_interval_that_holds():
    """The largest of nine sums looks larger than it is; its interval is corrected for that choice."""
    size, runs, missed, shown = 12, 150, 0, 0
    weights = np.random.default_rng(5).normal(0.02, 0.3, (size, size))
    for seed in range(runs):
        found = explained(lambda z: (z * weights).sum((1, 2)), np.ones((size, size)), geex.Presence(), 200, seed=seed)
        (part,) = largest(scene(found))
        if part is not None:
            shown += 1
            missed += not part.low <= weights.ravel()[part.features].sum() <= part.high
    assert shown > runs / 10
    assert rarely(missed, runs)
