"""Guided runs: where they look, that they resume, and what they do with little."""

import numpy as np
import pytest

import geex
from geex._results.record import stored
from geex.errors import BudgetError, JournalError, MethodError
from tests.helpers import explained, raises

SIDE = 24
X = np.ones((SIDE, SIDE))
SPOT = np.zeros((SIDE, SIDE))
SPOT[5:9, 14:18] = 1
SPOT[15:17, 4:6] = 1


def spotted(z):
    """A steep function of two spots, the rest of the image hardly matters."""
    inside = (z * SPOT).sum((1, 2)) / SPOT.sum()
    return 1 / (1 + np.exp(-8 * (inside - 0.6))) + 1e-3 * z.mean((1, 2))


def test_it_finds_the_spots():
    found = explained(spotted, X, geex.Guided(), 400)
    top = np.argsort(-found.values.ravel())[: int(SPOT.sum())]
    assert SPOT.ravel()[top].mean() >= 0.7
    coarse = explained(spotted, X, geex.Regression(geex.Presence(0.5, widths=(SIDE * 20 / 299,))), 400)
    plain = np.argsort(-coarse.values.ravel())[: int(SPOT.sum())]
    assert SPOT.ravel()[top].mean() >= SPOT.ravel()[plain].mean()


def legs(plan):
    """The plans of a run, first leg first."""
    return ([] if plan.before is None else legs(plan.before[0])) + [plan]


def test_legs_take_turns_and_fine_ones_stay_inside():
    asked = []

    def model(z):
        asked.append(z.copy())
        return spotted(z)

    found = explained(model, X, geex.Guided(), 302, batch=1000)
    plans = legs(found.record.plans[0])
    assert [plan.search.within is None for plan in plans] == [True, False] * 3
    assert len({plan.fingerprint for plan in plans}) == 6
    assert found.queries == 302 == sum(map(len, asked))
    inside = np.unpackbits(np.frombuffer(plans[1].search.within, np.uint8), count=SIDE * SIDE).reshape(SIDE, SIDE)
    assert inside.mean() == pytest.approx(0.3, abs=0.01)
    fine = next(z for z in asked if len(z) == plans[2].before[1] * 2)
    assert (fine[:, inside == 0] == 1).all()
    first, second = fine[0::2], fine[1::2]
    np.testing.assert_array_equal(first[:, inside == 1] + second[:, inside == 1], 1)


def test_the_batch_changes_nothing():
    one = explained(spotted, X, geex.Guided(), 201, batch=7)
    other = explained(spotted, X, geex.Guided(), 201, batch=512)
    assert one.values.tobytes() == other.values.tobytes()
    assert one.stderr.tobytes() == other.stderr.tobytes()


@pytest.mark.slow
def test_more_queries_go_on_from_the_answers(tmp_path):
    counted = []

    def model(z):
        counted.append(len(z))
        return spotted(z)

    journal = tmp_path / "run.geex"
    explained(model, X, geex.Guided(), 202, journal=journal)
    assert sum(counted) == 202
    more = explained(model, X, geex.Guided(), 402, journal=journal)
    assert sum(counted) == 402
    at_once = explained(spotted, X, geex.Guided(), 402)
    assert more.values.tobytes() == at_once.values.tobytes()
    again = geex.estimate(journal)
    assert again.values.tobytes() == more.values.tobytes()
    assert sum(counted) == 402


@pytest.mark.slow
def test_other_questions_of_a_journal(tmp_path):
    """The legs followed from the first question; all their answers serve the second."""

    def model(z):
        other = 1 / (1 + np.exp(-8 * (z[:, 18:22, 18:22].mean((1, 2)) - 0.5)))
        return np.stack([spotted(z), other], axis=1)

    journal = tmp_path / "run.geex"
    found = explained(model, X, geex.Guided(), 402, target=0, journal=journal)
    for settings in ({"target": 1}, {"target": "all"}, {"score": "margin"}):
        stored = geex.estimate(journal, **settings)
        assert stored.queries == 402
        assert not stored.partial
        assert stored.values.tobytes() == geex.estimate(found, **settings).values.tobytes()


