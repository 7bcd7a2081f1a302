"""The report and the notebook as text: the sentences, the numbers, and what comes from outside."""

import datetime
import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import geex
from geex._problem.model_identity import identity
from geex._results.certainty import chance
from geex._results.numbers import column
from geex._results.numbers import number as written
from geex._results.settings import Settings
from geex.errors import InputError
from geex.methods import RISE
from geex.plot.view import scene
from geex.report import Extras, page, region, words
from geex.report.pack import packed, plain, png
from geex.report.replay import call
from tests.helpers import explained
from tests.reported import PHOTO, STEEP, columns_explained, looks, photo_explained, spot, spot_explained

rng = np.random.default_rng(5)
SHARES, MADE = geex.Estimand("own", "within error"), Settings("shares")


@pytest.fixture(scope="module")
def photo():
    return photo_explained()


@pytest.fixture(scope="module")
def columns():
    return columns_explained()


@pytest.fixture(scope="module")
def spotted():
    return spot_explained()


class Tags(HTMLParser):
    """What a browser sees of a page: tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.text.append(text)


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_what_comes_from_outside_is_text(photo, columns):
    for explanation in (photo, columns):
        text = page(
            explanation,
            Extras(
                title="<title> & $title",
                call="geex explain '<script>'",
                input_name="<input>.png",
                model_name="</script>&model",
            ),
        )
        seen = Tags(text)
        assert [tag for tag, _ in seen.tags].count("script") == 2
        assert not any("onerror" in attributes for _, attributes in seen.tags)
        assert all(src.startswith("data:") for _, attributes in seen.tags if (src := attributes.get("src")))
        assert "<title> & $title" in "".join(seen.text)
        assert "geex explain '<script>'" in "".join(seen.text)
        assert "<input>.png · </script>&model" in "".join(seen.text)
        assert data_of(text)["outputs"][0]["label"] == explanation.labels[explanation.target]


def test_the_numbers_survive_the_packing():
    values, stderr = rng.normal(size=5000), rng.uniform(0.01, 2, 5000)
    stderr[:2] = 0, np.nan
    output = scene(
        geex.Explanation(values, stderr, 0.0, 0.0, 0.0, 0.0, 0, 1, np.inf, SHARES, MADE),
    ).outputs[0]
    content = packed(output)
    whole = np.frombuffer(zlib.decompress(b64decode(content["packed"])), np.uint8)
    bytes_ = whole[:15000].reshape(3, -1).astype(int)
    assert (np.unpackbits(whole[15000:], count=5000) == output.sure()).all()
    unpacked = (bytes_[0] * 256 + bytes_[1] - 32768) * content["step"]
    assert np.abs(unpacked - output.shown()).max() <= content["step"] / 2 + 1e-12
    assert content["step"] <= np.nanmedian(stderr) / 8
    errors = content["errorLow"] * content["errorRatio"] ** (bytes_[2] - 2.0)
    np.testing.assert_allclose(errors[2:], stderr[2:], rtol=0.02)
    assert list(bytes_[2][:2]) == [1, 0]


def test_the_picture_is_a_png():
    image = pytest.importorskip("PIL.Image")
    import io

    pixels = rng.integers(0, 256, (7, 5, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(image.open(io.BytesIO(png(pixels)))), pixels)


def test_a_photos_five_outputs_stay_below_two_megabytes(tmp_path):
    """The worst case: noise in the picture, in the values and in the errors."""
    size = (3, 299, 299)
    photo = rng.integers(0, 256, (299, 299, 3), dtype=np.uint8)
    values, stderr = rng.normal(size=(5, *size[1:])), np.exp(rng.normal(scale=0.3, size=(5, *size[1:])))
    ends = np.linspace(0.1, 0.5, 5)
    explanation = geex.Explanation(
        values,
        stderr,
        ends,
        ends,
        ends,
        ends,
        [0, 1, 2, 3, 4],
        5000,
        np.inf,
        SHARES,
        MADE,
        np.zeros(size),
        geex.Pixels(),
    )
    assert explanation.report(tmp_path / "photo.html", image=photo).stat().st_size < 2e6


@pytest.mark.parametrize(
    "settings",
    [
        {"method": geex.GEEX(0.3, smooth=(3, 0.7)), "baseline": geex.blur(3, 1.0), "score": "softmax"},
        {"method": geex.GEEX(0.3, family=geex.Laplace()), "bounds": (-4, 4), "target": 1},
        {"method": geex.Regression(), "features": geex.Pixels(channels=0), "seed": 3},
        {"method": geex.Regression(of=geex.GEEX(0.4)), "baseline": [0.0, 0.5]},
        {"method": geex.Presence(alpha=0.5), "baseline": geex.per_channel([0.1, 0.2, 0.3])},
        {"method": RISE(cells=3), "features": geex.Elements(channels=0)},
        {"method": geex.GEEX(), "target": [0, 2]},
    ],
    ids=lambda settings: type(settings["method"]).__name__,
)
def test_the_call_makes_the_same_again(settings):
    explanation = explained(looks, PHOTO, queries=200, **settings)
    scope = {"model": looks, "x": PHOTO}
    exec(call(explanation), scope)
    np.testing.assert_array_equal(scope["explanation"].values, explanation.values)


def test_what_a_call_cannot_say_it_names():
    explanation = explained(looks, PHOTO, geex.GEEX(0.3), 200, baseline=0 * PHOTO)
    assert "# baseline: an array of shape (3, 12, 16)\n" in call(explanation)
    assert "baseline=baseline," in call(explanation)
    groups = explained(looks, PHOTO, geex.GEEX(0.3), 200, features=geex.Groups(np.eye(12, 16, dtype=int)))
    assert "features=geex.Groups(map)," in call(groups)


@pytest.mark.parametrize(
    ("errors_away", "freedom", "told"),
    [(1.9, np.inf, "no more than noise"), (2.1, np.inf, "which is more than noise"), (2.1, 5.0, "no more than noise")],
)
def test_what_is_left_over_is_noise_within_its_interval(photo, errors_away, freedom, told):
    output = replace(scene(photo).outputs[0], gap=errors_away * 0.3, gap_stderr=0.3)
    assert told in words.account(replace(photo, freedom=freedom), output, "pixels")


def test_the_account_is_told(photo):
    output = scene(photo).outputs[0]
    told = words.account(photo, output, "pixels")
    for number in (output.output, output.base_value):
        assert words.number(number) in told
    account = words.account_in(photo, output)
    for number in (output.total, output.gap, account.low, account.high, output.gap_stderr):
        style = column([output.total], [output.gap_stderr])
        assert style.text(abs(number)) in told
    rise = explained(looks, PHOTO, RISE(cells=3), 200)
    assert "They are not parts of this change." in words.account(rise, scene(rise).outputs[0], "pixels")
    exact = explained(lambda z: z.sum(1), np.ones(3), geex.Shapley(), 100)
    assert "Nothing is left over" in words.account(exact, scene(exact).outputs[0], "features")
    assert "+ left over 0" in words.sums(exact, scene(exact).outputs[0])


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0"), (0.12345, "0.123"), (-2.5, "−2.5"), (1234.5, "1,234"), (1.23e-7, "1.2e−7"), (-4.56e9, "−4.6e9")],
)
def test_numbers_are_short(value, told):
    assert written(value) == told


def test_ninths_add_up(photo):
    seen = scene(photo)
    assert sum(words.ninths(seen, seen.outputs[0], False)) == pytest.approx(seen.outputs[0].total)
    groups = explained(looks, PHOTO, geex.GEEX(0.3), 200, features=geex.Groups(np.eye(12, 16, dtype=int)))
    seen = scene(groups)
    assert sum(words.ninths(seen, seen.outputs[0], False)) == pytest.approx(seen.outputs[0].total)


def test_the_model_is_asked_only_when_it_is_given(photo, tmp_path):
    asked = []

    def watched(z):
        asked.append(len(z))
        return looks(z)

    explanation = explained(watched, PHOTO, geex.GEEX(0.3), 400, features=geex.Pixels(channels=0))
    before = sum(asked)
    silent = explanation.report(tmp_path / "silent.html").read_text()
    assert sum(asked) == before
    assert "Test: deletion" not in silent
    told = explanation.report(tmp_path / "told.html", model=watched).read_text()
    assert sum(asked) - before == 49
    assert "This took 49 more queries" in told
    curve = geex.evaluate.insertion(looks, PHOTO, explanation, step=20)
    assert "Test: insertion" in page(explanation, Extras(curves=[curve]))
    with pytest.raises(InputError) as refused:
        explanation.numpy().report(tmp_path / "no.html", model=watched)
    assert refused.value.code == "answers-missing"


def test_a_score_below_zero_has_no_curve(tmp_path):
    model = lambda z: -z.sum((1, 2))  # noqa: E731
    explanation = explained(model, np.ones((4, 4)), geex.GEEX(0.3), 100)
    assert "There is no deletion curve" in page(explanation, Extras(model=model))


def test_a_loaded_explanation_has_a_report_too(photo, tmp_path):
    loaded = geex.Explanation.load(photo.save(tmp_path / "one.npz"))
    one, five = data_of(page(loaded)), data_of(page(photo))
    assert len(one["outputs"]) == 1
    assert len(five["outputs"]) == 5
    assert one["outputs"][0]["account"] == five["outputs"][0]["account"]
    assert call(loaded) == call(photo)


def test_long_lists_are_cut():
    explanation = explained(lambda z: z.sum((1, 2, 3)), np.ones((7, 9, 11)), geex.GEEX(0.3), 100)
    text = page(explanation)
    assert data_of(text)["features"] == 100
    assert "of 693 features" in text


def test_of_all_outputs_the_five_largest_are_shown():
    model = lambda z: z.mean((1, 2))[:, None] * np.arange(40)  # noqa: E731
    explanation = explained(model, np.ones((6, 6)), geex.GEEX(0.3), 100, target="all")
    for one in (explanation, explanation.numpy()):
        shown = data_of(page(one))["outputs"]
        assert [output["target"] for output in shown] == [39, 38, 37, 36, 35]
        values = scene(one).outputs[0].values
        np.testing.assert_allclose(values, explanation.values[39].ravel())


def test_white_boxes_have_reports():
    torch = pytest.importorskip("torch")
    from benchmarks.whitebox import gradient

    x = torch.from_numpy(PHOTO)
    text = page(gradient(lambda z: z.sum((2, 3)), x, target=0))
    assert '<label hidden><input type="checkbox" id="sure" checked>' in text


def test_the_first_sentence_says_what_how_surely_and_where(spotted):
    seen = scene(spotted)
    (found,) = region.largest(seen)
    mask = found.features.reshape(STEEP.shape)
    assert mask.sum() == STEEP.size / 9
    sums = [spotted.values.ravel()[row > 0].sum() for row in region.ninths(seen)]
    assert found.value == pytest.approx(max(sums, key=abs))
    for_one, for_nine = spotted.region(mask), spotted.region(mask, 1 - 0.05 / 9)
    assert (found.value, found.low, found.high) == pytest.approx((for_one.value, for_nine.low, for_nine.high))
    assert found.low < for_one.low < for_one.high < found.high
    told = words.lead(spotted, seen, seen.outputs[0], found, "pixels")
    assert told.startswith(f"The model’s answer for “cat”: score {words.number(spotted.output)}, ")
    assert f"({words.place(seen, found)}, {mask.sum()} pixels, outlined)" in told
    change = spotted.output - spotted.base_value
    assert f"as much as {found.value / change:.0%} of the change of +" in told


def test_probabilities_are_told_as_such():
    def sure(z):
        odds = 1 / (1 + np.exp(-spot(z)))
        return odds / odds.sum(1, keepdims=True)

    explanation = geex.explain(sure, STEEP, labels=["cat", "dog"], score="answer", queries=300, progress=False)
    seen = scene(explanation)
    told = words.lead(explanation, seen, seen.outputs[0], None, "pixels")
    assert f"“cat”: probability {explanation.output:.3f}." in told


def test_where_nothing_stands_out_the_first_sentence_says_so(spotted):
    vague = replace(spotted, stderr=np.full(STEEP.shape, 1e3), record=None)
    seen = scene(vague)
    (found,) = region.largest(seen)
    assert found is None
    assert region.outline(seen, found) == ""
    assert words.SELECTED in page(spotted)
    assert words.SELECTED not in page(vague)
    nothing = vague.nothing_found.replace("features stands", "pixels stands")
    assert words.lead(vague, seen, seen.outputs[0], found, "pixels").startswith(nothing)
    assert repr(vague).startswith(vague.nothing_found)
    assert vague.nothing_found in vague._repr_html_()
    assert "geex.Groups" in nothing
    assert spotted.nothing_found == ""


def test_without_answers_the_interval_of_a_part_is_the_widest_there_can_be(spotted):
    (found,), (again,) = (region.largest(scene(one)) for one in (spotted, replace(spotted, record=None)))
    np.testing.assert_array_equal(found.features, again.features)
    assert again.value == pytest.approx(found.value)
    assert again.low < found.low < found.high < again.high


def test_a_part_may_stand_out_though_no_pixel_does(spotted):
    seen = scene(spotted)
    (found,), nothing = region.largest(seen), replace(seen.outputs[0], p_values=np.ones(STEEP.size))
    told = words.lead(spotted, seen, nothing, found, "pixels")
    assert told.startswith("The model’s answer")
    assert told.endswith("No single pixel stands out from noise.")


def test_a_region_of_elements_is_that_of_its_pixels():
    sums = lambda z: z[:, :, 2:6, 3:9].sum((1, 2, 3))  # noqa: E731
    elements = explained(sums, PHOTO, geex.GEEX(0.3), 2000)
    pixels = geex.estimate(elements, features=geex.Pixels(channels=0))
    (one,), (other,) = (region.largest(scene(e)) for e in (elements, pixels))
    np.testing.assert_array_equal(one.features, other.features)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_a_feature_may_count_against_the_change():
    explanation = geex.explain(lambda z: z @ [3.0, -2.0, -5.0], np.ones(3), progress=False).named(names=["a", "b", "c"])
    (found,) = region.largest(scene(explanation))
    told = words.lead(explanation, scene(explanation), scene(explanation).outputs[0], found, "features")
    assert "carries −5.000 (exactly), 125% of the change of −4.000" in told
    other = replace(explanation, output=1.0, gap=5.0)
    told = words.lead(other, scene(other), scene(other).outputs[0], found, "features")
    assert "carries −5.000 (exactly), against the change of +1.000" in told


def test_the_outline_goes_around_the_region():
    flat = np.ones((4, 5))
    explanation = geex.Explanation(flat, flat, 0.0, 1.0, 0.0, 0.0, 0, 1, np.inf, SHARES, MADE, flat)
    features = np.zeros((4, 5), bool)
    features[1:3, 2:4] = True
    found = region.Found(features.ravel(), 1.0, 0.0, 2.0)
    edges = re.findall(r"M(\d) (\d)([HV])(\d)", region.outline(scene(explanation), found))
    assert sorted(edges) == [("2", "1", "H", "4"), ("2", "1", "V", "3"), ("2", "3", "H", "4"), ("4", "1", "V", "3")]


def mine(answers):
    return 2 * answers


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"queries": 300, "baseline": [0.0, np.full(STEEP.shape, 0.1)], "features": geex.Groups(np.eye(12, dtype=int))},
        {"queries": 300, "method": geex.Regression(), "score": mine},
        {"queries": 900, "method": geex.GEEX(0.2), "stop": geex.Precise(0.5)},
        {"queries": 300, "baseline": lambda x: 0.5 * x},
    ],
    ids=["default", "baselines and groups", "score", "stop", "rule"],
)
def test_the_call_needs_no_name_that_it_does_not_mention(settings):
    explanation = geex.explain(spot, STEEP, progress=False, **settings)
    text = call(explanation)
    values = {"model": spot, "x": STEEP, "score": mine, "map": np.eye(12, dtype=int), "labels": np.eye(12, dtype=int)}
    baselines = settings.get("baseline")
    values["baseline"] = baselines[1] if isinstance(baselines, list) else baselines
    named = set(re.findall(r"^# (\w+): ", text, re.MULTILINE))
    scope = {name: value for name, value in values.items() if name in named}
    exec(text, scope)
    np.testing.assert_array_equal(scope["explanation"].values, explanation.values)


def test_the_call_of_a_row_has_the_row_in_it():
    data = rng.normal(size=(20, 4))
    rule = lambda z: np.tanh(z @ [1.0, -2.0, 0.5, 0.0])  # noqa: E731
    explanation = geex.explain(rule, data[0], baseline=geex.mean(data), progress=False)
    scope = {"model": rule}
    exec(call(explanation), scope)
    np.testing.assert_array_equal(scope["explanation"].values, explanation.values)


def test_the_page_has_its_date_and_the_names(spotted, tmp_path):
    text = spotted.report(tmp_path / "a.html", input_name="cat.jpg", model_name="net.onnx").read_text()
    today = datetime.date.today().isoformat()
    assert f'<p id="about">cat.jpg · net.onnx · {today}</p>' in text
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert (facts["Input"], facts["Model"], facts["Report of"]) == ("cat.jpg", "net.onnx", today)
    assert "Model’s identity" not in facts
    assert facts["Queries"] == "999 of 1,000 queries (queries come in pairs)"


def test_a_model_that_has_an_identity_is_named_by_it(spotted):
    class Known:
        identity = "a network"

        def __call__(self, z):
            return spot(z)

    assert f"<dd>{identity(Known())[:16]}</dd>" in page(spotted, Extras(model=Known()))


def test_a_notebook_shows_bars_and_the_picture(spotted, columns):
    image, table = (Tags(one._repr_html_()) for one in (spotted, columns))
    sources = [attributes["src"] for tag, attributes in image.tags if tag == "img"]
    assert len(sources) == 2
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not any(tag in ("script", "style", "link") for parsed in (image, table) for tag, _ in parsed.tags)
    cells = [text.split("\xa0")[0].removesuffix(" =") for text in table.text]
    values = columns.values_in_interval(0.95, simultaneous=True)
    order = np.lexsort((-np.abs(values), ~columns.significant()))
    assert [cell for cell in cells if cell in columns.names] == [columns.names[i] for i in order]
    bars = [a["style"] for tag, a in table.tags if tag == "div" and "height:10px" in a.get("style", "")]
    widths = [int(re.search(r"width:(\d+)px", bar)[1]) for bar in bars]
    np.testing.assert_allclose(widths, 120 * np.abs(values[order]) / np.abs(values).max(), atol=0.51)
    assert ["#8c8c8c" not in bar for bar in bars] == columns.significant()[order].tolist()


@pytest.mark.parametrize(
    ("output", "said"), [(-6.9, "< 0.002"), (-0.471, "0.384"), (0.0, "0.500"), (5.0, "0.993"), (18.0, "> 0.999")]
)
def test_log_odds_are_told_as_a_probability_too(output, said):
    assert chance("log-odds", output) == f", probability {said}"
    assert chance("probability", output) == ""
    seen = scene(explained(lambda z: z.sum(1), np.ones(3), geex.Shapley(), 100, labels=["cat"]))
    shown = replace(seen.outputs[0], output=output)
    explanation = explained(lambda z: z.sum(1) / 4, np.ones(3), geex.Shapley(), 100, score="log_odds")
    account = words.account(explanation, shown, "features")
    assert f"log-odds of “cat” are {words.number(output)}. At the baseline (0) they are 0." in account
    assert f"probability {said} (log-odds" in words.lead(explanation, seen, shown, None, "features")


def test_lists_are_told_as_they_are():
    """Two bytes are enough for a pixel; a list may have exact values of any size beside each other."""
    slopes = np.array([1000, 3, 1.9, 1, -0.5, 0.01, 250])
    exact = geex.explain(lambda z: z @ slopes, np.ones(7), method=geex.Shapley(), queries=200, progress=False)
    content = plain(scene(exact).outputs[0])
    np.testing.assert_allclose(content["values"], slopes, atol=1e-9)
    assert content["errors"] == [0] * 7


def test_the_only_output_of_a_model_needs_no_name():
    found = geex.explain(lambda z: z @ [3.0, -2.0, -5.0], np.ones(3), baseline=0.5, progress=False)
    text = page(found)
    assert "Why this score?" in text
    assert "The model’s answer: score −4." in text
    assert "the model’s score is −4. At the baseline (0.5) it is −2." in text
    assert "output 0" not in words.lead(found, scene(found), scene(found).outputs[0], None, "features")
