"""What a run found, for people (a few lines) and for machines (JSON)."""

import shutil
import textwrap
from typing import Any

import numpy as np

from geex._results.explanation import Explanation
from geex._results.summary import called, end
from geex.plot.view import Output, Scene, output_name, scene
from geex.report.words import STOPPED, account, duration, number, signed

SHOWN = 5
LISTED = 20


def summary(explanation: Explanation, image: Any = None) -> str:
    """The end of a run: the decision, its account, the largest features, and what it cost."""
    seen = scene(explanation, image, errors=False)
    lines = []
    for output in seen.outputs:
        things = "features" if seen.index is None else "pixels"
        found = f"{output.label}: {number(output.output)}{called(explanation, output.output)}"
        lines += [found, _wrapped(account(explanation, output, things))]
        lines += [f"  {signed(value):>9} ± {number(error):<8} {name}" for name, value, error in largest(seen, output)]
    took = "" if explanation.seconds is None else f" in {duration(explanation.seconds)}"
    made = f"{explanation.settings.method}, baseline {explanation.settings.baseline}"
    part = f", {STOPPED}" if explanation.partial else end(explanation)
    cost = f"{explanation.queries:,} queries{took}{part}; {made}, seed {explanation.settings.seed}."
    return "\n".join([*lines, cost, explanation.advice()])


def _wrapped(text: str) -> str:
    """A paragraph as wide as the terminal, 100 at most."""
    width = min(shutil.get_terminal_size().columns, 100)
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def largest(seen: Scene, output: Output, count: int = SHOWN) -> list[tuple[str, float, float]]:
    """The features of the largest absolute values: name, value, standard error."""
    from geex.plot.bars import name

    order = np.argsort(-np.abs(output.values), kind="stable")[:count]
    return [(name(seen, int(i)), float(output.values[i]), float(output.stderr[i])) for i in order]


def plain(explanation: Explanation, everything: bool) -> dict[str, Any]:
    """An explanation as JSON can hold it; `everything`: with all values."""
    one = explanation.numpy()
    seen = scene(explanation, errors=False)
    targets = one.target if isinstance(one.target, list) else [one.target]
    told: dict[str, Any] = {
        "target": one.target,
        "label": [output_name(target, one.labels) for target in targets],
        **{name: _listed(getattr(one, name)) for name in ("output", "base_value", "gap", "gap_stderr")},
        "adds_up": one.adds_up,
        "estimand": one.estimand.to_dict(),
        "estimand_text": str(one.estimand),
        "queries": one.queries,
        "seconds": one.seconds,
        "partial": one.partial,
        "settings": one.settings.to_dict(),
        "shape": list(one.values.shape),
        "largest": [
            [{"feature": name, "value": value, "stderr": _listed(error)} for name, value, error in found]
            for found in (largest(seen, output, LISTED) for output in seen.outputs)
        ],
    }
    if not isinstance(one.target, list):
        told["label"], told["largest"] = told["label"][0], told["largest"][0]
    if everything:
        told |= {"names": one.names, "values": _listed(one.values), "stderr": _listed(one.stderr)}
    return told


def _listed(value: Any) -> Any:
    """Numbers as JSON has them: what is not finite is null."""
    array = np.asarray(value, dtype=np.float64)
    made = array.astype(object)
    made[~np.isfinite(array)] = None
    return made.tolist()


def rows(head: list[str], body: list[list[str]]) -> str:
    """A table in plain text: the first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    lines = []
    for first, *others in [head, *body]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return "\n".join(line.rstrip() for line in lines)
