"""Models, inputs and settings that once gave a wrong number or somebody else's error."""

import threading
import warnings

import numpy as np
import pytest

import geex
from geex import errors
from geex._plan.plan import DrawCache
from geex.methods import GE, RISE, Interpolated
from tests.helpers import explained, raises

X = np.array([1.0, 2.0, -0.5])


def linear(z):
    return z @ np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize("batch", [None, 7, 64])
def test_a_model_may_reuse_its_answer(batch):
    buffer = np.zeros(4000)

    def reusing(z):
        buffer[: len(z)] = linear(z)
        return buffer[: len(z)]

    one = explained(reusing, X, geex.GEEX(0.5), 1000, batch=batch)
    other = explained(linear, X, geex.GEEX(0.5), 1000)
    assert one.values.tobytes() == other.values.tobytes()
    assert (one.output, one.base_value) == (other.output, other.base_value)
    again = geex.estimate(one, target=0)
    assert again.values.tobytes() == other.values.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_layout_of_answers_changes_no_byte(order):
    weights = np.random.default_rng(0).normal(size=(10, 3))

    def model(z):
        return np.asarray(np.stack([np.tanh((z * row).sum(1)) for row in weights], axis=1), order=order)

    runs = [explained(model, X, geex.GEEX(0.5), 500, score="softmax", target=3, batch=b) for b in (1, 7, 499)]
    assert len({run.values.tobytes() for run in runs}) == 1


def test_rules_and_scores_that_work_in_place_harm_nothing():
    def score(answers):
        answers += 1
        return answers

    def rule(x):
        x -= x.mean()
        return np.zeros_like(x)

    two = explained(lambda z: np.stack([linear(z), -linear(z)], 1), X, geex.GEEX(0.5), 100, score=score, target=0)
    assert two.output == pytest.approx(linear(X[None])[0] + 1)
    assert explained(linear, X, geex.GEEX(0.5), 100, baseline=rule).output == pytest.approx(linear(X[None])[0])


@pytest.mark.parametrize("value", [0.1, 0.3, 1e-24, 1e20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigma_of_an_explicand_whose_elements_are_alike(value, dtype):
    explanation = explained(lambda z: z.sum(1, dtype=float), np.full(50, value, dtype), geex.GEEX(), 2000)
    assert explanation.settings.sigma == pytest.approx([value / 2], rel=1e-6)
    assert (explanation.stderr > 0).all()
    assert explanation.values.sum() == pytest.approx(50 * value, abs=5 * explanation.gap_stderr)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e200])
def test_sigma_of_an_explicand_of_any_size(scale):
    usual, scaled = (explained(lambda z, s=s: (z / s).sum(1), s * X, geex.GEEX(), 100) for s in (1, scale))
    assert scaled.settings.sigma[0] == pytest.approx(scale * usual.settings.sigma[0])
    np.testing.assert_allclose(scaled.values, usual.values)


def test_sigma_below_the_resolution_of_the_type_is_refused():
    x = np.array([1000, 2000, -1000], np.float32)
    with raises(errors.MethodError, "sigma-out-of-range"):
        explained(linear, x, geex.GEEX(1e-5))
    explained(linear, x.astype(float), geex.GEEX(1e-5))
    with raises(errors.MethodError, "sigma-out-of-range"):
        explained(linear, X.astype(np.float32), geex.GEEX(1e-50))


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array(X, mask=[0, 1, 0])
    with raises(errors.ExplicandError, "x-masked"):
        explained(linear, masked, geex.GEEX(0.5))
    with raises(errors.BaselineError, "baseline-masked"):
        explained(linear, X + 1, geex.GEEX(0.5), baseline=masked)
    with raises(errors.AnswerError, "model-answer-masked"):
        explained(lambda z: np.ma.masked_all(len(z)), X, geex.GEEX(0.5))


def test_a_gradient_needs_no_baseline():
    explanation = explained(linear, np.zeros(3), GE(0.5), 2000)
    assert np.abs((explanation.values - [1, -2, 0.5]) / explanation.stderr).max() < 4
    with pytest.raises(TypeError):
        GE(still=True)


@pytest.mark.parametrize("channels", [0, 1, 2])
def test_groups_spread_over_the_channels_that_are_named(channels):
    labels = np.arange(9).reshape(3, 3)
    index = geex.Groups(labels, channels=channels).index((3, 3, 3))
    assert (index == np.expand_dims(labels, channels)).all()


def test_groups_keep_a_map_of_their_own():
    labels = np.array([0, 1, 1])
    groups = geex.Groups(labels)
    labels[:] = 5
    assert explained(linear, X, geex.GEEX(0.5), 100, features=groups).values.shape == (2,)


