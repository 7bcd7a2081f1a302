"""python -m geex.demo [FILE]: explain ten garments, print what decided, draw it, and write a report.

The default method comes first, with the garments' own black as the baseline: up to 1,000 queries each. The paper's
method comes second, with the paper's settings: GEEX, Gaussian noise of deviation 1, baseline 0 (a dark grey), the
probability of the predicted class, up to 5,000 queries each.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import geex
from geex._results.numbers import probability
from geex._results.summary import spent, table
from geex.demo.drawing import draw
from geex.demo.garments import BLACK, garments, network
from geex.demo.run import garment
from geex.errors import GeexError
from geex.plot.view import scene
from geex.report.region import largest
from geex.report.words import place

# The first paragraph of the demo.
OPENING = """\
A small network names ten pictures of garments. geex only queries the network. It measures how much each part of
a picture counts for the decision: by how much the score falls, on average, when that part turns black.
"""
# How to read the first table.
MEANING = """\
"of the change": how much the part counts, compared with the change of the score from an all-black picture to the
garment. It can be above 100%, since other parts count against the decision.
"""
# The heading of the second table.
PAPER = """\
The paper's method, with the paper's settings: GEEX(sigma=1), baseline 0 (a dark grey), probability of the class.
Its values add up to the change for a blurred model; the gap is what that blur and the noise leave over.
"""


def main(path: Path) -> None:
    """Explain, print, draw."""
    model = network()
    pictures, _, names = garments()
    print(OPENING)
    start = time.perf_counter()
    usual = [one.named(labels=names) for one in geex.explain_batch(model, pictures, baseline=BLACK, progress=False)]
    print("\n".join(_decisions(usual, names)))
    print(f"\n{MEANING}\nEach took {spent(usual[0])}; all of it {time.perf_counter() - start:.1f} s.\n\n{PAPER}")
    start = time.perf_counter()
    method = geex.GEEX(sigma=1.0)
    paper = geex.explain_batch(model, pictures, method=method, score="softmax", queries=5000, progress=False)
    print("\n".join(_accounts(paper, names)))
    print(f"\nEach took {spent(paper[0])}; all of it {time.perf_counter() - start:.1f} s.\n")
    print(f"picture: {draw(pictures, usual, paper, names, path)}")
    report = path.with_suffix(".html").resolve()
    garment(report)
    print(f"report:  {report}")


def _decisions(explanations: list[geex.Explanation], names: list[str]) -> list[str]:
    """What was decided, how surely, by how many queries, and which part mattered most."""
    body = [[*_decided(one, names), f"{one.queries:,}", *_part(one)] for one in explanations]
    head = ["decided for", "probability", "queries", "counts most", "of the change", "95% interval"]
    return [line.rstrip() for line in table(head, body)]


def _decided(explanation: geex.Explanation, names: list[str]) -> list[str]:
    """The name and the probability of the decision: the network's answers are logits."""
    assert explanation.record is not None
    assert isinstance(explanation.target, int)
    answers = np.asarray(explanation.record.ends, np.float64)[0]
    chances = np.exp(answers - answers.max())
    return [names[explanation.target], probability(float(chances[explanation.target] / chances.sum()))]


def _part(explanation: geex.Explanation) -> list[str]:
    """Which ninth of the picture counts most, its share of the change of the score, and its interval."""
    seen = scene(explanation)
    found = largest(seen)[0]
    if found is None:
        return ["no part stands out", "", ""]
    change = float(explanation.output) - float(explanation.base_value)
    share, low, high = (f"{number / change:.0%}" for number in (found.value, found.low, found.high))
    return [place(seen, found), share, f"{low} to {high}"]


def _accounts(explanations: list[geex.Explanation], names: list[str]) -> list[str]:
    """f(x) − f(x̊) = Σ values + gap, for the paper's method."""
    body = []
    for e in explanations:
        assert isinstance(e.target, int)
        output, base, gap, error = (float(end) for end in (e.output, e.base_value, e.gap, e.gap_stderr))
        gap_text = f"{gap:+.3f} ± {error:.3f}".replace("-", "−")
        ends = [probability(output), probability(base)]
        body.append([names[e.target], *ends, f"{output - base:.3f}", f"{e.values.sum():.3f}", gap_text])
    head = ["decided for", "f(x)", "f(x̊)", "change", "sum of values", "gap ± std. error"]
    return [line.rstrip() for line in table(head, body)]


def _description() -> str:
    """The head of this file without the command."""
    return "Explain" + __doc__.partition(": explain")[2]


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m geex.demo", description=_description(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    told = "where the picture goes; the report goes beside it, as .html (default: %(default)s)"
    parser.add_argument("file", nargs="?", default="geex-demo.png", type=Path, metavar="FILE", help=told)
    return parser


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        main(arguments().parse_args().file)
    except GeexError as error:
        sys.exit(f"geex: {error}")
