"""Pictures: every kind for every shape of input, and what the pixels of them are."""

import io
import subprocess
import sys

import numpy as np
import pytest

import geex
from geex._results.settings import Settings
from geex.errors import InputError, MissingPackage
from geex.methods import GE, RISE
from geex.methods.guided import Guided
from geex.plot.view import scene
from tests.helpers import explained, raises

pytest.importorskip("matplotlib")
plot = pytest.importorskip("geex.plot")

rng = np.random.default_rng(3)
GREY = rng.uniform(0.2, 1, (6, 8))
SHARES, MADE = geex.Estimand("own", "within error"), Settings("shares")
FIRST = rng.uniform(-1, 1, (3, 6, 8))
LAST = np.moveaxis(FIRST, 0, -1)
HALVES = np.repeat([[0, 1]], 6, axis=0).repeat(4, axis=1)


def weighed(z):
    """Three outputs: the left half against the right one, their sum, and nothing."""
    z = z.reshape(len(z), -1)
    signs = np.resize([1.0, -1.0, 0.5], z.shape[1])
    return np.stack([z @ signs, z.sum(1), 0 * z[:, 0]], axis=1)


def png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


CASES = {
    "grey": (GREY, None),
    "grey with an axis": (GREY[None], geex.Pixels(channels=0)),
    "colour first, elements": (FIRST, None),
    "colour first, pixels": (FIRST, geex.Pixels(channels=0)),
    "colour last, elements": (LAST, geex.Elements(channels=2)),
    "colour last, pixels": (LAST, geex.Pixels(channels=2)),
    "segments": (FIRST, geex.Groups(HALVES)),
}


@pytest.mark.parametrize("case", CASES)
def test_images_have_one_value_per_pixel(case):
    x, features = CASES[case]
    explanation = explained(weighed, x, geex.GEEX(0.5), 200, features=features, target=0)
    seen = scene(explanation)
    assert seen.index.shape == (6, 8)
    assert seen.picture.shape == (6, 8, 3)
    assert seen.outputs[0].total == pytest.approx(float(explanation.values.sum()))
    for kind in ("signed", "positive", "top", "sure", "outputs"):
        assert png(explanation.plot(kind)).startswith(b"\x89PNG")


def test_a_pixels_error_comes_from_the_answers_and_not_from_its_channels():
    explanation = explained(weighed, FIRST, geex.GEEX(0.5), 200, target=0)
    exact = geex.estimate(explanation, features=geex.Pixels(channels=0))
    np.testing.assert_allclose(scene(explanation).outputs[0].stderr, exact.stderr.ravel())
    loaded = scene(explanation.numpy())
    np.testing.assert_allclose(loaded.outputs[0].stderr, np.sqrt((explanation.stderr**2).sum(0)).ravel())
    np.testing.assert_allclose(loaded.outputs[0].values, exact.values.ravel(), atol=1e-12)


def test_masks_of_elements_are_summed_too():
    explanation = explained(weighed, FIRST, geex.Presence(), 200, target=0)
    assert scene(explanation).index.shape == (6, 8)


def test_colours_mean_what_they_say():
    values = np.zeros((6, 8))
    values[0, 0], values[0, 1], values[0, 2] = 1.0, -1.0, 0.25
    stderr = np.full((6, 8), 0.2)
    explanation = geex.Explanation(values, stderr, 0.0, 0.25, 0.0, 0.1, 0, 10, np.inf, SHARES, MADE, GREY)
    seen = scene(explanation)
    colour = plot.tint.tinted(seen, seen.outputs[0], plot.tint.Look(percentile=100.0)).astype(int)
    paper = plot.tint.paper(seen.picture)
    assert colour[0, 0, 0] > colour[0, 0, 2] + 100
    assert colour[0, 1, 2] > colour[0, 1, 0] + 100
    np.testing.assert_allclose(colour[1:], np.rint(paper[1:, :, None]).repeat(3, 2), atol=1)
    positive = plot.tint.tinted(seen, seen.outputs[0], plot.tint.Look("positive", 100.0)).astype(int)
    assert abs(positive[0, 1, 0] - paper[0, 1]) <= 1
    sure = plot.tint.tinted(seen, seen.outputs[0], plot.tint.Look("sure", 100.0)).astype(int)
    assert (sure[0, 0] == colour[0, 0]).all()
    assert np.ptp(sure[0, 2]) <= 1 < np.ptp(colour[0, 2])
    top = plot.tint.tinted(seen, seen.outputs[0], plot.tint.Look("top", top=1 / 48)).astype(int)
    assert (top[0, 0] == seen.picture[0, 0]).all()
    assert (top[1] < seen.picture[1]).all()


