"""Methods, families, features and rules of a user's own work everywhere where those of geex do."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

import geex
from tests.helpers import assert_within, explained, raises

SLOPE = np.arange(1.0, 9.0)
X = np.ones(8)


def linear(z):
    return z @ SLOPE


@dataclass(frozen=True)
class Windows(geex.Search):
    """Draw i hides elements i … i + width − 1, around the end."""

    width: int
    least: int = 8

    def draws(self, seed, chunk, count, explicand):
        first = np.arange(chunk * count, (chunk + 1) * count)[:, None] % explicand.size
        hidden = (np.arange(explicand.size) - first) % explicand.size < self.width
        return geex.Draws(np.full(count, 0.5), hidden.astype(explicand.dtype))

    def queries(self, draws, explicand, baseline):
        return np.where(draws.noise > 0, baseline, explicand)[:, None, :]

    def weights(self, draws, explicand, baseline, features):
        return features.total(draws.noise)


@dataclass(frozen=True)
class Found(geex.Estimate):
    values: np.ndarray
    stderr: np.ndarray
    sum_stderr: np.ndarray

    def over(self, rows):
        return Found(self.values @ rows.T, self.stderr @ rows.T, self.sum_stderr)


@dataclass(frozen=True)
class Occlusion(geex.Method):
    """What is lost where a window is hidden, shared out over the window."""

    width: int = 2

    def search(self, explicand, baseline, features, rows):
        return Windows(self.width)

    def estimate(self, answers):
        lost, hidden = 0.0, 0.0
        for chunk, raw in answers.chunks:
            change = answers.ends_scored[:1] - answers.outputs(raw)
            lost = lost + change.T @ chunk.draws.noise / self.width
            hidden = hidden + chunk.draws.noise.sum(axis=0)
        values = answers.plan.features.total(lost / hidden)
        return Found(values, 0 * values, 0 * values[:, 0])

    def estimand(self, search):
        return geex.Estimand("own", text="The values are not additive.")


@dataclass(frozen=True)
class Halves(geex.Search):
    """Every element is hidden or shown with probability ½, and its mirror."""

    rows: int = 2

    def draws(self, seed, chunk, count, explicand):
        shown = np.random.default_rng((seed, chunk)).random((count, explicand.size)) < 0.5
        return geex.Draws(np.full(count, 0.5), shown.astype(explicand.dtype))

    def queries(self, draws, explicand, baseline):
        shown = draws.noise[:, None, :] > 0
        return np.where(np.concatenate([shown, ~shown], axis=1), explicand, baseline)

    def weights(self, draws, explicand, baseline, features):
        return features.total(4 * draws.noise - 2)

    def linear(self):
        return geex.LinearDraws(of_features=True, moment=1.0)

    def contrasts(self, draws, explicand, baseline):
        return 2 * draws.noise - 1


@dataclass(frozen=True)
class Coins(Occlusion):
    def search(self, explicand, baseline, features, rows):
        return Halves()

    def estimand(self, search):
        return geex.Estimand("own", "within error", text="What coins say.")


@dataclass(frozen=True)
class Student(geex.Family):
    freedom: float = 5.0

    def draw(self, stream, shape):
        return stream.generator().standard_t(self.freedom, shape) / sqrt(self.freedom / (self.freedom - 2))

    def score(self, noise):
        return (self.freedom + 1) * noise / (self.freedom - 2 + noise**2)


@dataclass(frozen=True)
class Neighbours(geex.Features):
    """Elements of a row, in pairs, beside each other."""

    def shape(self, shape):
        return (shape[0] // 2,)

    def total(self, weights):
        return weights.reshape(len(weights), -1, 2).sum(axis=2)

    def index(self, shape):
        return np.arange(shape[0]) // 2

    def axes(self, shape):
        return (0,)

    def names(self):
        return ["a", "b", "c", "d"]


@dataclass(frozen=True)
class Enough(geex.Stop):
    queries: int = 20

    def met(self, now, before, span):
        return "there is an estimate" if before is not None else None


def test_a_method_is_explained_stopped_journalled_and_saved(tmp_path):
    asked = []

    def model(z):
        asked.append(len(z))
        return linear(z)

    settings = {"journal": tmp_path / "run.geex", "stop": Enough()}
    found = explained(model, X, Occlusion(), 200, **settings)
    np.testing.assert_allclose(found.values, (np.roll(SLOPE, 1) + 2 * SLOPE + np.roll(SLOPE, -1)) / 4)
    assert not found.adds_up
    assert str(found.estimand).startswith("The values are not additive. The values do not add up.")
    assert "The values are not additive." in repr(found)
    assert found.ended == "there is an estimate"
    assert str(found.settings.method) == "Occlusion()"
    assert found.settings.method.code() == "tests.unit.test_extensions.Occlusion()"
    assert sum(asked) < 200
    region = found.region(np.arange(8) < 3)
    assert region.joint
    assert region.value == pytest.approx(found.values[:3].sum())
    asked.clear()
    again = explained(model, X, Occlusion(), 200, **settings)
    assert not asked
    np.testing.assert_array_equal(again.values, found.values)
    loaded = geex.Explanation.load(found.save(tmp_path / "found.npz"))
    assert (loaded.estimand, loaded.settings) == (found.estimand, found.settings)


def test_regression_on_a_search_that_declares_its_draws():
    found = explained(linear, X, geex.Regression(of=Coins()), 200)
    np.testing.assert_allclose(found.values, SLOPE, rtol=1e-3)
    assert found.estimand.regression
    assert found.adds_up
    with pytest.raises(geex.errors.MethodError) as raised:
        explained(linear, X, geex.Regression(of=Occlusion()), 200)
    assert raised.value.code == "of-not-linear"


def test_a_family_and_features():
    found = explained(linear, X, geex.GEEX(0.5, family=Student()), 5000, features=Neighbours())
    assert_within(found.values, SLOPE.reshape(4, 2).sum(axis=1), found.stderr)
    assert found.estimand.blurred.family == "Student"
    with pytest.raises(geex.errors.MethodError) as raised:
        explained(linear, X, geex.Regression(of=geex.GEEX(0.5, family=Student())), 200)
    assert raised.value.code == "family-not-normal"
    guided = explained(linear, X, geex.Guided(), 300, features=Neighbours())
    assert guided.estimand.adaptive
    assert guided.plot() is not None


class Bare:
    """What looks like an extension and is none."""

    def search(self, *_):
        return None

    draw = score = met = shape = total = index = check = estimate = estimand = open = search


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"method": Bare()}, "method-not-a-method"),
        ({"features": Bare()}, "features-not-features"),
        ({"stop": Bare()}, "stop-not-a-rule"),
        ({"run": Bare()}, "run-not-a-runner"),
    ],
)
def test_what_subclasses_nothing_is_refused_before_the_first_query(settings, code):
    asked = []
    with pytest.raises(geex.errors.GeexError) as raised:
        geex.explain(asked.append, X, **settings)
    assert raised.value.code == code
    assert not asked
    with raises(geex.errors.MethodError, "family-not-a-family"):
        geex.GEEX(family=Bare())


def test_a_subclass_without_its_methods_cannot_be_made():
    class Half(geex.Method):
        def search(self, explicand, baseline, features, rows):
            return Halves()

    with pytest.raises(TypeError, match="abstract"):
        Half()


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ("search", "search-not-a-search"),
        ("estimand", "estimand-not-an-estimand"),
        ("estimate", "estimate-not-an-estimate"),
    ],
)
def test_what_a_method_returns_is_checked(part, code):
    wrong = type("Wrong", (Occlusion,), {part: lambda self, *_: "nothing of the kind"})
    with pytest.raises(geex.errors.MethodError) as raised:
        explained(linear, X, wrong(), 50)
    assert raised.value.code == code


def test_a_method_without_joint_errors():
    found = explained(linear, X, geex.methods.Random(), 50)
    with pytest.raises(geex.errors.MethodError) as raised:
        found.region(np.arange(8) < 3)
    assert raised.value.code == "no-joint-errors"


def test_an_estimate_without_errors_is_refused():
    @dataclass(frozen=True)
    class Bald(geex.Estimate):
        values: np.ndarray

    class Hairless(Occlusion):
        def estimate(self, answers):
            return Bald(super().estimate(answers).values)

    with pytest.raises(geex.errors.MethodError) as raised:
        explained(linear, X, Hairless(), 50)
    assert raised.value.code == "estimate-incomplete"