def test_other_questions_of_the_same_answers():
    found = explained(lambda z: np.stack([spotted(z), -spotted(z)], 1), X, geex.Guided(), 203, target=0)
    other = geex.estimate(found, target=1)
    np.testing.assert_allclose(other.values, -found.values, atol=1e-9)
    region = found.region(SPOT == 1)
    assert region.low < region.value < region.high
    assert region.value == pytest.approx(found.values[SPOT == 1].sum())


@pytest.mark.parametrize("queries", [6, 10, 43, 100, 101, 104])
def test_hardly_any_queries(queries):
    found = explained(spotted, X, geex.Guided(), queries)
    assert found.queries <= queries
    assert np.isfinite(found.values).all()
    assert np.isfinite(found.stderr).all()


def test_missingness_colour_and_lines():
    x = np.ones((3, 12, 10))
    x[:, :6] = 0
    found = explained(lambda z: z[:, 0, 8:].sum((1, 2)), x, geex.Guided(), 150, features=geex.Pixels(channels=0))
    assert (found.values[:6] == 0).all()
    assert found.values[8:].sum() > 3 * np.abs(found.values[6:8]).sum()
    line = explained(lambda z: z[:, 40:50].sum(1), np.ones(80), geex.Guided(), 200, features=geex.Elements(line=True))
    assert np.abs(line.values[40:50]).sum() > np.abs(np.delete(line.values, range(40, 50))).sum()


@pytest.mark.slow
def test_nothing_of_a_long_line_is_as_large_as_its_square(monkeypatch):
    largest, own = [], np.exp
    monkeypatch.setattr(
        "geex._estimate.linear.prior.np.exp",
        lambda a, *rest, **more: (largest.append(np.size(a)), own(a, *rest, **more))[1],
    )
    length = 12_000
    line = geex.Elements(line=True)
    found = explained(lambda z: z[:, 7000:8000].mean(1), np.ones(length), geex.Guided(), 200, features=line)
    assert np.abs(found.values[7000:8000]).sum() > np.abs(np.delete(found.values, range(7000, 8000))).sum()
    assert largest
    assert max(largest) < length**2 / 50


@pytest.mark.slow
def test_numpy_and_torch_find_the_same_spots():
    torch = pytest.importorskip("torch")
    spot = torch.from_numpy(SPOT)
    found = explained(
        lambda z: torch.sigmoid(8 * ((z * spot).sum((1, 2)) / spot.sum() - 0.6)),
        torch.from_numpy(X),
        geex.Guided(),
        400,
    )
    assert isinstance(found.values, torch.Tensor)
    top = np.argsort(-found.values.numpy().ravel())[: int(SPOT.sum())]
    assert SPOT.ravel()[top].mean() >= 0.7


def test_bad_settings():
    with raises(MethodError, "top-not-a-share"):
        geex.Guided(top=0)
    with raises(MethodError, "first-too-small"):
        geex.Guided(first=1)
    with raises(MethodError, "features-without-neighbours"):
        explained(lambda z: z.sum(1), np.ones(9), geex.Guided(), 100)
    with pytest.raises(BudgetError):
        explained(spotted, X, geex.Guided(), 4)


@pytest.mark.slow
def test_large_images_have_knots():
    """More than 11,250 pixels: values between knots are interpolated, and a planted square is found."""
    side = 120
    spot = np.zeros((side, side))
    spot[30:50, 70:90] = 1
    found = explained(lambda z: np.tanh(3 * (z * spot).sum((1, 2)) / 400), np.ones((side, side)), geex.Guided(), 300)
    top = np.argsort(-found.values.ravel())[:400]
    assert spot.ravel()[top].mean() >= 0.7
    assert np.isfinite(found.stderr).all()
    assert found.stderr.min() > 0