def test_intervals_are_where_the_explanation_has_them():
    x = rng.uniform(1, 2, (4, 4))
    explanation = explained(weighed, x, geex.Regression(), 300, target=0)
    assert explanation.centre is not None
    low, high = (end.ravel() for end in explanation.interval(0.95, simultaneous=True))
    for one in (explanation, explanation.numpy()):
        seen = scene(one)
        for drawn, own in zip(seen.outputs[0].interval(), (low, high), strict=True):
            np.testing.assert_allclose(drawn, own.ravel())
    figure = explanation.plot("bars")
    shown = explanation.values_in_interval(0.95, simultaneous=True).ravel()
    order = np.lexsort((-np.abs(shown), ~explanation.significant().ravel()))[:15]
    segments = figure.axes[0].collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 0] for segment in segments], np.stack([low, high], axis=1)[order])


def test_all_zero_values_are_drawn():
    explanation = geex.Explanation(
        np.zeros((6, 8)), np.zeros((6, 8)), 0.0, 0.0, 0.0, 0.0, 0, 1, np.inf, SHARES, MADE, GREY
    )
    assert png(explanation.plot())


def test_values_that_are_no_shares_start_at_their_smallest():
    explanation = explained(lambda z: z.sum((1, 2)) + 9, GREY, RISE(cells=2), 100)
    assert scene(explanation).outputs[0].origin == pytest.approx(float(explanation.values.min()))
    assert png(explanation.plot())


def test_the_picture_that_was_given_is_shown():
    explanation = explained(weighed, FIRST, geex.GEEX(0.5), 100, target=0)
    photo = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    np.testing.assert_array_equal(scene(explanation, photo).picture, photo)
    np.testing.assert_array_equal(scene(explanation, np.moveaxis(photo, -1, 0)).picture, photo)
    np.testing.assert_array_equal(scene(explanation, photo / 255).picture, photo)
    np.testing.assert_array_equal(scene(explanation, photo[..., 0]).picture, photo[..., :1].repeat(3, 2))
    for wrong, code in ((photo[:-1], "image-shape"), (photo.astype(float) - 300, "image-range")):
        with pytest.raises(InputError) as refused:
            explanation.plot(image=wrong)
        assert refused.value.code == code


def test_columns_are_bars_with_their_names():
    explanation = explained(weighed, np.array([1.0, 2.0, 3.0]), geex.Shapley(), 100, target=0)
    figure = explanation.named(names=["age", "pay $ and $more", "a" * 100]).plot()
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[0] == "pay \\$ and \\$more =\u00a02"
    assert labels[2] == "age =\u00a01"
    assert figure.axes[0].get_xlabel() == "value, in units of the score"
    assert labels[1].endswith("… =\u00a03")
    assert len(labels[1]) == 44
    assert png(figure)
    with pytest.raises(InputError) as refused:
        explanation.plot("signed")
    assert refused.value.code == "no-picture"
    with raises(InputError, "names-count"):
        explanation.named(names=["age"])
    with raises(InputError, "labels-count"):
        explanation.named(labels=["a"])


def test_groups_of_columns_and_volumes_are_bars():
    x = rng.uniform(1, 2, (7, 6, 5))
    assert png(explained(weighed, x, geex.GEEX(0.5), 100, target=0).plot())
    figure = explained(weighed, x.ravel()[:4], geex.GEEX(0.5), 100, features=geex.Groups([3, 3, 7, 7])).plot()
    assert {text.get_text() for text in figure.axes[0].get_yticklabels()} == {"group 3", "group 7"}


