"""Explanations as text for people and as JSON for programs."""

from typing import Any

import numpy as np

from geex._results.explanation import Explanation
from geex._results.significance.findings import LEVEL
from geex._results.target_axis import is_single
from geex.plot.bars import name
from geex.plot.view import Output, Scene, output_name, scene
from geex.report.words import duration

# Features in the JSON of --json; a file holds all.
LISTED_IN_JSON = 20


def text_of(explanation: Explanation) -> str:
    """Return the explanation as it prints in Python, with its seed and duration."""
    took = "" if explanation.seconds is None else f", {duration(explanation.seconds)}"
    return f"{explanation!r}\nSeed {explanation.settings.seed}{took}."


def listed(seen: Scene, output: Output, count: int) -> list[dict[str, Any]]:
    """Return the first features of a list, with simultaneous 95% intervals, and which of them stand out."""
    values, (low, high), sure = output.shown(), output.interval(), output.p_values <= 1 - LEVEL
    return [
        {
            "feature": name(seen, int(i)),
            "value": float(values[i]),
            "stderr": _listed(output.stderr[i]),
            "simultaneous_interval": [_listed(low[i]), _listed(high[i])],
            "significant": bool(sure[i]),
        }
        for i in output.order(count)
    ]


def json_of(explanation: Explanation, everything: bool) -> dict[str, Any]:
    """Return the explanation as JSON can hold it; `everything` adds all values."""
    one = explanation.numpy()
    seen = scene(explanation, errors=False)
    labels = [output_name(target, one.labels) for target in one.targets]
    tops = [listed(seen, output, LISTED_IN_JSON) for output in seen.outputs]
    counts = [int(np.sum(output.p_values <= 1 - LEVEL)) for output in seen.outputs]
    found: dict[str, Any] = {
        "target": one.target,
        "label": labels[0] if is_single(one.target) else labels,
        "output": _listed(one.output),
        "base_value": _listed(one.base_value),
        "gap": _listed(one.gap),
        "gap_stderr": _listed(one.gap_stderr),
        "adds_up": one.adds_up,
        "estimand": one.estimand.to_dict(),
        "estimand_text": str(one.estimand),
        "queries": one.queries,
        "sent": one.sent,
        "failed": one.failed,
        "seconds": one.seconds,
        "partial": one.partial,
        "settings": _finite(one.settings.to_dict()),
        "shape": list(one.values.shape),
        "significant": counts[0] if is_single(one.target) else counts,
        "largest": tops[0] if is_single(one.target) else tops,
    }
    if everything:
        found |= {"names": one.names, "values": _listed(one.values), "stderr": _listed(one.stderr)}
        found |= {"centre": _listed(one.values if one.centre is None else one.centre)}
    return found


def _finite(value: Any) -> Any:
    """Return settings as JSON has them; null in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _listed(value: Any) -> Any:
    """Return numbers as JSON has them; null where they are not finite."""
    array = np.asarray(value, dtype=np.float64)
    made = array.astype(object)
    made[~np.isfinite(array)] = None
    return made.tolist()


def table(head: list[str], body: list[list[str]]) -> str:
    """Return a table as text: the first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    lines = []
    for first, *others in [head, *body]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return "\n".join(line.rstrip() for line in lines)