def test_a_baseline_outside_of_the_bounds_is_refused():
    with raises(errors.BoundsError, "outside-the-bounds"):
        explained(linear, np.array([1.0, 2.0, 0.5]), geex.GEEX(0.5), bounds=(0.4, 3))


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_scores_of_any_size(scale):
    plain, scaled = (explained(lambda z, s=s: s * linear(z) ** 2, X, geex.GEEX(0.5), 200) for s in (1, scale))
    np.testing.assert_allclose(scaled.stderr, scale * plain.stderr)
    assert scaled.gap_stderr == pytest.approx(scale * plain.gap_stderr)
    with raises(errors.AnswerError, "answer-not-finite"):
        explained(lambda z: 1e200 * linear(z), X, geex.GEEX(0.5), 200)


@pytest.mark.slow
def test_intervals_widen_where_couples_are_few():
    """At 20 queries Student's t covers 90% or more where ±1.96 standard errors cover some 84%: 1500 seeds."""
    truth = np.array([1.0, -4.0, -0.25])
    covered = []
    for seed in range(1500):
        low, high = explained(linear, X, geex.GEEX(0.5), 20, seed=seed).interval(0.95)
        covered.append((low <= truth) & (truth <= high))
    assert 0.90 < np.mean(covered) < 0.97
    with raises(errors.InputError, "level-not-a-probability"):
        explained(linear, X, geex.GEEX(0.5), 20).interval(95)


def test_masks_are_shared_whatever_sigma_is():
    masks = DrawCache()
    for sigma in (0.5, 0.7):
        method = geex.GEEX(sigma)
        search = method.search(X, np.zeros(3), geex.Elements(), 1000)
        masks.draws(search, 0, 0, 64, X)
    assert len(masks.kept) == 1
    explanation = geex.explain_batch(linear, [X, X + 1], queries=100, progress=False)[0]
    assert explanation.record.plans[0].cache.size == 0


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(1), 1])
def test_numbers_of_any_library_are_settings(number):
    assert geex.GEEX(sigma=number).sigma == float(number)
    assert geex.GEEX(smooth=(np.int64(3), np.float32(0.5))).smooth == (3, 0.5)
    assert Interpolated(steps=np.int64(4)).steps == 4
    assert RISE(cells=np.int32(5), keep=np.float32(0.5)).cells == 5
    assert explained(linear, X, geex.GEEX(0.5), np.int64(100), batch=np.int32(7), seed=np.uint8(3)).queries <= 100
    assert geex.Pixels(np.int64(0)).shape((2, 3)) == (3,)


@pytest.mark.parametrize(
    "settings",
    [
        {"shared": "a"},
        {"shared": 0.0},
        {"smooth": (5, "a")},
        {"smooth": (5, None)},
        {"sigma": 10**400},
        {"mirror": "no"},
        {"family": geex.Laplace},
        {"still": 1},
    ],
    ids=str,
)
def test_settings_of_the_wrong_kind(settings):
    with pytest.raises(errors.MethodError):
        geex.GEEX(**settings)


class Raising:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


@pytest.mark.parametrize("bad", [[[1, 2], [3]], Raising()], ids=["ragged", "raising"])
def test_what_makes_no_array(bad):
    with pytest.raises(errors.ExplicandError):
        explained(linear, bad, geex.GEEX(0.5))
    with pytest.raises(errors.AnswerError):
        explained(lambda z: bad, X, geex.GEEX(0.5))
    with pytest.raises(errors.BaselineError):
        geex.mean(bad)
    with pytest.raises(errors.FeaturesError):
        geex.Groups(bad)
    with pytest.raises(errors.InputError):
        explained(linear, X, geex.GEEX(0.5), score=lambda a: bad)
    with pytest.raises(errors.BaselineError):
        geex.per_channel(bad)


def test_types_of_other_machines():
    for dtype in (">f8", ">f4", np.longdouble):
        one = explained(linear, X.astype(dtype), geex.GEEX(0.5), 200)
        other = explained(linear, X.astype(np.float32 if dtype == ">f4" else float), geex.GEEX(0.5), 200)
        assert one.values.tobytes() == other.values.tobytes()


@pytest.mark.parametrize(
    "target", [np.array(1), np.array([1]), [np.int8(1)], (t for t in [1])], ids=["0-d", "1-d", "list", "generator"]
)
def test_targets_of_any_library(target):
    explanation = explained(lambda z: np.stack([linear(z), -linear(z)], 1), X, geex.GEEX(0.5), 100, target=target)
    assert explanation.target in (1, [1])


def test_a_rule_or_score_that_fails_is_named():
    with raises(errors.BaselineError, "baseline-rule-none"):
        explained(linear, X, geex.GEEX(0.5), baseline=lambda x: None)
    with raises(errors.InputError, "score-raised"):
        explained(linear, X, geex.GEEX(0.5), score=lambda a: 1 / 0)


@pytest.mark.parametrize("bad", [{"estimand": 1}, [1], None])
def test_saved_facts_that_are_none(tmp_path, bad):
    import json

    whole = explained(linear, X, geex.GEEX(0.5), 100).save(tmp_path / "one.npz")
    with np.load(whole) as file:
        content = dict(file)
    content["facts"] = np.array(json.dumps(bad))
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(errors.FileError):
        geex.Explanation.load(tmp_path / "bad.npz")


