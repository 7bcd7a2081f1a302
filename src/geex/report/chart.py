"""A curve as a drawing in the page (SVG), which needs no script."""

from html import escape

from geex.evaluate import Curve
from geex.plot.curves import number, points

# The size of the chart, in units of its view box.
CHART_WIDTH, CHART_HEIGHT = 440, 240
# The ends of its axes.
AXIS_LEFT, AXIS_TOP, AXIS_RIGHT, AXIS_BOTTOM = 36, 14, 418, 194


def chart(curve: Curve) -> str:
    """The score over f(x) against the share of features."""
    shares, scores = points(curve)
    low, high = min(0.0, float(scores.min())), max(1.0, float(scores.max()))

    def at(share: float, score: float) -> tuple[float, float]:
        x = AXIS_LEFT + (AXIS_RIGHT - AXIS_LEFT) * share
        return round(x, 1), round(AXIS_BOTTOM - (AXIS_BOTTOM - AXIS_TOP) * (score - low) / (high - low), 1)

    path = " ".join(f"{x},{y}" for x, y in (at(float(a), float(b)) for a, b in zip(shares, scores, strict=True)))
    levels = [(score, at(0, score)[1]) for score in (0.0, 0.5, 1.0)]
    lines = "".join(
        f'<line class="axis" x1="{AXIS_LEFT}" x2="{AXIS_RIGHT}" y1="{y}" y2="{y}" opacity="0.4"/>' for _, y in levels
    )
    marks = "".join(f'<text x="{AXIS_LEFT - 8}" y="{y + 4}" text-anchor="end">{score:g}</text>' for score, y in levels)
    ticks = "".join(
        f'<text x="{at(share, 0)[0]}" y="{AXIS_BOTTOM + 18}" text-anchor="middle">{share:.0%}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    what = "removed" if curve.kind == "deletion" else "put back"
    below = f"features {what} (score of the input = 1)"
    title = f"{curve.kind.capitalize()} curve, {number(curve)}"
    return f"""<svg class="curve" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" aria-label="{escape(title)}">
      {lines}<polyline class="path" points="{path}"/>{marks}{ticks}
      <text x="{(AXIS_LEFT + AXIS_RIGHT) / 2}" y="{CHART_HEIGHT - 8}" text-anchor="middle">{below}</text>
    </svg>"""
