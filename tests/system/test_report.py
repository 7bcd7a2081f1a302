"""The report: what stands in the file, and what a browser makes of it."""

import json
import re
import time
import zlib
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

import geex
from geex._results.settings import Settings
from geex.errors import InputError
from geex.methods import RISE
from geex.plot.view import scene
from geex.report import page, words
from geex.report.pack import packed, plain, png
from tests.browser import browser  # noqa: F401
from tests.helpers import explained

rng = np.random.default_rng(5)
SHARES, MADE = geex.Estimand("own", "within error"), Settings("shares")
PHOTO = rng.uniform(0.1, 1, (3, 12, 16)).astype(np.float32)
NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a & b",
    "\"quoted\" 'name'",
    "${title} $x",
]


def looks(z):
    """Five outputs, each of a column of the picture, as probabilities."""
    columns = np.asarray(z)[..., :5].mean((1, 2)) * np.array([5.0, 4, 3, 2, 1])
    odds = np.exp(columns - columns.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def photo():
    return explained(looks, PHOTO, geex.GEEX(0.3), 400, features=geex.Pixels(channels=0)).named(labels=NASTY)


@pytest.fixture(scope="module")
def columns():
    model = lambda z: np.stack([z @ [1.0, -2.0, 0.5, 0.0], z.sum(1)], axis=1)  # noqa: E731
    explanation = explained(model, np.array([1.0, 1.5, 2.0, 1.0]), geex.Presence(), 300, target=0)
    return explanation.named(labels=NASTY[:2], names=["pay", "<b>age</b>", "</script>", "nothing"])


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
        text = page(explanation, title="<title> & $title", call="geex explain '<script>'")
        seen = Tags(text)
        assert [tag for tag, _ in seen.tags].count("script") == 2
        assert not any("onerror" in attributes for _, attributes in seen.tags)
        assert all(src.startswith("data:") for _, attributes in seen.tags if (src := attributes.get("src")))
        assert "<title> & $title" in "".join(seen.text)
        assert "geex explain '<script>'" in "".join(seen.text)
        assert data_of(text)["outputs"][0]["label"] == explanation.labels[explanation.target]


def test_the_numbers_survive_the_packing():
    values, stderr = rng.normal(size=5000), rng.uniform(0.01, 2, 5000)
    stderr[:2] = 0, np.nan
    output = scene(
        geex.Explanation(values, stderr, 0.0, 0.0, 0.0, 0.0, 0, 1, np.inf, SHARES, MADE),
    ).outputs[0]
    content = packed(output, 2.0)
    whole = np.frombuffer(zlib.decompress(b64decode(content["packed"])), np.uint8)
    bytes_ = whole[:15000].reshape(3, -1).astype(int)
    assert (np.unpackbits(whole[15000:], count=5000) == output.sure(2.0)).all()
    unpacked = (bytes_[0] * 256 + bytes_[1] - 32768) * content["step"]
    assert np.abs(unpacked - values).max() <= content["step"] / 2 + 1e-12
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
    exec(words.call(explanation), scope)
    np.testing.assert_array_equal(scope["explanation"].values, explanation.values)


def test_what_a_call_cannot_say_it_names():
    explanation = explained(looks, PHOTO, geex.GEEX(0.3), 200, baseline=0 * PHOTO)
    assert "baseline=baseline,  # an array of shape (3, 12, 16)" in words.call(explanation)
    groups = explained(looks, PHOTO, geex.GEEX(0.3), 200, features=geex.Groups(np.eye(12, 16, dtype=int)))
    assert "features=geex.Groups(map)," in words.call(groups)


@pytest.mark.parametrize(
    ("errors_away", "freedom", "told"),
    [(1.9, np.inf, "no more than chance,"), (2.1, np.inf, "more than chance explains"), (2.1, 5.0, "no more than")],
)
def test_what_is_left_over_is_chance_within_its_interval(photo, errors_away, freedom, told):
    output = replace(scene(photo).outputs[0], gap=errors_away * 0.3, gap_stderr=0.3)
    assert told in words.account(replace(photo, freedom=freedom), output, "pixels")


def test_the_account_is_told(photo):
    output = scene(photo).outputs[0]
    told = words.account(photo, output, "pixels")
    for number in (output.output, output.base_value, output.total, output.gap, output.gap_stderr):
        assert words.number(abs(number)) in told
    rise = explained(looks, PHOTO, RISE(cells=3), 200)
    assert "not meant to add up" in words.account(rise, scene(rise).outputs[0], "pixels")
    exact = explained(lambda z: z.sum(1), np.ones(3), geex.Shapley(), 100)
    assert "Nothing is left over" in words.account(exact, scene(exact).outputs[0], "features")
    assert "+ left over 0" in words.sums(exact, scene(exact).outputs[0])


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0"), (0.12345, "0.123"), (-2.5, "−2.5"), (1234.5, "1234"), (1.23e-7, "1.2e−7"), (-4.56e9, "−4.6e9")],
)
def test_numbers_are_short(value, told):
    assert words.number(value) == told


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
    assert "Deletion curve" not in silent
    told = explanation.report(tmp_path / "told.html", model=watched).read_text()
    assert sum(asked) - before == 49
    assert "This took 49 more queries" in told
    curve = geex.evaluate.insertion(looks, PHOTO, explanation, step=20)
    assert "Insertion curve" in page(explanation, curves=[curve])
    with pytest.raises(InputError, match="curves="):
        explanation.numpy().report(tmp_path / "no.html", model=watched)


