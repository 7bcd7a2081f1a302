"""Everything of geex's own passes the checks that an extension has to pass."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pytest

import geex
from geex import testing
from geex._query.runners.threads import threads
from geex.methods import GE, LIME, RISE, Interpolated, Random
from geex.testing import examples
from tests.helpers import raises
from tests.unit.test_extensions import Enough, Neighbours, Occlusion, Student

SEGMENTS = np.arange(30).reshape(examples.SHAPE) // 5
METHODS = [
    geex.GEEX(),
    geex.GEEX(0.5, family=geex.Laplace()),
    geex.GEEX(0.5, family=Student()),
    geex.GEEX(0.5, smooth=(3, 0.7)),
    geex.GEEX(coupling="orthogonal"),
    geex.GEEX(mirror=False),
    geex.GEEX(shared=0, still=True),
    Interpolated(steps=4),
    GE(),
    geex.Presence(),
    geex.Presence(0.5),
    geex.Presence(widths=(1, 2)),
    geex.Regression(),
    geex.Regression(complete=True),
    geex.Regression(of=geex.GEEX(0.5)),
    geex.Regression(of=GE(0.5)),
    geex.Shapley(),
    geex.Guided(),
    RISE(cells=3),
    Random(),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_methods(method):
    testing.check_method(method)


@pytest.mark.parametrize("method", [geex.Presence(), geex.Shapley(), geex.Regression()], ids=str)
def test_methods_of_features(method):
    testing.check_method(method, features=geex.Pixels(channels=0), queries=100)
    testing.check_method(method, features=geex.Groups(SEGMENTS), queries=100)
    testing.check_method(method, np.linspace(1.0, 2.0, 7), queries=100)


def test_guided_needs_neighbours():
    testing.check_method(geex.Guided(), np.ones((3, 6, 5)), features=geex.Pixels(channels=0), queries=200)
    testing.check_method(geex.Guided(), np.linspace(1.0, 2.0, 12), features=geex.Elements(line=True), queries=200)


def test_lime():
    pytest.importorskip("skimage")
    testing.check_method(LIME(SEGMENTS))


def test_a_method_of_a_users():
    testing.check_method(Occlusion(), np.linspace(1.0, 2.0, 8), queries=100)


@pytest.mark.parametrize("family", [geex.Gaussian(), geex.Laplace(), geex.Logistic(), Student(), Student(8)], ids=str)
def test_families(family):
    testing.check_family(family)


@pytest.mark.parametrize(
    "features",
    [
        geex.Elements(),
        geex.Elements(channels=2),
        geex.Pixels(0),
        geex.Pixels(-1),
        geex.Groups(np.arange(24).reshape(2, 4, 3) % 5),
    ],
    ids=str,
)
def test_features(features):
    testing.check_features(features, np.ones((2, 4, 3)))


def test_features_of_a_users():
    testing.check_features(Neighbours(), np.ones(8))


@pytest.mark.parametrize(
    "stop", [geex.Precise(0.2), geex.Precise(0.001), geex.Settled(0.5), geex.Top(1), Enough()], ids=str
)
def test_rules(stop):
    testing.check_stop(stop)


@pytest.mark.parametrize("runner", [threads(2), pytest.param(geex.run.processes(2), marks=pytest.mark.slow)], ids=str)
def test_runners(runner):
    testing.check_runner(runner)


@dataclass(frozen=True)
class Scaled(geex.Family):
    """Normal noise with a wrong deviation, score or mean."""

    deviation: float = 1.0
    factor: float = 1.0
    mean: float = 0.0
    skew: float = 0.0

    def draw(self, stream, shape):
        normal = stream.normal(shape)
        return self.mean + self.deviation * (normal + self.skew * (normal**2 - 1)) / sqrt(1 + 2 * self.skew**2)

    def score(self, noise):
        return self.factor * noise


class Loose(Scaled):
    def __init__(self):
        super().__init__()
        object.__setattr__(self, "deviation", np.random.default_rng())


@pytest.mark.parametrize(
    ("family", "code"),
    [
        (Scaled(deviation=1.1), "deviation"),
        (Scaled(factor=0.9), "score"),
        (Scaled(mean=0.1), "mean"),
        (Scaled(skew=0.3), "symmetry"),
        (Loose(), "stable-values"),
        ("noise", "family"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_wrong_family_fails_its_check(family, code):
    with raises(geex.errors.CheckFailed, code):
        testing.check_family(family)


class Drifting(Occlusion):
    def search(self, explicand, baseline, features, rows):
        object.__setattr__(self, "width", self.width % 6 + 1)
        return super().search(explicand, baseline, features, rows)


class Doubled(geex.Presence):
    def estimate(self, answers):
        return super().estimate(self._doubled(answers))

    def regions(self, answers, rows):
        return super().regions(self._doubled(answers), rows)

    def _doubled(self, answers):
        return replace(answers, chunks=[(chunk, 2 * raw) for chunk, raw in answers.chunks])


class Uniform(geex.Presence):
    def estimate(self, answers):
        return super().estimate(replace(answers, targets=answers.targets[:1] * len(answers.targets)))


class Unregional(geex.Presence):
    def regions(self, answers, rows):
        return super().regions(answers, 1 - rows)


@pytest.mark.parametrize(
    ("method", "code"),
    [
        (Drifting(), "same-seed"),
        (Doubled(), "unit"),
        (Uniform(), "several-outputs"),
        (Unregional(), "region"),
        (RISE, "method"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_wrong_method_fails_its_check(method, code):
    x = np.linspace(1.0, 2.0, 8) if isinstance(method, Occlusion) else None
    with raises(geex.errors.CheckFailed, code):
        testing.check_method(method, x)


class Growing:
    """A model whose answers depend on the batch."""

    labels = ("one", "two")

    def __init__(self, kind):
        self.kind = kind

    def __call__(self, z):
        if self.kind == "queries-unchanged":
            z += 1
        if self.kind == "answers":
            return np.full(len(z), np.nan)
        if self.kind == "batch":
            return z - z.mean(axis=0)
        return z if self.kind == "labels" else z[:, :2]

    def __reduce__(self):
        return Growing, ("batch",)

    @property
    def identity(self):
        return str(id(object())) + str(np.random.default_rng().random()) if self.kind == "identity" else "growing"


@pytest.mark.parametrize("code", ["queries-unchanged", "answers", "batch", "labels", "identity", "picklable"])
def test_a_wrong_model_fails_its_check(code):
    with raises(geex.errors.CheckFailed, code):
        testing.check_model(Growing(code), np.ones(3), picklable=True)


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"index": np.arange(8) % 3}, "index"),
        ({"total": np.zeros((3, 4))}, "total"),
        ({"axes": (1,)}, "axes"),
        ({"merged_axis": 0}, "merged-axis"),
        ({"names": ["a"]}, "names"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_wrong_features_fail_their_check(members, code, monkeypatch):
    for name, value in members.items():
        monkeypatch.setattr(Neighbours, name, lambda *_, value=value: value)
    with raises(geex.errors.CheckFailed, code):
        testing.check_features(Neighbours(), np.ones(8))


class Wordless(Enough):
    def met(self, now, before, span):
        return True


def test_a_rule_without_a_reason_fails_its_check():
    with raises(geex.errors.CheckFailed, "met"):
        testing.check_stop(Wordless())


class Lossy(geex.Runner):
    """Threads that add to every answer."""

    def open(self, model, limits, batch, stop):
        return threads(1).open(lambda z: model(z) + 1e-9, limits, batch, stop)


def test_a_wrong_runner_fails_its_check():
    with pytest.raises(geex.errors.CheckFailed) as raised:
        testing.check_runner(Lossy())
    assert raised.value.code == "same-bytes"
