"""docs/tables.md: what the cells say, losses included."""

from typing import Any

from benchmarks.tables.cases import Setting
from benchmarks.tables.cells import Key
from benchmarks.tables.entrants import ENTRANTS
from benchmarks.tables.summary import BEHIND, CLEARLY, LEAST, Errors, behind, coverage, errors, standing

HEAD = """# Shapley values of tables

`make bench-tables` writes this page, from {rows} rows of each of {models} models, on {date}, with Python {python},
{versions}. Budgets are counted evaluations of the model. An absent column has its mean, or is 0 in a game. The error of
a model is the squared error of all values over their squares. Exact values are those of closed forms, of shap's
TreeExplainer with one background row, or of all subsets.

- **ours** is `geex.explain(model, x, baseline=…)` with `method=geex.Shapley()`, the default for columns.
- KernelExplainer (with `l1_reg=0`, because its default drops columns), PermutationExplainer and SamplingExplainer are
  shap's. All others are shapiq's. ShaplEIG was not run: it takes seconds for each query.
- {missing}Not run either: PolySHAP 2 above 64 columns, PolySHAP 3 above 15, kADDSHAP above 40, SVARM above 30, and
  estimators below the budget that they need.

`ours` was developed on the first half of the models; the second half was not used. Squared errors below 1e-10 count
as exact.
"""


def page(cells: dict[Key, dict[str, Any]], settings: list[Setting], run: dict[str, Any]) -> str:
    """Return the page for the cells of a run, described by its rows, budgets, date and versions."""
    found, budgets = errors(cells), tuple(run["budgets"])
    known = [setting for setting in settings if any(key[0] == setting.name for key in cells)]
    halves = {
        "All models": [setting.name for setting in known],
        "Models of development": [setting.name for setting in known if setting.developed],
        "Other models": [setting.name for setting in known if not setting.developed],
    }
    absent = [title for key, (title, *_) in ENTRANTS.items() if not any(cell[3] == key for cell in cells)]
    missing = f"Not part of this run: {', '.join(absent)}. " if absent else ""
    lines = [HEAD.format(models=len(known), missing=missing, **run)]
    for title, models in halves.items():
        if models:
            lines += [f"## {title}", "", *_standings(found, models, budgets), ""]
            lines += [*_coverages(cells, models, budgets), ""]
    lines += ["## Errors", "", "Bold: the best of all.", ""]
    for setting in known:
        lines += [f"### {setting.name[0].upper()}{setting.name[1:]}", "", *_errors(found, setting.name, budgets), ""]
    return "\n".join(lines)


def _standings(found: Errors, models: list[str], budgets: tuple[int, ...]) -> list[str]:
    best = [standing(found, models, budget) for budget in budgets]
    lines = [
        _row(["our error over a rival's, median over models", *map(str, budgets)]),
        _rule(budgets),
        _row(["the best of all, picked afterwards", *(f"{one.median:.2f}" for one in best)]),
    ]
    for key, (title, *_) in ENTRANTS.items():
        if key != "ours":
            alone = [standing(found, models, budget, [key]) for budget in budgets]
            if any(one.models for one in alone):
                lines.append(_row([title, *(f"{one.median:.2f}" if one.models else "–" for one in alone)]))
    lines += ["", f"Behind the best of all by more than {BEHIND}×:", ""]
    lines += [
        f"- {budget} queries: {len(one.lost)} of {one.models}{': ' if one.lost else ''}{'; '.join(one.lost)}"
        for budget, one in zip(budgets, best, strict=True)
    ]
    lines += ["", f"Cells in which ours is more than {CLEARLY - 1:.0%} behind a single rival: ", ""]
    single = [(title, *behind(found, models, budgets, key)) for key, (title, *_) in ENTRANTS.items() if key != "ours"]
    return [*lines, ", ".join(f"{title} {worse} of {total}" for title, worse, total in single if total) + "."]


def _coverages(cells: dict[Key, dict[str, Any]], models: list[str], budgets: tuple[int, ...]) -> list[str]:
    lines = [_row(["coverage of our 95% intervals", *map(str, budgets)]), _rule(budgets)]
    for few, title in ((False, "from 2 queries a column on"), (True, "below 2 queries a column")):
        found = [coverage(cells, models, budget, few) for budget in budgets]
        for place, label in enumerate(("all columns", "the largest fifth", "sums over regions")):
            lines.append(_row([f"{label}, {title}", *(f"{own[place]:.1%}" if own else "–" for own in found)]))
    return lines


def _errors(found: Errors, model: str, budgets: tuple[int, ...]) -> list[str]:
    lines = [_row(["squared error", *map(str, budgets)]), _rule(budgets)]
    best = [min(error for (name, own, _), error in found.items() if (name, own) == (model, b)) for b in budgets]
    for key, (title, *_) in ENTRANTS.items():
        own = [found.get((model, budget, key)) for budget in budgets]
        if any(error is not None for error in own):
            lines.append(_row([title, *(_cell(error, least) for error, least in zip(own, best, strict=True))]))
    return lines


def _cell(error: float | None, best: float) -> str:
    if error is None:
        return "–"
    text = "exact" if error <= LEAST else f"{error:.2g}"
    return f"**{text}**" if error <= best else text


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(budgets: tuple[int, ...]) -> str:
    return "|---" * (1 + len(budgets)) + "|"
