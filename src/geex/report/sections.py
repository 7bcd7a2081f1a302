"""The parts of the page that depend on what is explained."""

import json
from html import escape
from typing import Any

import numpy as np

from geex._results.explanation import Explanation
from geex.evaluate import Curve
from geex.plot.tint import Look, tinted
from geex.plot.view import Output, Scene
from geex.report import words
from geex.report.chart import chart
from geex.report.pack import data_url, deflated, packed, plain

SMALL = 160  # below this many pixels across, pixels are drawn as squares
ROWS = 30  # of a list of features


class Markup(str):
    """Text that is HTML already: made here, with everything from outside escaped."""

    __slots__ = ()


def texts(explanation: Explanation, seen: Scene, output: Output, things: str) -> dict[str, Any]:
    """What is said about one output."""
    told: dict[str, Any] = {
        "target": output.target,
        "label": output.label,
        "lead": words.lead(explanation, output, things),
        "account": words.account(explanation, output, things),
        "sum": words.sums(explanation, output),
        "ninths": [],
    }
    if seen.index is not None:
        told["alternative"] = words.alternative(seen, output, not explanation.adds_up)
        told["ninths"] = [words.signed(part) for part in words.ninths(seen, output, not explanation.adds_up)]
    return told


def stage(seen: Scene, told: dict[str, Any], total: int) -> Markup:
    """Where it is shown: the picture, or the list of features."""
    return _list(seen, total) if seen.index is None else _picture(seen, told)


def _picture(seen: Scene, told: dict[str, Any]) -> Markup:
    assert seen.picture is not None
    height, width = seen.picture.shape[:2]
    small = " small" if max(height, width) < SMALL else ""
    still = data_url(tinted(seen, seen.outputs[0], Look()))
    return Markup(f"""<div>
      <div class="frame{small}" id="frame">
        <img src="{data_url(seen.picture)}" width="{width}" height="{height}" alt="The input">
        <canvas id="picture" width="{width}" height="{height}" tabindex="0" role="application"
          aria-roledescription="picture with values" aria-label="{escape(told["alternative"])}"
          aria-describedby="readout"></canvas>
        <div id="cursor" hidden></div>
        <noscript><img src="{still}" width="{width}" height="{height}" alt="{escape(told["alternative"])}"></noscript>
      </div>
      <p class="scale" aria-hidden="true"><span>against <span id="scale-low"></span></span>
        <span class="ramp" id="ramp"></span><span><span id="scale-high"></span> for</span></p>
      <p id="readout" role="status">Point at the picture, or focus it and use the arrow keys, to read a value.</p>
    </div>""")


def _list(seen: Scene, total: int) -> Markup:
    count = len(seen.outputs[0].values)
    few = "All features" if total <= ROWS else f"The {min(ROWS, count)} largest of {total:,} features"
    output = seen.outputs[0]
    order = np.argsort(-np.abs(output.values), kind="stable")[:ROWS]
    names = _names(seen)
    rows = "".join(
        f'<tr><th scope="row">{escape(names[i])}</th><td class="bar"></td><td>{_told(output, i)}</td></tr>'
        for i in order
    )
    return Markup(f"""<div class="scroll">
      <table class="features">
        <caption>{few}, each with its share ± standard error; lines are 95% intervals</caption>
        <thead><tr><th scope="col">Feature</th><th scope="col">against · for</th><th scope="col">Share</th></tr></thead>
        <tbody id="features">{rows}</tbody>
      </table>
    </div>""")


def _names(seen: Scene) -> list[str]:
    """Names of features, with what x has there."""
    return [name + seen.cell(i) for i, name in enumerate(seen.names)]


def _told(output: Output, feature: int) -> str:
    error = output.stderr[feature]
    return words.signed(float(output.values[feature])) + ("" if np.isnan(error) else f" ± {words.number(float(error))}")


def outputs(given: list[Output]) -> Markup:
    """The switch between outputs."""
    return Markup(
        "\n".join(
            f'<label><input type="radio" name="output" value="{i}"{" checked" if i == 0 else ""}> '
            f'<span class="amount">{escape(words.number(output.output))}</span>{escape(output.label)}</label>'
            for i, output in enumerate(given)
        )
    )


def ninths(explanation: Explanation, seen: Scene, told: dict[str, Any]) -> Markup:
    """The picture as a table of three by three: what can be read aloud."""
    if seen.index is None:
        return Markup("")
    what = "Shares, summed over each ninth" if explanation.adds_up else "Mean value of each ninth"
    head = "".join(f'<th scope="col">{column}</th>' for column in words.COLUMNS)
    cells = [f"<td>{escape(part)}</td>" for part in told["ninths"]]
    rows = "".join(
        f'<tr><th scope="row">{row}</th>{"".join(cells[3 * i : 3 * i + 3])}</tr>' for i, row in enumerate(words.ROWS)
    )
    return Markup(f"""<section aria-labelledby="ninths-heading">
    <h2 id="ninths-heading">The picture in nine numbers</h2>
    <div class="scroll"><table id="ninths"><caption>{what}</caption>
      <thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>
  </section>""")


def drawn(curve: Curve | str, things: str, place: int) -> str:
    """A curve with what it means, or why there is none."""
    if isinstance(curve, str):
        return f"<section><h2>Is it right?</h2><p>{escape(curve)}</p></section>"
    said = words.deletion(curve, things) if curve.kind == "deletion" else words.insertion(curve, things)
    return f"""<section class="tested" data-target="{curve.target}" aria-labelledby="curve-{place}">
    <h2 id="curve-{place}">Is it right? {escape(curve.kind.capitalize())}</h2>
    <p>{escape(said)}</p>
    {chart(curve)}
  </section>"""


def data(seen: Scene, told: list[dict[str, Any]]) -> str:
    """Everything that the script reads, as JSON that cannot end the element it stands in."""
    grid = (
        {"width": 0, "height": 0}
        if seen.index is None
        else dict(zip(("height", "width"), seen.index.shape, strict=True))
    )
    shared = seen.index is not None and not np.array_equal(seen.index.ravel(), np.arange(seen.index.size))
    content = {
        **grid,
        "features": len(seen.outputs[0].values),
        "index": deflated(np.asarray(seen.index, "<i4").tobytes()) if shared else None,
        "names": _names(seen),
        "rows": ROWS,
        "reach": seen.reach(0.95),
        "outputs": [
            {
                **said,
                **packed(output, seen.reach(0.95)),
                "limit": output.limit(),
                "origin": output.origin,
                **(plain(output) if seen.index is None else {}),
            }
            for said, output in zip(told, seen.outputs, strict=True)
        ],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
