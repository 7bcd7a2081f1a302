"""Runs in legs, and runs that a rule stops, go through the engine like any other: broken off, spread, seen again."""

import numpy as np
import pytest

import geex
from geex import errors
from tests.helpers import explained

PICTURE = np.random.default_rng(1).normal(size=(1, 12, 12)) + 1

COMPARED = 2  # x and x̊ once more, when the journal is opened again


def spot(z):
    return 1 / (1 + np.exp(-(z[:, 0, 3:7, 4:9].sum(axis=(1, 2)) - 10) / 4))


SETTINGS = {
    "guided": {"method": geex.Guided(), "features": geex.Pixels(channels=0)},
    "settled": {"method": geex.Regression(), "stop": geex.Settled()},
    "precise": {"method": geex.GEEX(0.5), "stop": geex.Precise(0.2)},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_they_go_on_from_a_journal(tmp_path, name, concurrency):
    settings = {"queries": 800, "journal": tmp_path / "run.geex", "limits": geex.Limits(concurrency), "batch": 16}
    settings |= SETTINGS[name]
    plain = explained(spot, PICTURE, queries=800, limits=None, **SETTINGS[name])
    answered, calls = [], []

    def breaking(z):
        calls.append(len(z))
        if len(calls) == 6:
            raise KeyboardInterrupt if concurrency == 1 else ValueError("lost")
        answered.append(len(z))
        return spot(z)

    broken = pytest.warns(errors.PartialRun) if concurrency == 1 else pytest.raises(errors.ModelRaised, match="lost")
    with broken:
        explained(breaking, PICTURE, **settings)
    again = explained(breaking, PICTURE, **settings)
    assert again.values.tobytes() == plain.values.tobytes()
    assert not again.partial
    assert (
        plain.queries + COMPARED <= sum(answered) <= plain.queries + COMPARED + (concurrency > 1) * 2 * concurrency * 16
    )
    stored = geex.estimate(settings["journal"])
    assert stored.values.tobytes() == plain.values.tobytes()
    assert not stored.partial


@pytest.mark.parametrize("name", SETTINGS)
def test_they_are_spread(name):
    plain = explained(spot, PICTURE, queries=800, **SETTINGS[name])
    spread = explained(spot, PICTURE, queries=800, run=geex.run.processes(2), **SETTINGS[name])
    assert spread.values.tobytes() == plain.values.tobytes()
