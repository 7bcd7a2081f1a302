"""The demo: its baseline means absence, and what it says of queries is so."""

import re

import numpy as np
import pytest

import geex

pytest.importorskip("onnxruntime")

from geex.demo.__main__ import _accounts, _decisions, arguments
from geex.demo.garments import BLACK, garments, network
from geex.plot.view import scene
from geex.report.region import largest


@pytest.fixture(scope="module")
def explained():
    pictures, _, names = garments()
    model = network()
    usual = [geex.explain(model, x, baseline=BLACK, progress=False).named(labels=names) for x in pictures[8:]]
    paper = [geex.explain(model, pictures[9], method=geex.GEEX(sigma=1.0), score="softmax", progress=False)]
    return pictures[8:], usual, paper, names


def test_the_background_counts_for_nothing(explained):
    for picture, explanation in zip(explained[0], explained[1], strict=True):
        background = picture[0] == np.float32(BLACK)
        assert background.mean() > 0.3
        assert not explanation.values[background].any()
        assert not explanation.stderr[background].any()


def test_a_line_says_what_how_surely_by_how_many_queries_and_where(explained):
    _, usual, _, names = explained
    head, *lines = _decisions(usual, names)
    assert re.split(r"\s{2,}", head) == [
        "decided for",
        "probability",
        "queries",
        "counts most",
        "of the change",
        "95% interval",
    ]
    for line, explanation in zip(lines, usual, strict=True):
        name, probability, queries, place, *found = re.split(r"\s{2,}", line)
        assert name == names[explanation.target]
        assert probability == "> 0.999"
        assert int(queries) == explanation.queries <= 1000
        assert bool(found) == (largest(scene(explanation))[0] is not None)
        if not found:
            assert place == "no part stands out"
            continue
        share, interval = found
        assert re.fullmatch(r"(top|middle|bottom) (left|centre|right)", place)
        low, high = map(int, re.fullmatch(r"(−?-?\d+)% to (−?-?\d+)%", interval).groups())
        assert low <= int(share.rstrip("%")) <= high


def test_the_papers_account_adds_up(explained):
    _, _, paper, names = explained
    _, line = _accounts(paper, names)
    name, _, _, change, total, gap = re.split(r"\s{2,}", line)
    assert name == "Ankle boot"
    assert float(total) + float(gap.split(" ± ")[0].replace("−", "-")) == pytest.approx(float(change), abs=0.002)


def test_the_help_is_right_about_queries(explained):
    text = arguments().format_help()
    assert text.startswith("usage: python -m geex.demo")
    for explanation, budget in ((explained[1][0], "1,000"), (explained[2][0], "5,000")):
        assert f"up to {budget} queries each" in text
        assert explanation.settings.queries == int(budget.replace(",", ""))
