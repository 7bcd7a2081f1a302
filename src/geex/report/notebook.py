"""An explanation as a piece of HTML for notebooks: no script, no style sheet, nothing loaded; all text is escaped."""

from html import escape

import numpy as np

from geex._results.account import Account
from geex._results.certainty import certainty, explained_answers
from geex._results.explanation import Explanation
from geex._results.numbers import Column, column
from geex._results.summary import against, caveats, spent
from geex.plot.bars import name
from geex.plot.tint import Look, tinted
from geex.plot.view import Output, Scene, scene
from geex.report.pack import data_url
from geex.report.words import account_in

# Features with a bar.
NOTEBOOK_FEATURES = 10
NOTEBOOK_SIDE = 224  # pixels of a picture on the screen
WIDE = 120  # pixels of the longest bar
# The style of a cell, up to its alignment.
CELL = "padding:2px 10px 2px 0;text-align:"
COLOURS = {1: "#d55e00", -1: "#0072b2", 0: "#8c8c8c"}


def shown(explanation: Explanation) -> str:
    """Return the explanation as HTML."""
    seen = scene(explanation)
    made = ", ".join(str(p) for p in (explanation.settings.method, against(explanation), spent(explanation)) if p)
    parts = [_output(explanation, seen, output) for output in seen.outputs]
    note = f'<p style="max-width:46em;color:#777">{escape(" ".join(caveats(explanation)))}</p>'
    nothing = escape(explanation.nothing_found)
    return f"<div>{f'<p><b>{nothing}</b></p>' * bool(nothing)}<p>{escape(made)}</p>{''.join(parts)}{note}</div>"


def _output(explanation: Explanation, seen: Scene, output: Output) -> str:
    how = certainty(explanation, output.target, output.output, explained_answers(explanation))
    head = f"<p><b>{escape(output.label)}</b>: {escape(how)}</p>"
    return f"{head}{_pictures(seen, output)}{_features(seen, output)}{_account(account_in(explanation, output))}"


def _pictures(seen: Scene, output: Output) -> str:
    """The input beside its explanation, in which grey may be noise."""
    if seen.index is None or seen.picture is None:
        return ""
    look = f"width:{NOTEBOOK_SIDE}px;image-rendering:{'pixelated' if max(seen.index.shape) < NOTEBOOK_SIDE else 'auto'}"
    pair = (("The input", seen.picture), ("Its explanation", tinted(seen, output, Look("sure"))))
    return "".join(
        f'<img alt="{alt}" src="{data_url(picture)}" style="{look};margin-right:8px">' for alt, picture in pair
    )


def _features(seen: Scene, output: Output) -> str:
    """The first features with bars; grey where the value may be noise."""
    order = output.order(NOTEBOOK_FEATURES)
    values, errors, sure = output.shown()[order], output.stderr[order], output.sure()[order]
    low, high = (end[order] for end in output.interval())
    numbers = column(values.tolist(), errors.tolist())
    longest = float(np.abs(values).max()) or 1.0
    rows = [
        _row(
            [
                escape(name(seen, int(i)) + seen.cell(int(i))),
                _bar(value / longest, certain),
                numbers.signed(value),
                "" if np.isnan(error) else f"± {numbers.text(error)}",
                numbers.interval(*ends),
            ]
        )
        for i, value, error, certain, *ends in zip(order, values, errors, sure, low, high, strict=True)
    ]
    unit = f", × {numbers.unit}" if numbers.unit else ""
    head = _row(["Feature", "", f"Value{unit}", "Std. error", "95% interval"], "th")
    return f'<table style="font-variant-numeric:tabular-nums">{head}{"".join(rows)}</table>'


def _account(found: Account) -> str:
    """f(x̊) + Σ values + left = f(x) in one line."""
    numbers: Column = column([found.base, found.output, found.total], [] if found.exact else [found.error])
    ends = f"f(x̊) {numbers.text(found.base)}", f"f(x) {numbers.text(found.output)}"
    unit = f" (× {numbers.unit})" if numbers.unit else ""
    if not found.comparable:
        return f"<p>{ends[0]}, {ends[1]}{unit}. The values are not parts of this change.</p>"
    error = "" if found.exact or np.isnan(found.error) else f" ± {numbers.text(found.error)}"
    left = "0" if found.exact else f"{numbers.signed(found.left)} {numbers.interval(found.low, found.high)}".strip()
    total = f"sum of the values {numbers.signed(found.total)}{error}"
    return f"<p>{ends[0]}, {total}, {found.left_is} {left}, {ends[1]}{unit}</p>"


def _bar(share: float, sure: bool) -> str:
    colour = COLOURS[int(np.sign(share)) if sure else 0]
    width = round(WIDE * abs(float(share)))
    return f'<div style="background:{colour};height:10px;width:{width}px"></div>'


def _row(cells: list[str], tag: str = "td") -> str:
    sides = ["left", "left", "right", "right", "left"]
    inner = (f'<{tag} style="{CELL}{side}">{cell}</{tag}>' for cell, side in zip(cells, sides, strict=True))
    return f"<tr>{''.join(inner)}</tr>"
