"""Where no feature stands out from noise, the first line says so and what helps."""

from dataclasses import replace

import numpy as np
import pytest

import geex
from tests.helpers import explained


def noise(seed):
    stream = np.random.default_rng(seed)
    return lambda z: stream.normal(size=len(z))


@pytest.mark.parametrize(
    ("x", "features", "helps"),
    [
        (np.ones(40), None, "groups of features (geex.Groups)"),
        (np.ones((6, 7)), None, "segments (geex.Groups)"),
        (np.ones((3, 6, 7)), None, "geex.Pixels() or geex.Groups"),
        (np.ones((6, 7)), geex.Groups(np.arange(42).reshape(6, 7) // 4), "fewer geex.Groups"),
        (np.ones(4), None, "Use more queries."),
    ],
)
def test_the_line_names_what_helps(x, features, helps):
    settings = {} if features is None else {"features": features}
    found = explained(noise(0), x, geex.Presence(alpha=0.5), 200, **settings)
    line = repr(found).splitlines()[0]
    assert line == found.nothing_found
    assert f"{found.values.size:,}" in line
    assert helps in line
    assert len(line) <= 100


def test_where_something_stands_out_there_is_no_such_line():
    found = explained(lambda z: z[:, 0], np.ones(40), geex.Presence(alpha=0.5), 200)
    assert found.nothing_found == ""


def test_exact_zeros_and_unknown_errors_are_no_noise():
    exact = explained(lambda z: z.sum(1), np.ones(2), geex.Shapley(), 100)
    exact = replace(exact, values=0 * exact.values, centre=None)
    assert not exact.stderr.any()
    assert exact.nothing_found == ""
    unknown = replace(exact, stderr=np.full(2, np.nan))
    assert unknown.nothing_found == ""
    assert not unknown.significant().any()