def test_several_outputs_and_methods_side_by_side():
    several = explained(weighed, FIRST, geex.GEEX(0.5), 100, target=[1, 0]).named(labels=["a", "b", "c"])
    titles = [axis.get_title() for axis in several.plot().axes]
    assert titles[:3] == ["input", "b", "a"]
    single = geex.estimate(several, target=0)
    five = [axis.get_title().split("\n")[0] for axis in single.plot("outputs").axes]
    assert five[:4] == ["input", "a", *(["c", "b"] if several.output[0] < 0 else ["b", "c"])]
    both = plot.compare({"one": single, "other": geex.estimate(several, target=1)})
    assert [axis.get_title() for axis in both.axes][:3] == ["input", "one", "other"]
    columns = explained(weighed, np.array([1.0, 2.0, 3.0]), geex.Shapley(), 100, target=0)
    assert png(plot.compare({"Shapley": columns, "again": columns}))


def test_curves_are_drawn_from_f_of_x_on():
    model = lambda z: z.sum((1, 2))  # noqa: E731
    explanation = explained(model, GREY, geex.GEEX(0.5), 100)
    deletion = geex.evaluate.deletion(model, GREY, explanation, step=8)
    insertion = geex.evaluate.insertion(model, GREY, explanation, step=8)
    figure = plot.curves({"out": deletion, "in": insertion})
    assert [axis.get_title() for axis in figure.axes] == ["deletion", "insertion"]
    drawn = figure.axes[0].lines[0].get_ydata()
    assert drawn[0] == 1
    assert drawn[-1] == pytest.approx(0)
    assert f"{deletion.aopc:.3f}" in figure.axes[0].get_legend().get_texts()[0].get_text()


@pytest.mark.parametrize("method", [geex.GEEX(0.5), geex.Presence(), geex.Regression(), GE(0.5), Guided()])
def test_convergence_ends_at_the_explanation(method):
    explanation = explained(weighed, FIRST, method, 600, target=0, features=geex.Pixels(channels=0))
    figure = explanation.plot("convergence")
    assert len(figure.axes) == (2 if explanation.adds_up else 1)
    line = figure.axes[0].lines[0].get_ydata()
    marked = (explanation.findings.marks[0] <= 0.05).reshape(explanation.values.shape)
    values = np.where(marked, explanation.values_in_interval(0.95, simultaneous=True), 0).ravel()
    assert line[-1] == values[np.abs(values).argmax()]
    assert len(line) >= 4
    if explanation.adds_up:
        assert figure.axes[1].lines[0].get_ydata()[-1] == explanation.gap


def test_convergence_wants_answers():
    with pytest.raises(InputError) as refused:
        explained(weighed, GREY, geex.GEEX(0.5), 100).numpy().plot("convergence")
    assert refused.value.code == "answers-missing"


def test_wrong_settings_are_named():
    explanation = explained(weighed, GREY, geex.GEEX(0.5), 100)
    for wrong, code in (
        ({"kind": "pie"}, "kind-unknown"),
        ({"opacity": 2}, "opacity-out-of-range"),
        ({"kind": "top", "top": 0}, "top-out-of-range"),
        ({"percentile": 0}, "percentile-out-of-range"),
        ({"kind": "sure", "level": 1}, "level-not-a-probability"),
    ):
        with pytest.raises(InputError) as refused:
            explanation.plot(**wrong)
        assert refused.value.code == code


@pytest.mark.slow
def test_a_loaded_explanation_is_drawn_alike(tmp_path):
    for x, features in CASES.values():
        saved = explained(weighed, x, geex.GEEX(0.5), 100, features=features, target=0).named(labels=["a", "b", "c"])
        loaded = geex.Explanation.load(saved.save(tmp_path / "one.npz"))
        assert loaded.labels == ["a", "b", "c"]
        assert png(loaded.plot("positive")) == png(saved.plot("positive"))


def test_torch_explanations_are_drawn():
    torch = pytest.importorskip("torch")
    explanation = explained(lambda z: z.sum((1, 2, 3)), torch.from_numpy(FIRST), geex.GEEX(0.5), 100)
    assert png(explanation.plot())


@pytest.mark.slow
def test_no_window_is_opened():
    code = (
        "import numpy as np, sys, geex\n"
        "e = geex.explain(lambda z: z.sum((1, 2)), np.ones((3, 3)), queries=50)\n"
        "e.plot().savefig('/dev/null', format='png')\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    explanation = explained(weighed, GREY, geex.GEEX(0.5), 100)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage) as refused:
        explanation.plot()
    assert refused.value.code == "matplotlib-missing"
