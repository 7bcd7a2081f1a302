"""docs/queries.md and its picture, from the tables."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.queries.entrants import BUDGETS, WHITE
from benchmarks.queries.table import FREE, MEASURES

Facts = dict[str, Any]
DELETION, OTHERS = tuple(MEASURES)[:2], tuple(MEASURES)[2:]
COLORS = {
    "ours": "#D55E00",
    "ours-probability": "#E69F00",
    "geex-half": "#0072B2",
    "geex": "#56B4E9",
    "rise": "#009E73",
    "lime": "#CC79A7",
    "occlusion": "#999999",
    "kernelshap": "#8C564B",
    "sampling": "#7F7F00",
    "partition": "#5B3A9B",
    **dict.fromkeys(WHITE, "black"),
}
MARGIN = -0.01

HEAD = """# Quality against queries

`make bench-queries` writes this page. All numbers are in `benchmarks/results/queries.json`. Budgets are counted model
evaluations, and no entrant exceeds its budget.

- **ours** is `geex.explain(model, x, target=…)` with no other argument than baseline, budget and seed. The model
  returns the probabilities of all classes, so it explains log-odds. **ours, probability** is the same with
  `score="answer"`.
- All others explain the probability. GEEX, RISE and LIME (superpixels by slic) are this library's own, after their
  papers. The tests compare LIME with the package `lime`. Occlusion, KernelShap and ShapleyValueSampling are captum's,
  Partition is shap's.
- Occlusion slides over as many positions as the budget allows. KernelShap and ShapleyValueSampling attribute to cells
  of a grid, at most 7 × 7, for photos 14 × 14. They use fewer cells where each would get less than two evaluations.
- IG and SG × (x − x̊) use gradients: they are white boxes, whatever the budget.
- All entrants hide with the same baseline: 0 for grey images, the blurred image for photos.

The measures are these; higher is better:

- **Deletion** is the AOPC of the probability, with removed pixels replaced by the baseline or by Gaussian noise.
- **Insertion** is the area under the curve of insertion into the baseline.
- **Predicted** is the share of variance of 240 unseen random masks that the values predict, among masks of the same
  kind and share shown. It is measured for the probability and for its log-odds.

Slow entrants ran on fewer images. Do not compare their means with the others'. Compare the differences: they are paired
over the images that both have, with 95% bootstrap intervals. The picture uses these differences: a rival's line is ours
less the difference.

![Deletion AOPC against queries](pictures/quality.png)
"""


def markdown(found: dict[str, Facts]) -> str:
    return "\n".join([HEAD, *(_section(facts) for facts in found.values() if facts["means"])])


def _section(facts: Facts) -> str:
    lines = [f"## {facts['title']}", "", f"{facts['images']} images; {facts['step']} pixels for each step.", ""]
    if facts["earlier"]:
        budgets, method = ", ".join(map(str, facts["earlier"]["budgets"])), facts["earlier"]["method"]
        lines += [f"Ours at {budgets} queries was measured with earlier settings: `{method}`.", ""]
    lines += _means(facts, "Deletion AOPC, baseline / Gaussian", DELETION)
    lines += _means(facts, "Insertion · predicted, probability / log-odds", OTHERS)
    lines += _differences(facts["ours minus reference"], "Ours minus", DELETION)
    peers = facts["ours minus peer at the same budget"]
    lines += _differences(peers, "Ours minus, at the same budget", tuple(MEASURES))
    return "\n".join(lines)


def _head(title: str) -> list[str]:
    return [f"| {title} | images | {' | '.join(map(str, BUDGETS))} |", "|---" * (2 + len(BUDGETS)) + "|"]


def _means(facts: Facts, title: str, measures: tuple[str, ...]) -> list[str]:
    lines = _head(title)
    for name, budgets in facts["means"].items():
        cells = [_numbers(budgets.get(str(budget)), measures) for budget in BUDGETS]
        if str(FREE) in budgets:
            cells = ["", "", "", "", "", _numbers(budgets[str(FREE)], measures)]
            name += " (white box)"
        lines.append(f"| {name} | {_images(budgets)} | {' | '.join(cells)} |")
    return [*lines, ""]


def _numbers(cell: Facts | None, measures: tuple[str, ...]) -> str:
    if cell is None:
        return "–"
    return " / ".join(f"{cell[measure]['mean']:.3f}" for measure in measures)


def _differences(others: Facts, title: str, measures: tuple[str, ...]) -> list[str]:
    if not others:
        return []
    lines = []
    for measure in measures:
        lines += _head(f"{title}: {measure}")
        for name, budgets in others.items():
            cells = [_difference(budgets.get(str(budget)), measure) for budget in BUDGETS]
            lines.append(f"| {name} | {_images(budgets)} | {' | '.join(cells)} |")
        lines.append("")
    return [*lines, f"Bold: behind on average, or the interval reaches below {MARGIN:.2f}.".replace("-", "−"), ""]


def _difference(cell: Facts | None, measure: str) -> str:
    if cell is None:
        return "–"
    one = cell[measure]
    text = f"{one['mean']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]"
    return f"**{text}**" if one["mean"] < 0 or one["low"] < MARGIN else text


def _images(budgets: Facts) -> str:
    counts = sorted({cell["images"] for cell in budgets.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"


def draw(found: dict[str, Facts], path: Path) -> None:
    """Draw deletion AOPC against queries, log axis: a panel for each data set and replacement.

    A rival's line is ours less the paired difference, so that rivals on fewer images are comparable.
    """
    from matplotlib.figure import Figure

    found = {data: facts for data, facts in found.items() if facts["means"]}
    figure = Figure(figsize=(11, 3.4 * len(found) + 0.8), layout="constrained")
    panels = figure.subplots(len(found), 2, sharex=True, squeeze=False)
    for row, facts in zip(panels, found.values(), strict=True):
        for panel, measure in zip(row, DELETION, strict=True):
            for key, color in COLORS.items():
                _line(panel, facts, measure, facts["titles"].get(key), color)
            panel.set(xscale="log", title=f"{facts['title']}, replaced by {measure.split(', ')[1]}", ylabel="AOPC")
            panel.set_xticks(BUDGETS, map(str, BUDGETS))
            panel.minorticks_off()
            panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("queries")
    named: dict[str, Any] = {}
    for panel in panels.ravel():
        handles, labels = panel.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _line(panel: Any, facts: Facts, measure: str, title: str | None, color: str) -> None:
    own, less = facts["means"]["ours"], facts["ours minus peer at the same budget"].get(title, {})
    if less or title == "ours":
        budgets = [budget for budget in BUDGETS if str(budget) in (less or own)]
        level, cells = ([one[str(budget)][measure] for budget in budgets] for one in (own, less or own))
        means, errors = (np.array([cell[key] for cell in cells]) for key in ("mean", "stderr"))
        means = np.array([cell["mean"] for cell in level]) - means if less else means
        wide = 1.2 if less else 2.4
        panel.plot(budgets, means, marker="o", markersize=4, color=color, label=title, linewidth=wide)
        panel.fill_between(budgets, means - errors, means + errors, color=color, alpha=0.1, linewidth=0)
    elif str(BUDGETS[-1]) in (white := facts["ours minus reference"].get(title, {})):
        last = str(BUDGETS[-1])
        mean = own[last][measure]["mean"] - white[last][measure]["mean"]
        style = "--" if title == "IG" else ":"
        panel.axhline(mean, color=color, linestyle=style, label=f"{title} (white box)")
