"""Explanations side by side, each with its deletion and its insertion curve."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import geex
from geex._arrays.arrays import host
from geex._plain_text import one_line
from geex._problem.digest import digest
from geex._problem.outputs import curve_score
from geex._query.retrying_call import Model
from geex._results.account import rounding
from geex._results.explanation import Explanation
from geex._results.numbers import number, signed
from geex.cli.baselines import baseline_of
from geex.cli.results import table
from geex.errors import AnswerError, InputError
from geex.evaluate import Curve, deletion, insertion
from geex.plot.view import channel_axis
from geex.report.words import STOPPED, duration

# Steps of a curve, and so queries.
COMPARISON_STEPS = 50


@dataclass(frozen=True, eq=False)
class Comparand:
    """One explanation with its curves.

    Attributes
    ----------
    name : str
        What the table calls it.
    explanation : Explanation
        The explanation.
    deletion, insertion : Curve or None
        Its curves, or None if f(x) is not above 0.
    conditions : dict of str to str
        What must be the same for a fair comparison: input, output, score and replacement.
    """

    name: str
    explanation: Explanation
    deletion: Curve | None
    insertion: Curve | None
    conditions: dict[str, str]

    def facts(self) -> dict[str, Any]:
        """Return the numbers as JSON can hold them."""
        e = self.explanation
        return {
            "name": self.name,
            "method": str(e.settings.method),
            "target": e.target,
            "queries": e.queries,
            "seconds": e.seconds,
            "deletion_aopc": None if self.deletion is None else self.deletion.aopc,
            "insertion_area": None if self.insertion is None else self.insertion.area,
            "adds_up": e.adds_up,
            "gap": float(e.gap) if e.adds_up else None,
            "gap_stderr": float(e.gap_stderr) if e.adds_up and np.isfinite(e.gap_stderr) else None,
        }

    def cells(self) -> list[str]:
        """Return the row of the table."""
        e = self.explanation
        curves = [
            "–" if self.deletion is None else f"{self.deletion.aopc:.3f}",
            "–" if self.insertion is None else f"{self.insertion.area:.3f}",
        ]
        return [
            one_line(self.name),
            *curves,
            self._gap(),
            f"{e.queries:,}",
            "–" if e.seconds is None else duration(e.seconds),
        ]

    def _gap(self) -> str:
        e = self.explanation
        gap, error, output, base = (float(end) for end in (e.gap, e.gap_stderr, e.output, e.base_value))
        if not e.adds_up:
            return "does not add up"
        return "0" if rounding(gap, error, output, base) else f"{signed(gap)} ± {number(error)}"


def comparand(
    name: str, explanation: Explanation, model: Model, baseline: str | None = None, score: Any = None
) -> Comparand:
    """Return an explanation with both curves, some fifty queries each.

    Parameters
    ----------
    name : str
        What the table calls it.
    explanation : Explanation
        An explanation of one output, with its input.
    model : callable
        The model to query.
    baseline : str, optional
        The replacement, as --baseline names it. By default the baseline of the explanation.
    score : str, optional
        The score of the curves. By default that of the explanation.
    """
    x = explanation.explicand
    if x is None or explanation.features is None:
        raise InputError(f"FILE must hold its input; {name} does not.", code="explanation-without-input")
    if isinstance(explanation.target, list):
        raise InputError(f"FILE must explain one output; {name} explains several.", code="explanation-of-several")
    channels = channel_axis(explanation.features, tuple(x.shape))
    replacement = explanation.baseline if baseline is None else baseline_of(baseline, None, channels)
    if replacement is None:
        raise InputError(
            f"{name} must hold its baseline; it does not. Name one with --baseline.",
            code="explanation-without-baseline",
        )
    settings: dict[str, Any] = {
        "score": None if score is None else curve_score(score),
        "replacement": replacement,
        "step": max(1, -(-int(np.prod(explanation.values.shape)) // COMPARISON_STEPS)),
    }
    conditions = {
        "input": digest(host(x)),
        "output": str(explanation.target),
        "score": str(settings["score"] or _score_of(explanation)),
        "replacement": baseline or digest(host(replacement)),
    }
    try:
        curves = [curve(model, x, explanation, **settings) for curve in (deletion, insertion)]
    except AnswerError as error:
        if error.code != "score-not-above-zero":
            raise
        return Comparand(name, explanation, None, None, conditions)
    return Comparand(name, explanation, curves[0], curves[1], conditions)


def _score_of(explanation: Explanation) -> Any:
    """Return the score of a curve for an explanation with this score."""
    score = explanation.settings.score
    return curve_score(score) if isinstance(score, str) else score


def comparison_table(comparands: list[Comparand]) -> str:
    """Return the comparison as text."""
    head = ["method", "deletion AOPC", "insertion area", "gap", "queries", "time"]
    lines = [table(head, [one.cells() for one in comparands])]
    if any(one.deletion is None for one in comparands):
        lines.append("No curves: the score of the input is not above 0. Try --score softmax.")
    lines += [f"{one.name}: {STOPPED}." for one in comparands if one.explanation.partial]
    conditions = comparands[0].conditions
    different = [name for name in conditions if len({one.conditions[name] for one in comparands}) > 1]
    if different:
        lines.append(f"Not comparable: these differ in their {' and '.join(different)}.")
    return "\n".join([*lines, "Higher is better for both curves."])


def figure(comparands: list[Comparand], picture: Any, curves: bool) -> Any:
    """Return the explanations side by side as a figure, or their curves."""
    if not curves:
        return geex.plot.compare({one.name: one.explanation for one in comparands}, image=picture)
    # a name may occur once: the insertion has a space after it
    made = {one.name: one.deletion for one in comparands} | {f"{one.name} ": one.insertion for one in comparands}
    return geex.plot.curves({name: curve for name, curve in made.items() if curve is not None})
