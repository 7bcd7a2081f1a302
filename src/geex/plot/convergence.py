"""Values and gap against queries: the estimate from the first n answers, for growing n."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.validation import whole
from geex._explain.estimate import estimate
from geex._plan.plan import Plan
from geex._results.explanation import Explanation
from geex._results.significance.findings import quantile
from geex.errors import InputError
from geex.plot.bars import name
from geex.plot.canvas import bare, empty, panels_of, plain
from geex.plot.view import Output, Scene, scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Queries at the first point.
FIRST_POINT = 100
# Features with a line.
SHOWN_FEATURES = 5


def convergence(explanation: Explanation, *, points: int = 8, level: float = 0.95) -> "Figure":
    """Draw the five largest values with their intervals, and the gap, against the number of queries.

    No query is made: the values are estimated again from the first n answers.

    Parameters
    ----------
    explanation
        An explanation of one output, with its answers.
    points
        The number of points of a line.
    level
        The level of the intervals.

    Returns
    -------
    matplotlib.figure.Figure
        A figure, which needs no display.

    Raises
    ------
    InputError
        The explanation has no answers, or several targets.
    """
    if not isinstance(explanation, Explanation) or explanation.record is None or isinstance(explanation.target, list):
        raise InputError(
            "Convergence needs an explanation of one output with its answers; a loaded explanation has no answers. "
            "Use the explanation that geex.explain returned, or geex.estimate(journal).",
            code="answers-missing",
        )
    steps = prefixes(explanation, whole("points", points, 2, InputError))
    seen = [scene(step) for step in steps]
    queries = [step.queries for step in steps]
    last = seen[-1].outputs[0]
    chosen = last.order(SHOWN_FEATURES, level)
    figure = empty(9.6 if explanation.adds_up else 5.2, 3.6)
    panels = panels_of(figure, 1, 2 if explanation.adds_up else 1)
    _values(panels[0], queries, seen, chosen, level)
    if explanation.adds_up:
        _gap(panels[1], queries, [one.outputs[0] for one in seen], quantile(level, last.freedom))
    return figure


def prefixes(explanation: Explanation, count: int) -> list[Explanation]:
    """Return explanations from more and more of the answers, in even ratios; the last is the whole."""
    record = explanation.record
    assert record is not None
    rows = int(record.answers[0].shape[0])
    least = max([FIRST_POINT, *(plan.search.least for plan in record.plans)])
    steps = []
    for size in np.unique(np.geomspace(min(least, rows), rows, count).astype(int))[:-1]:
        draws = [plan.search.afford(int(size)) for plan in record.plans]
        plans = [_leg(plan, n) for plan, n in zip(record.plans, draws, strict=True)]
        counts = [plan.search.rows * n for plan, n in zip(plans, draws, strict=True)]
        answers = [answered[:n, ...] for answered, n in zip(record.answers, counts, strict=True)]
        asked = int(record.ends.shape[0]) + sum(counts)
        part = replace(record, plans=plans, answers=answers, asked=asked)
        steps.append(estimate(replace(explanation, record=part)))
    return [*steps, explanation]


def _leg(plan: Plan, draws: int) -> Plan:
    """The plan of the leg that draw number `draws` was asked in."""
    while plan.before is not None and draws <= plan.earlier:
        plan = plan.before[0]
    return plan


def _values(axis: Any, queries: list[int], seen: list[Scene], chosen: np.ndarray, level: float) -> None:
    for feature in chosen:
        values = np.array([one.outputs[0].shown(level)[feature] for one in seen])
        ends = [one.outputs[0].interval(level) for one in seen]
        low, high = (np.array([end[side][feature] for end in ends]) for side in (0, 1))
        line = axis.plot(queries, values, marker="o", markersize=3, label=plain(name(seen[-1], int(feature))))[0]
        axis.fill_between(queries, low, high, alpha=0.12, color=line.get_color(), linewidth=0)
    axis.set_title(f"the {len(chosen)} largest values")
    axis.legend(frameon=False, fontsize="x-small")
    _against_queries(axis, "value")


def _gap(axis: Any, queries: list[int], outputs: list[Output], reach: float) -> None:
    gap, error = (np.array([getattr(output, end) for output in outputs]) for end in ("gap", "gap_stderr"))
    axis.plot(queries, gap, marker="o", markersize=3, color="#333333")
    axis.fill_between(queries, gap - reach * error, gap + reach * error, alpha=0.15, color="#333333", linewidth=0)
    axis.set_title("what is left over")
    _against_queries(axis, "gap f(x) − f(x̊) − Σ")


def _against_queries(axis: Any, what: str) -> None:
    axis.axhline(0, color="#999999", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_xlabel("queries")
    axis.set_ylabel(what)
    bare(axis)
