"""Small things that several test files use."""

from contextlib import contextmanager

import numpy as np
import pytest

import geex
from geex._explain.prepare import prepare
from geex._plan.plan import Plan

# x is asked for once, so that an even budget is all pairs, and a journal that is opened again asks nothing
ONCE = geex.Limits(twice=False, compare=False)


def plan_of(x, method, queries, baseline=None, features=None, seed=0):
    """The plan that `geex.explain` would follow, and how many draws of it."""
    unset = dict.fromkeys(("target", "score", "bounds", "batch"))
    settings = {"baseline": baseline, "method": method, "queries": queries, "features": features, "seed": seed}
    task = prepare(x, **settings, **unset, progress=False)
    search = method.search(task.explicand, task.baselines[0], task.features, queries - 2)
    plan = Plan(task.explicand, task.baselines[0], search, task.features, seed)
    return plan, search.afford(queries - 2)


def explained(model, x, method, queries=2002, limits=ONCE, **settings):
    return geex.explain(model, x, method=method, queries=queries, progress=False, limits=limits, **settings)


def assert_within(estimate, stderr, truth, z=4.0):
    """Every estimate within z standard errors of the truth, and not suspiciously close: errors are used, not slack."""
    deviation = (np.asarray(estimate) - np.asarray(truth)) / np.asarray(stderr)
    assert np.abs(deviation).max() < z, f"worst z = {np.abs(deviation).max():.2f}"


@contextmanager
def raises(kind: type, code: str):
    """Expect an error of this class with this code, and return what pytest.raises does."""
    with pytest.raises(kind) as info:
        yield info
    assert info.value.code == code, f"code {info.value.code!r}: {info.value}"
