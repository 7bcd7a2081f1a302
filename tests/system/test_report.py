"""The report in a browser: what it shows, wide and on a phone, in the dark and on paper."""

import re
import time
from itertools import pairwise

import numpy as np
import pytest

import geex
from geex.plot.view import scene
from geex.report import region
from tests.browser import browser  # noqa: F401
from tests.helpers import explained
from tests.reported import NASTY, PHOTO, columns_explained, looks, photo_explained, spot_explained


@pytest.fixture(scope="module")
def photo():
    return photo_explained()


@pytest.fixture(scope="module")
def columns():
    return columns_explained()


@pytest.fixture(scope="module")
def spotted():
    return spot_explained()


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
    use(shown, "#sure")  # greys from the start
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
    chance = ~doubtful.sure().reshape(12, 16)
    colours = pixels(shown)
    grey = (np.ptp(colours[..., :3], axis=-1) <= 12) & (colours[..., 3] > 20)
    assert grey[chance & (colours[..., 3] > 20)].all()
    assert not grey[~chance].any()
    use(shown, "#colours")
    assert shown.js("return getComputedStyle(document.querySelector('.frame img')).opacity") == "1"


def test_it_opens_with_the_input_beside_its_explanation(shown):
    boxes = (
        "return ['lead', 'input', 'picture'].map(i => document.getElementById(i).getBoundingClientRect())"
        ".map(b => [b.x, b.y, b.width, b.height])"
    )
    for width in (1000, 390):
        shown.width(width)
        lead, left, right = shown.js(boxes)
        assert lead[1] < left[1]
        assert left[1:] == pytest.approx(right[1:], abs=2.5)
        assert left[0] + left[2] <= right[0]
        assert right[1] + right[3] < 800


def test_what_may_be_noise_is_grey_from_the_start(shown, photo):
    seen = scene(photo)
    noise = ~seen.outputs[0].sure().reshape(12, 16)
    colours = pixels(shown)
    assert noise.any()
    assert (np.ptp(colours[..., :3], axis=-1) <= 12)[noise & (colours[..., 3] > 20)].all()
    assert shown.js("return document.getElementById('sure').checked")


def test_the_region_is_outlined_and_the_outline_goes(browser, spotted, tmp_path):  # noqa: F811
    window = browser.open(spotted.report(tmp_path / "spot.html"))
    drawn(window)
    path = "return document.querySelector('#outline path').getAttribute('d')"
    seen = scene(spotted)
    assert window.js(path) == region.outline(seen, region.largest(seen)[0]) != ""
    use(window, "#outlined")
    assert window.js(path) == ""
    assert window.console() == []


def test_the_technical_part_is_folded_and_printed(shown):
    code = "document.querySelector('#technical pre').checkVisibility({contentVisibilityAuto: true})"

    def becomes(wanted):
        return until(lambda: shown.js(f"return {code}"), lambda visible: visible is wanted) is wanted

    assert becomes(False)
    shown.js("document.querySelector('#technical summary').click()")
    assert becomes(True)
    shown.js("document.querySelector('#technical summary').click()")
    assert becomes(False)
    shown.emulate(medium="print")
    height = "return document.querySelector('#technical pre').getBoundingClientRect().height"
    assert until(lambda: shown.js(height), lambda found: found > 100) > 100
    assert becomes(True)


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
    assert shown.js(
        "return document.getElementById('picture').getAttribute('aria-label').includes('Most evidence for')"
    )
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