@pytest.mark.slow
def test_errors_hold_for_a_model_that_no_smooth_sum_is_like():
    """A product of five pixels, 40 seeds: the deviation of the sum over the top tenth is known to 1/√78 of itself, and
    errors are not below half of it by more than z = 3 of that. Those of the posterior are: how much is smoothed away is
    itself hardly known."""
    x, seeds = np.ones((12, 12)), 40

    def model(z):
        return z[:, 2, 2] * z[:, 3, 9] * z[:, 6, 6] * z[:, 9, 2] * z[:, 10, 10]

    found = [explained(model, x, geex.Guided(), 302, seed=seed) for seed in range(seeds)]
    values = np.stack([one.values for one in found])
    size = np.abs(values.mean(axis=0))
    top = size >= np.quantile(size, 0.9)
    least = 0.5 * values[:, top].sum(axis=1).std(ddof=1) * (1 - 3 / np.sqrt(2 * (seeds - 1)))
    errors = []
    for one in found:
        record = one.record
        plan, rows = record.plans[0], top.reshape(1, -1).astype(float)
        estimate = geex.Guided().regions(geex.Answers(plan, stored(plan, record.answers[0]), record.ends, [0]), rows)
        fit = estimate.fits[0][1]
        believed = np.sqrt(fit.posterior.scale * fit.posterior.covering(rows))
        errors.append([believed[0], estimate.stderr[0, 0]])
    believed, whole = np.sqrt(np.mean(np.square(errors), axis=0))
    assert believed < least
    assert whole > least


@pytest.mark.slow
def test_errors_of_sums_hold_where_steep_steps_lead_the_masks():
    """Three regions that all have to show, 20 seeds: errors are not below the deviation of the sum over the top tenth
    by more than z = 3 of what 20 seeds know of it, as they would be without what the second half changed."""
    x, seeds, corners = np.ones((28, 28), np.float32), 20, [(3, 3), (3, 17), (17, 3)]

    def model(z):
        return np.prod([z[:, i : i + 8, j : j + 8].mean((1, 2)) > 0.4 for i, j in corners], axis=0) * 1.0

    found = [explained(model, x, geex.Guided(), 3000, seed=seed) for seed in range(seeds)]
    size = np.abs(np.mean([one.values for one in found], axis=0))
    sums = [one.region(size >= np.quantile(size, 0.9)) for one in found]
    error = np.sqrt(np.mean([one.stderr**2 for one in sums]))
    assert error > np.std([one.value for one in sums], ddof=1) * (1 - 3 / np.sqrt(2 * (seeds - 1)))


@pytest.mark.slow
def test_the_same_method_asks_the_same(tmp_path):
    journal = tmp_path / "run.geex"
    found = explained(spotted, X, geex.Guided(), 302, journal=journal)
    for source in (found, journal):
        again = geex.estimate(source, method=geex.Guided())
        assert again.values.tobytes() == found.values.tobytes()
        for other in (geex.Guided(top=0.2), geex.Guided(fine=0.1), geex.Guided(first=60), geex.Guided(coarse=0.1)):
            with raises(MethodError, "method-of-other-queries"):
                geex.estimate(source, method=other)
    first = geex.Regression(geex.Presence(0.5, widths=found.record.plans[0].first.search.widths))
    with raises(MethodError, "method-of-other-queries"):
        geex.estimate(found, method=first)


@pytest.mark.slow
def test_runs_about_different_outputs_are_different_runs(tmp_path):
    journal = tmp_path / "run.geex"

    def model(z):
        return np.stack([spotted(z), 1 - spotted(z), z[:, 18:22, 18:22].mean((1, 2)) ** 2], axis=1)

    about = [{"target": 0}, {"target": 2}, {"target": 0, "score": "margin"}, {"target": [0, 2]}]
    runs = [explained(model, X, geex.Guided(), 202, journal=journal, **one) for one in about]
    explained(model, X, geex.Guided(), 202, journal=journal, **about[0])
    for which, run in enumerate([*runs[1:], runs[0]]):  # what is asked again is the last
        again = geex.estimate(journal, which=which)
        assert again.target == run.target
        assert again.values.tobytes() == run.values.tobytes()
    with raises(JournalError, "which-not-a-run"):
        geex.estimate(journal, which=4)