def test_saving_at_once_and_saving_nowhere(tmp_path):
    explanation = explained(linear, X, geex.GEEX(0.5), 100)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        explanation.save(tmp_path / "folder")
    failed = []

    def round_trip():
        try:
            for _ in range(20):
                geex.Explanation.load(explanation.save(tmp_path / "one.npz"))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=round_trip) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "one.npz"]


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        geex.explain(lambda z: np.ones(len(z)), X, queries=50)
        geex.explain_batch(lambda z: np.ones(len(z)), [X], queries=50)
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_a_long_list_of_outputs_has_a_short_account():
    explanation = explained(lambda z: z[:, :1] * np.arange(2000), X, geex.GEEX(0.5), 50, target="all")
    assert len(repr(explanation)) < 2000


def test_tensors_that_are_views():
    torch = pytest.importorskip("torch")
    x = torch.arange(24.0).reshape(4, 3, 2).permute(2, 0, 1)
    explained(lambda z: z.view(len(z), -1).sum(1), x, geex.GEEX(0.5), 100)
    with raises(errors.ExplicandError, "x-not-dense"):
        explained(linear, torch.ones(3).to_sparse(), geex.GEEX(0.5))
    with raises(errors.ExplicandError, "x-not-dense"):
        explained(linear, torch.ones(3, device="meta"), geex.GEEX(0.5))
    half = explained(lambda z: torch.from_numpy(linear(z)).bfloat16(), X, geex.GEEX(0.5), 100)
    assert np.isfinite(half.values).all()
    turned = explained(lambda z: linear(z.numpy())[::-1][::-1], torch.from_numpy(X), geex.GEEX(0.5), 100)
    assert torch.isfinite(turned.values).all()


@pytest.mark.parametrize("scale", [1e-50, 1e60])
def test_the_reach_of_tensors_is_as_fine_as_that_of_arrays(scale):
    torch = pytest.importorskip("torch")
    usual, scaled = (
        explained(lambda z, s=s: s * z.sum(1) ** 2, torch.ones(40, dtype=torch.float64), geex.Regression(), 60)
        for s in (1, scale)
    )
    assert scaled.reach == pytest.approx(scale * usual.reach)
    assert "exact" not in repr(scaled)


@pytest.mark.parametrize("large", [1e150, 1e170, 1e300])
@pytest.mark.parametrize("method", [geex.Shapley(), geex.Regression(), geex.Guided()], ids=str)
def test_one_enormous_feature_does_not_hide_the_others(method, large):
    x = np.full((5, 4), 1e-100)
    x[0, 0] = large
    found = explained(lambda z: (z > 0).mean((1, 2)), x, method, 120)
    np.testing.assert_allclose(found.values, 0.05, atol=1e-4)
    assert (found.stderr > 0).all()


@pytest.mark.parametrize("method", [None, geex.Shapley(), geex.Regression(), geex.Guided()], ids=str)
def test_a_difference_that_only_float64_holds(method):
    x = np.full((5, 4), 3e38, np.float32)
    found = explained(lambda z: (z > 0).mean((1, 2)), x, method, 120, baseline=-3e38)
    np.testing.assert_allclose(found.values, 0.05, atol=1e-4)
    small = explained(lambda z: (z > 0).mean((1, 2)), np.full((5, 4), 1e-42, np.float32), method, 120)
    np.testing.assert_allclose(small.values, 0.05, atol=1e-4)
    assert np.isfinite(small.stderr).all()


def test_differences_that_no_type_holds_are_refused_before_anything_is_asked():
    def never(z):
        raise AssertionError("nothing is asked")

    for method in (None, geex.Regression(), geex.GEEX(1e300), RISE(cells=2)):
        with raises(errors.ExplicandError, "difference-overflows"):
            explained(never, np.full((5, 4), 1.5e308), method, 120, baseline=-1.5e308)
    for method in (geex.GEEX(1e35), GE(1e35), RISE(cells=2)):
        with raises(errors.MethodError, "difference-overflows"):
            explained(never, np.full((5, 4), 3e38, np.float32), method, 120, baseline=-3e38)


def test_bars_only_for_people(capfd):
    geex.explain(linear, X, queries=100)
    assert capfd.readouterr().err == ""


def test_columns_of_uneven_scales_are_pointed_out():
    row = np.array([0.003, 20.0, 1500.0])
    with pytest.warns(errors.UnevenScales) as caught:
        geex.explain(lambda z: z.sum(1), row, method=geex.GEEX(), queries=50)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explained(lambda z: z.sum(1), row, geex.GEEX(0.1), 50)
        explained(lambda z: z.sum(1), row, geex.Shapley(), 50)
        explained(lambda z: z.sum(1), row, geex.GEEX(), 50, features=geex.Elements(line=True))
        explained(lambda z: z.sum((1, 2)), row[None], geex.GEEX(), 50, features=geex.Elements())
