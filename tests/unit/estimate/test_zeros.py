"""Where x equals its baseline, values are 0, and no query is needed."""

import numpy as np
import pytest

import geex
from geex.errors import LittleToExplain
from tests.golden_runs import METHODS

X = np.linspace(0.5, 2.0, 6)
COMPARING = {name: method for name, method in METHODS.items() if method.compares}


@pytest.mark.parametrize("name", COMPARING)
def test_x_equals_the_baseline(name):
    calls = []

    def model(z):
        calls.append(len(z))
        return z.sum(axis=1)

    with pytest.warns(LittleToExplain):
        found = geex.explain(model, X, baseline=X, method=COMPARING[name], progress=False)
    assert found.values.tolist() == [0.0] * 6
    assert found.stderr.tolist() == [0.0] * 6
    assert found.gap == 0
    assert sum(calls) == found.queries <= 3
    assert found.region([True] * 6).stderr == 0
    assert "values are exact" in str(found)


def test_one_of_several_baselines_equals_x():
    both = geex.explain(
        lambda z: z[:, 0] * z[:, 1], np.array([1.0, 2.0]), baseline=[0.0, np.array([1.0, 2.0])], progress=False
    )
    assert both.values.tolist() == [0.5, 0.5]
    assert both.base_value == 1.0


def test_a_stop_rule_and_rounds():
    for method in (geex.GEEX(0.5), geex.Guided()):
        with pytest.warns(LittleToExplain):
            found = geex.explain(
                lambda z: z.sum(axis=(1, 2)),
                np.ones((9, 9)),
                baseline=1.0,
                method=method,
                stop=geex.Precise(0.1),
                progress=False,
            )
        assert not found.values.any()
        assert not found.partial


def test_images_by_default():
    with pytest.warns(LittleToExplain):
        found = geex.explain(lambda z: z.sum(axis=(1, 2)), np.ones((9, 9)), baseline=1.0, progress=False)
    assert not found.values.any()