def test_a_score_below_zero_has_no_curve(tmp_path):
    model = lambda z: -z.sum((1, 2))  # noqa: E731
    explanation = explained(model, np.ones((4, 4)), geex.GEEX(0.3), 100)
    assert "There is no deletion curve" in page(explanation, model=model)


def test_a_loaded_explanation_has_a_report_too(photo, tmp_path):
    loaded = geex.Explanation.load(photo.save(tmp_path / "one.npz"))
    one, five = data_of(page(loaded)), data_of(page(photo))
    assert len(one["outputs"]) == 1
    assert len(five["outputs"]) == 5
    assert one["outputs"][0]["account"] == five["outputs"][0]["account"]
    assert words.call(loaded) == words.call(photo)


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
    assert '<label hidden><input type="checkbox" id="sure">' in text


# in a browser


def until(found, wanted):
    """What `found` gives, once that is what is wanted, or at the latest after half a minute."""
    end = time.monotonic() + 30
    while not wanted(found()) and time.monotonic() < end:
        time.sleep(0.02)
    return found()


def drawn(window, last=0):
    """Waits until the page has drawn anew, and says how often it has."""
    count = until(
        lambda: int(window.js("return document.documentElement.dataset.drawn || 0")), lambda count: count > last
    )
    assert count > last, f"nothing was drawn; the console says {window.console()}"
    return count


def use(window, selector, value=None):
    """Works a control as a person does, and waits for the picture."""
    before = int(window.js("return document.documentElement.dataset.drawn"))
    window.js(
        "const c = document.querySelector(arguments[0]); if (arguments[1] === null) { c.click(); } else {"
        "c.value = arguments[1]; c.dispatchEvent(new Event('input', {bubbles: true})); }",
        selector,
        value,
    )
    drawn(window, before)


def pixels(window):
    code = "const c = document.getElementById('picture'); return Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"  # noqa: E501
    return np.array(window.js(code)).reshape(12, 16, 4)


@pytest.fixture
def shown(browser, photo, tmp_path):  # noqa: F811
    window = browser.open(photo.report(tmp_path / "photo.html", model=looks))
    window.width(1000)
    window.emulate()
    drawn(window)
    yield window
    assert window.console() == []
    assert window.requests() == []


