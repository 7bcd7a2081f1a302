"""The parts of the page that depend on what is explained."""

import json
from html import escape
from typing import Any

import numpy as np

from geex._results.explanation import Explanation
from geex._results.numbers import Column, column, number
from geex.evaluate import Curve
from geex.plot.tint import Look, tinted
from geex.plot.view import Output, Scene
from geex.report import words
from geex.report.chart import chart
from geex.report.pack import data_url, deflated, packed, plain
from geex.report.region import Found, outline

SMALL_PICTURE = 160  # below this many pixels across, pixels are drawn as squares
LIST_ROWS = 30  # of a list of features


class Markup(str):
    """Text that is HTML already: made here, with everything from outside escaped."""

    __slots__ = ()


def texts(explanation: Explanation, seen: Scene, output: Output, found: Found | None, things: str) -> dict[str, Any]:
    """Return the sentences about one output, and the outline of the part that counts most."""
    texts: dict[str, Any] = {
        "target": output.target,
        "label": output.label,
        "lead": words.lead(explanation, seen, output, found, things),
        "account": words.account(explanation, output, things),
        "sum": words.sums(explanation, output),
        "outline": outline(seen, found),
        "ninths": [],
    }
    if seen.index is not None:
        parts = words.ninths(seen, output, not explanation.adds_up)
        numbers = column(parts)
        texts["alternative"] = words.alternative(seen, output, not explanation.adds_up)
        texts["ninths"] = [f"{numbers.signed(part)}{f' × {numbers.unit}' * bool(numbers.exponent)}" for part in parts]
    return texts


def style(seen: Scene) -> Column:
    """Return how the numbers of a list are written: alike for all outputs."""
    first = [(output, output.order(LIST_ROWS)) for output in seen.outputs]
    values = np.concatenate([output.shown()[order] for output, order in first])
    return column(values.tolist(), np.concatenate([output.stderr[order] for output, order in first]).tolist())


def stage(seen: Scene, first: dict[str, Any], total: int, numbers: Column) -> Markup:
    """Return where it is shown: the input beside its explanation, or the list of features."""
    return _list(seen, total, numbers) if seen.index is None else _picture(seen, first)


def _picture(seen: Scene, first: dict[str, Any]) -> Markup:
    assert seen.picture is not None
    height, width = seen.picture.shape[:2]
    small = " small" if max(height, width) < SMALL_PICTURE else ""
    size = f'width="{width}" height="{height}"'
    still = data_url(tinted(seen, seen.outputs[0], Look("sure")))
    return Markup(f"""<div class="pair{small}">
      <figure><img id="input" src="{data_url(seen.picture)}" {size} alt="The input">
        <figcaption>The input</figcaption></figure>
      <figure><div class="frame" id="frame">
        <img id="under" {size} alt="The input in grey" hidden>
        <canvas id="picture" {size} tabindex="0" role="application"
          aria-roledescription="picture with values" aria-label="{escape(first["alternative"])}"
          aria-describedby="readout"></canvas>
        <noscript><img src="{still}" {size} alt="{escape(first["alternative"])}"></noscript>
        <svg id="outline" viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true"><path
          class="halo" d="{first["outline"]}"/><path d="{first["outline"]}"/></svg>
        <div id="cursor" hidden></div>
      </div>
        <figcaption>Its explanation: <b class="for">orange</b> counts for the answer, <b class="against">blue</b>
          against it; what may be noise is grey</figcaption></figure>
      <p class="scale" aria-hidden="true"><span>against <span id="scale-low"></span></span>
        <span class="ramp" id="ramp"></span><span><span id="scale-high"></span> for</span></p>
      <p id="readout" role="status">Point at the explanation, or focus it and use the arrow keys, to read a value.</p>
    </div>""")


def _list(seen: Scene, total: int, numbers: Column) -> Markup:
    count = len(seen.outputs[0].values)
    few = "All features" if total <= LIST_ROWS else f"{min(LIST_ROWS, count)} of {total:,} features"
    output = seen.outputs[0]
    order = output.order(LIST_ROWS)
    names = _names(seen)
    rows = "".join(
        f'<tr><th scope="row">{escape(names[i])}</th><td class="bar"></td><td>{_value(output, i, numbers)}</td></tr>'
        for i in order
    )
    unit = f", × {numbers.unit}" if numbers.unit else ""
    return Markup(f"""<div class="scroll">
      <table class="features">
        <caption>{few}, those that stand out first: value ± standard error. Lines are 95% intervals, which hold
          for all features together. Grey bars may be noise.</caption>
        <thead><tr><th scope="col">Feature</th><th scope="col">against · for</th>
          <th scope="col">Value{unit}</th></tr></thead>
        <tbody id="features">{rows}</tbody>
      </table>
    </div>""")


def _names(seen: Scene) -> list[str]:
    """Names of features, with what x has there."""
    return [name + seen.cell(i) for i, name in enumerate(seen.names)]


def _value(output: Output, feature: int, numbers: Column) -> str:
    error = float(output.stderr[feature])
    return numbers.signed(float(output.shown()[feature])) + ("" if np.isnan(error) else f" ± {numbers.text(error)}")


def outputs(given: list[Output]) -> Markup:
    """The switch between outputs."""
    return Markup(
        "\n".join(
            f'<label><input type="radio" name="output" value="{i}"{" checked" if i == 0 else ""}> '
            f'<span class="amount">{escape(number(output.output))}</span>{escape(output.label)}</label>'
            for i, output in enumerate(given)
        )
    )


def ninths(explanation: Explanation, seen: Scene, first: dict[str, Any]) -> Markup:
    """The picture as a table of three by three: what can be read aloud."""
    if seen.index is None:
        return Markup("")
    what = "Values, summed over each ninth" if explanation.adds_up else "Mean value of each ninth"
    head = "".join(f'<th scope="col">{column}</th>' for column in words.COLUMN_WORDS)
    cells = [f"<td>{escape(part)}</td>" for part in first["ninths"]]
    rows = "".join(
        f'<tr><th scope="row">{row}</th>{"".join(cells[3 * i : 3 * i + 3])}</tr>'
        for i, row in enumerate(words.ROW_WORDS)
    )
    return Markup(f"""<section aria-labelledby="ninths-heading">
    <h3 id="ninths-heading">The picture in nine numbers</h3>
    <div class="scroll"><table id="ninths"><caption>{what}</caption>
      <thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>
  </section>""")


def drawn(curve: Curve | str, things: str, place: int) -> str:
    """A curve with what it means, or why there is none."""
    if isinstance(curve, str):
        return f"<section><h2>Test</h2><p>{escape(curve)}</p></section>"
    shown = words.deletion(curve, things) if curve.kind == "deletion" else words.insertion(curve, things)
    return f"""<section class="tested" data-target="{curve.target}" aria-labelledby="curve-{place}">
    <h2 id="curve-{place}">Test: {escape(curve.kind)}</h2>
    <p>{escape(shown)}</p>
    {chart(curve)}
  </section>"""


def data(seen: Scene, sentences: list[dict[str, Any]], numbers: Column) -> str:
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
        "rows": LIST_ROWS,
        "exponent": numbers.exponent,
        "decimals": numbers.decimals,
        "outputs": [
            {
                **one,
                **packed(output),
                "limit": output.limit(),
                "origin": output.origin,
                "reach": output.reach(),
                **(plain(output) if seen.index is None else {}),
            }
            for one, output in zip(sentences, seen.outputs, strict=True)
        ],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
