"""What the numbers say, in sentences for people who have not read the paper."""

from typing import Any

import numpy as np
from scipy.special import stdtrit

import geex
from geex._problem.declared import Call, Unnamed, Value
from geex._problem.declared import code as declared_code
from geex._problem.estimand import Additive
from geex._results.explanation import Explanation
from geex._results.summary import chance, quantity, rounding
from geex.evaluate import Curve
from geex.plot.view import Output, Scene

ELEMENTS = Call("Elements")
STOPPED = "stopped before it was through"
SURE = 0.95  # the level from which on what is left over is no chance: some two standard errors
ROWS, COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")


def number(value: float) -> str:
    """A number as people write it: three digits, a true minus."""
    if 1e3 <= abs(value) < 1e4:
        return f"{value:.0f}".replace("-", "−")
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e4):
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def signed(value: float) -> str:
    """The same with its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def lead(explanation: Explanation, output: Output, things: str) -> str:
    """The first sentence."""
    what = quantity(explanation)
    for_it, against = (float(np.clip(output.values, *ends).sum()) for ends in ((0, None), (None, 0)))
    sides = f" The {things} that spoke for it sum to {signed(for_it)}, those against it to {signed(against)}."
    found = f"The model gives “{output.label}” the {what} {number(output.output)}{chance(what, output.output)}."
    part = f" The run was {STOPPED}: this is what its first {explanation.queries:,} queries say."
    shares = sides if explanation.adds_up and output.origin == 0 else ""
    return f"{found}{shares}{part if explanation.partial else ''}"


def account(explanation: Explanation, output: Output, things: str) -> str:
    """Completeness: f(x̊) + Σ + gap = f(x)."""
    what, difference = quantity(explanation), output.output - output.base_value
    absent = f"With the baseline in its place (what stands for “nothing there”), {number(output.base_value)}."
    verb = "are" if what == "log-odds" else "is"
    opening = f"For this input the model’s {what} of “{output.label}” {verb} {number(output.output)}. {absent} "
    if not explanation.adds_up:
        return (
            f"{opening}The values shown say which {things} matter more than others. They are not shares of that "
            f"difference and are not meant to add up to it."
        )
    shares = (
        f"The difference, {signed(difference)}, is shared out: the {things} have {signed(output.total)} between them"
    )
    return f"{opening}{shares}. {_left(explanation, output)}"


def _left(explanation: Explanation, output: Output) -> str:
    error = output.gap_stderr
    if _nothing(output):
        return "Nothing is left over."
    left = f"{signed(output.gap)}{'' if np.isnan(error) else f' ± {number(error)}'} is left over"
    if np.isnan(error):
        return f"{left}."
    if abs(output.gap) <= stdtrit(explanation.freedom, 0.5 + SURE / 2) * error:
        return f"{left}: no more than chance, given how many questions were asked."
    if explanation.estimand.additive is not Additive.OF_BLURRED_MODEL:
        return f"{left}, which is more than chance explains."
    return (
        f"{left}, which is more than chance explains: the method sees the model slightly blurred by its own noise, "
        "and shares out the blurred difference. A smaller σ makes this part smaller."
    )


def _nothing(output: Output) -> bool:
    """Whether what is left over is rounding."""
    return rounding(output.gap, output.gap_stderr, output.output, output.base_value)


def sums(explanation: Explanation, output: Output) -> list[str]:
    """The account in numbers."""
    ends = [f"f(x̊) = {number(output.base_value)}", f"f(x) = {number(output.output)}"]
    if not explanation.adds_up:
        return ends
    error = "" if np.isnan(output.gap_stderr) else f" ± {number(output.gap_stderr)}"
    left = "0" if _nothing(output) else f"{signed(output.gap)}{error}"
    return [ends[0], f"+ Σ shares {signed(output.total)}", f"+ left over {left}", f"= {ends[1]}"]


def ninths(seen: Scene, output: Output, mean: bool) -> list[float]:
    """What every ninth of the picture holds, row by row: the sum of its values, or their mean."""
    assert seen.index is not None
    values = seen.spread(output.values - output.origin)
    if not mean:  # a group's share is spread over its pixels, so that ninths add up to Σ
        values = values / seen.spread(np.bincount(seen.index.ravel(), minlength=len(output.values)).astype(float))
    rows = [part for band in np.array_split(values, 3, axis=0) for part in np.array_split(band, 3, axis=1)]
    return [float((part.mean() if mean else part.sum()) if part.size else 0.0) for part in rows]


def alternative(seen: Scene, output: Output, mean: bool) -> str:
    """The picture in words, for those who do not see it."""
    parts = ninths(seen, output, mean)
    best, worst = int(np.argmax(parts)), int(np.argmin(parts))
    places = [f"{row} {column}" for row in ROWS for column in COLUMNS]
    against = f", and most against it in the {places[worst]}" if parts[worst] < 0 else ""
    found = f"Most that spoke for “{output.label}” lies in the {places[best]} of the picture{against}."
    return f"The input with its explanation over it. {found} Arrow keys move from pixel to pixel."


def deletion(curve: Curve, things: str) -> str:
    """What a deletion curve shows."""
    below = np.flatnonzero(curve.curve <= curve.start / 2)
    half = f"is down to half after {curve.fractions[below[0]]:.0%} of them" if below.size else "never falls to half"
    return (
        f"A test of the explanation: the {things} it calls most important are replaced by the baseline first. The "
        f"score {half}. The sooner it falls, the better; as one number (AOPC, higher is better) it is "
        f"{curve.aopc:.3f}. This took {curve.queries:,} more queries."
    )


def insertion(curve: Curve, things: str) -> str:
    """What an insertion curve shows."""
    return (
        f"A test of the explanation: the {things} it calls most important are put back first, onto a replacement. The "
        f"sooner the score rises, the better; as one number (the area below) it is {curve.area:.3f}. This took "
        f"{curve.queries:,} more queries."
    )


def facts(explanation: Explanation) -> list[tuple[str, str]]:
    """How it was made."""
    made = explanation.settings
    told: list[tuple[str, Any]] = [
        ("Queries asked", f"{explanation.queries:,}"),
        ("Time", None if explanation.seconds is None else duration(explanation.seconds)),
        ("Method", made.method),
        ("Seed", made.seed),
        ("Baseline", made.against or None),
        ("Score", made.score or "the model’s answer as it comes"),
        ("Features", made.features),
        ("Explained output", explanation.target),
        ("Partial", "yes: not all planned queries were answered" if explanation.partial else None),
        ("Enough, because", explanation.ended or None),
        ("Plan", ", ".join(mark[:16] for mark in made.fingerprints) or None),
        ("Version", f"geex {made.version}"),
    ]
    return [(name, str(value)) for name, value in told if value is not None]


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def call(explanation: Explanation) -> str:
    """The Python that makes the same explanation of the same model and input."""
    made = explanation.settings
    if made.queries is None:
        return f"# {made.method}, with gradients: see benchmarks.whitebox"
    baseline = f"{code(made.baseline)},"
    if isinstance(made.baseline, Unnamed):
        baseline += f"  # {made.baseline}"
    features = None if made.features in (None, ELEMENTS) else code(made.features)
    settings = {
        "baseline": baseline,
        "target": f"{explanation.target},",
        "score": None if made.score is None else f"{code(made.score)},",
        "method": f"{code(made.method)},",
        "queries": f"{made.queries},",
        "features": None if features is None else f"{features},",
        "bounds": None if made.bounds is None else f"{made.bounds},",
        "seed": f"{made.seed},",
        "limits": None if made.twice else "geex.Limits(twice=False),",
    }
    lines = [f"    {name}={value}" for name, value in settings.items() if value is not None]
    return "\n".join(["import geex", "", "explanation = geex.explain(", "    model,", "    x,", *lines, ")"])


def code(value: Value) -> str:
    """Return a setting as Python: classes with the module that has them, and maps of groups by their name."""
    methods = dict.fromkeys(geex.methods.__all__, "geex.methods")
    return declared_code(value, methods | dict.fromkeys(geex.__all__, "geex"))