def test_the_controls_change_the_picture(shown, photo):
    start = pixels(shown)
    values = np.asarray(photo.values)
    strong = np.abs(values) > 0.3 * np.abs(values).max()
    assert ((start[..., 0] > start[..., 2]) == (values > 0))[strong].all()
    use(shown, "[name=sign][value=for]")
    assert (pixels(shown)[..., 3][values < 0] == 0).all()
    use(shown, "[name=sign][value=against]")
    assert (pixels(shown)[..., 3][values > 0] == 0).all()
    use(shown, "[name=sign][value=both]")
    assert (pixels(shown) == start).all()
    use(shown, "#opacity", 40)
    assert pixels(shown)[..., 3].max() == round(255 * 0.4)
    use(shown, "#opacity", 85)
    use(shown, "#strongest", 10)
    left = np.abs(values)[pixels(shown)[..., 3] > 0]
    assert left.size == round(0.1 * values.size)
    assert left.min() >= np.sort(np.abs(values).ravel())[-left.size] * 0.99
    use(shown, "#strongest", 100)
    use(shown, "#sure")
    doubtful = scene(photo).outputs[0]
    chance = ~doubtful.sure(scene(photo).reach(0.95)).reshape(12, 16)
    colours = pixels(shown)
    grey = (np.ptp(colours[..., :3], axis=-1) <= 12) & (colours[..., 3] > 20)
    assert grey[chance & (colours[..., 3] > 20)].all()
    assert not grey[~chance].any()
    use(shown, "#colours")
    assert shown.js("return getComputedStyle(document.querySelector('.frame img')).opacity") == "1"


def test_outputs_are_switched(shown, photo):
    start = pixels(shown)
    labels = shown.js("return [...document.querySelectorAll('#outputs label')].map(l => l.lastChild.textContent)")
    assert sorted(labels) == sorted(NASTY)
    use(shown, "[name=output][value='1']")
    assert (pixels(shown) != start).any()
    account = shown.js("return document.getElementById('account').textContent")
    assert f"“{labels[1]}”" in account
    assert shown.js("return document.querySelector('.tested').hidden") is True
    use(shown, "[name=output][value='0']")
    assert (pixels(shown) == start).all()
    assert shown.js("return document.querySelector('.tested').hidden") is False


def test_the_pixel_under_the_pointer_and_the_focus_is_told(shown, photo):
    def readout():
        return shown.js("return document.getElementById('readout').textContent")

    def reads(start):
        assert until(readout, lambda text: text.startswith(start)).startswith(start)

    def number(text):
        return float(text.replace("−", "-"))

    shown.js(
        "const c = document.getElementById('picture'), b = c.getBoundingClientRect();"
        "c.dispatchEvent(new PointerEvent('pointermove',"
        "{clientX: b.left + b.width * 3.5 / 16, clientY: b.top + b.height * 7.5 / 12}))"
    )
    reads("Row 7, column 3: ")
    value, error = re.search(r": ([+−\d.e]+) ± ([\d.e−]+)", readout()).groups()
    step = 0.02 * np.abs(photo.values).max()
    assert number(value) == pytest.approx(photo.values[7, 3], abs=step)
    assert number(error) == pytest.approx(photo.stderr[7, 3], rel=0.1)
    from selenium.webdriver.common.keys import Keys

    picture = shown.driver.find_element("id", "picture")
    picture.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    reads("Row 9, column 4: ")
    picture.send_keys(*[Keys.ARROW_LEFT] * 9)
    reads("Row 9, column 0: ")
    assert shown.js("return document.activeElement.id") == "picture"


def test_it_fits_a_phone_and_every_control_has_a_name(shown):
    shown.width(360)
    assert shown.js("return document.documentElement.scrollWidth") <= 360
    unnamed = "return [...document.querySelectorAll('input')].filter(i => !i.labels.length || !i.labels[0].innerText.trim()).length"  # noqa: E501
    assert shown.js(unnamed) == 0
    assert shown.js("return [...document.querySelectorAll('img')].every(i => i.alt)")
    assert shown.js("return document.getElementById('picture').getAttribute('aria-label').includes('Most that spoke')")
    headings = shown.js("return [...document.querySelectorAll('h1,h2,h3')].map(h => Number(h.tagName[1]))")
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))


