"""Explanations side by side, with what a deletion and an insertion say of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import geex
from geex._arrays.arrays import Array, host
from geex._problem.baselines import made_again
from geex._problem.declared import Value
from geex._problem.digest import digest
from geex._problem.outputs import followed
from geex._query.retrying_call import Model
from geex._results.explanation import Explanation
from geex._results.summary import rounding
from geex.cli.methods import baseline as baseline_of
from geex.cli.told import rows
from geex.errors import AnswerError, BaselineError, InputError
from geex.evaluate import Curve, deletion, insertion
from geex.plot.view import channel_axis
from geex.report.words import STOPPED, duration, number, signed

STEPS = 50


@dataclass(frozen=True, eq=False)
class Trial:
    """One explanation and its curves; None where f(x) is not above 0. of: what the curves are of, by its names."""

    name: str
    explanation: Explanation
    out: Curve | None
    back: Curve | None
    of: dict[str, str]

    def facts(self) -> dict[str, Any]:
        """The numbers as JSON can hold them."""
        e = self.explanation
        return {
            "name": self.name,
            "method": str(e.settings.method),
            "target": e.target,
            "queries": e.queries,
            "seconds": e.seconds,
            "deletion_aopc": None if self.out is None else self.out.aopc,
            "insertion_area": None if self.back is None else self.back.area,
            "adds_up": e.adds_up,
            "gap": float(e.gap) if e.adds_up else None,
            "gap_stderr": float(e.gap_stderr) if e.adds_up and np.isfinite(e.gap_stderr) else None,
        }

    def cells(self) -> list[str]:
        """The numbers as people read them."""
        e, curves = self.explanation, (self.out, self.back)
        tested = ["–" if c is None else f"{c.aopc if c.kind == 'deletion' else c.area:.3f}" for c in curves]
        return [self.name, *tested, self._gap(), f"{e.queries:,}", "–" if e.seconds is None else duration(e.seconds)]

    def _gap(self) -> str:
        e = self.explanation
        gap, error, output, base = (float(end) for end in (e.gap, e.gap_stderr, e.output, e.base_value))
        if not e.adds_up:
            return "does not add up"
        return "0" if rounding(gap, error, output, base) else f"{signed(gap)} ± {number(error)}"


def tried(name: str, explanation: Explanation, model: Model, baseline: str | None = None, score: Any = None) -> Trial:
    """Both curves of an explanation, some fifty queries each. None for `baseline`: the one it was made with."""
    if explanation.explicand is None or explanation.features is None or isinstance(explanation.target, list):
        raise InputError(f"{name} lacks its input, or explains several outputs; wanted an explanation of one output.")
    x, channels = explanation.explicand, channel_axis(explanation.features, tuple(explanation.explicand.shape))
    settings: dict[str, Any] = {
        "score": None if score is None else followed(score),
        "replacement": _replacement(explanation, baseline, channels),
        "step": max(1, -(-int(np.prod(explanation.values.shape)) // STEPS)),
    }
    of = {
        "input": digest(host(x)),
        "output": str(explanation.target),
        "score": str(settings["score"] or _score(explanation.settings.score)),
        "replacement": baseline or digest(str(explanation.settings.baseline), _plain(explanation.baseline)),
    }
    try:
        curves = [curve(model, x, explanation, **settings) for curve in (deletion, insertion)]
    except AnswerError:
        return Trial(name, explanation, None, None, of)
    return Trial(name, explanation, curves[0], curves[1], of)


def _score(score: Value) -> Any:
    """What curves follow where this score is explained."""
    return followed(score) if isinstance(score, str) else score


def _plain(array: Array | None) -> np.ndarray | None:
    return None if array is None else host(array)


def _replacement(explanation: Explanation, given: str | None, channels: int | None) -> Any:
    """The baseline of the explanation, or the one that is named."""
    if given is not None:
        return baseline_of(given, None, channels)
    if explanation.baseline is not None:
        return explanation.baseline
    try:
        return made_again(explanation.settings.baseline)
    except BaselineError as error:
        raise InputError(f"{error} Name one with --baseline.", code="baseline-not-remakable") from None


def table(trials: list[Trial]) -> str:
    """What a person compares."""
    head = ["method", "deletion AOPC", "insertion area", "gap", "queries", "time"]
    lines = [rows(head, [trial.cells() for trial in trials])]
    if any(trial.out is None for trial in trials):
        lines.append("No curves: the score of the input is not above 0; try --score softmax.")
    lines += [f"{trial.name}: {STOPPED}." for trial in trials if trial.explanation.partial]
    unlike = [what for what in trials[0].of if len({trial.of[what] for trial in trials}) > 1]
    if unlike:
        lines.append(f"Not to be compared: these do not have the same {' or '.join(unlike)}.")
    return "\n".join([*lines, "Higher is better for both curves."])


def drawn(trials: list[Trial], picture: Any, curves: bool) -> Any:
    """The explanations side by side, or their curves."""
    if not curves:
        return geex.plot.compare({trial.name: trial.explanation for trial in trials}, image=picture)
    made = {f"{t.name}{mark}": c for t in trials for c, mark in ((t.out, ""), (t.back, " ")) if c is not None}
    return geex.plot.curves(made)