CONTRAST = """
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (rgb(c)[3] !== 0) return rgb(c); } return [255, 255, 255]; };
return [...document.querySelectorAll('h1,h2,h3,p,label,legend,td,th,caption,dt,dd,pre,output,svg text')]
  .filter(e => e.textContent.trim() && e.getClientRects().length)
  .map(e => { const s = getComputedStyle(e);
    const a = light(rgb(e.closest('svg') ? s.fill : s.color)), b = light(behind(e));
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName + ' ' + e.textContent.trim().slice(0, 30)]; })
  .filter(([ratio]) => ratio < 4.5)
"""


@pytest.mark.parametrize("media", [{"scheme": "light"}, {"scheme": "dark"}, {"medium": "print", "scheme": "dark"}])
def test_text_has_contrast_in_light_dark_and_print(shown, media):
    shown.emulate(**media)
    assert shown.js(CONTRAST) == []
    paper = shown.js("return getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 22, 26)" if media == {"scheme": "dark"} else "rgb(255, 255, 255)")
    if "medium" in media:
        assert shown.js("return document.querySelector('.side').getClientRects().length") == 0


def test_columns_are_a_list(browser, columns, tmp_path):  # noqa: F811
    window = browser.open(columns.report(tmp_path / "columns.html"))
    drawn(window)
    rows = "return [...document.querySelectorAll('#features tr')].map(r => r.innerText.replace(/\\s+/g, ' '))"
    listed = window.js(rows)
    order = np.argsort(-np.abs(columns.values), kind="stable")
    assert [row.split(" ")[0] for row in listed] == [columns.names[i] for i in order]
    use(window, "[name=sign][value=against]")
    assert [row.split(" ")[0] for row in window.js(rows)] == [columns.names[i] for i in order if columns.values[i] < 0]
    use(window, "[name=sign][value=both]")
    use(window, "#strongest", 25)
    assert len(window.js(rows)) == 1
    window.width(360)
    assert window.js("return document.documentElement.scrollWidth") <= 360
    assert window.console() == []
    assert window.requests() == []


def test_segments_are_one_feature_each(browser, tmp_path):  # noqa: F811
    halves = np.repeat([[4, 9]], 12, axis=0).repeat(8, axis=1)
    explanation = explained(looks, PHOTO, geex.Shapley(), 100, features=geex.Groups(halves))
    window = browser.open(explanation.report(tmp_path / "segments.html"))
    drawn(window)
    shown = pixels(window)
    assert (shown[:, :8] == shown[0, 0]).all()
    assert (shown[:, 8:] == shown[0, 15]).all()
    window.js("document.getElementById('picture').focus()")
    place = "group 9 (row 6, column 8)"
    assert place in until(
        lambda: window.js("return document.getElementById('readout').textContent"), lambda text: place in text
    )
    assert window.console() == []


@pytest.mark.parametrize(
    ("output", "said"),
    [(-6.9, "below 0.2%"), (-0.471, "of 38.4%"), (0.0, "of 50.0%"), (6.5, "of 99.85%"), (18.0, "above 99.99%")],
)
def test_log_odds_are_told_as_a_chance_too(output, said):
    assert words.chance("log-odds", output) == f", a chance {said}"
    assert words.chance("probability", output) == ""
    seen = scene(explained(lambda z: z.sum(1), np.ones(3), geex.Shapley(), 100, labels=["cat"]))
    shown = replace(seen.outputs[0], output=output)
    explanation = explained(lambda z: z.sum(1) / 4, np.ones(3), geex.Shapley(), 100, score="log_odds")
    assert f"log-odds of “cat” are {words.number(output)}." in words.account(explanation, shown, "features")


def test_lists_are_told_as_they_are():
    """Two bytes are enough for a pixel; a list may have exact values of any size beside each other."""
    slopes = np.array([1000, 3, 1.9, 1, -0.5, 0.01, 250])
    exact = geex.explain(lambda z: z @ slopes, np.ones(7), method=geex.Shapley(), queries=200, progress=False)
    content = plain(scene(exact).outputs[0])
    np.testing.assert_allclose(content["values"], slopes, atol=1e-9)
    assert content["errors"] == [0] * 7
