"""The printed explanation: the decision, the largest features, the account, and short caveats last."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from geex._arrays.arrays import host
from geex._plain_text import one_line
from geex._results.account import Account, accounts
from geex._results.certainty import certainty, label, quantity
from geex._results.numbers import Column, column, probability
from geex._results.significance.findings import LEVEL

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

# Outputs that are named.
MOST_NAMED = 5
# Features that are listed, if there are more than ALL_LISTED.
LISTED_FEATURES = 8
# Features that are listed without leaving any out.
ALL_LISTED = 12
# Characters of a line.
LINE_WIDTH = 100
# Characters of a feature's name.
LONGEST_NAME = 40
# Advice names no larger number of queries.
MANY_QUERIES = 10_000_000
# What intervals leave out.
BIAS = "Intervals do not include bias from smoothing or from the adaptive choice of queries."


def described(explanation: "Explanation") -> str:
    """Return all of it but the arrays."""
    nothing = explanation.nothing_found
    return "\n".join([*([nothing] if nothing else []), _headline(explanation), made(explanation), *body(explanation)])


def body(explanation: "Explanation") -> list[str]:
    """Return the lines below the heading: features, account, caveats."""
    several = isinstance(explanation.target, list)
    parts = _outputs(explanation) if several else [*_features(explanation), "", *_account(explanation)]
    lines = ["", *parts, "", *_doubts(explanation), *caveats(explanation)]
    return [line.rstrip() for line in lines]


def advised(explanation: "Explanation", wanted: int | None, tolerance: float) -> str:
    """Return what `needed` found, in a sentence."""
    if wanted is None:
        return "The number of queries that would be needed cannot be estimated."
    if wanted == 0:
        same = "" if explanation.noise is not None else ", if the model answers the same each time"
        return f"The values are exact{same}: more queries would change nothing."
    aim = f"±{100 * tolerance:.3g}% on the total of the top 10% of features"
    if wanted <= explanation.queries:
        noisy = explanation.error_share() > tolerance
        return f"The model's own noise is too large for {aim}." if noisy else f"These queries are enough for {aim}."
    led = explanation.estimand.adaptive
    count = f"More than {MANY_QUERIES:,}" if wanted > MANY_QUERIES else f"About {_rounded(wanted):,}"
    return f"{count} queries would be needed for {aim} ({'rough estimate; ' * led}you used {explanation.queries:,})."


def end(explanation: "Explanation") -> str:
    """Return why a run ended, where the budget alone is not why."""
    if explanation.partial:
        return ", stopped before it was through"
    if explanation.ended:
        return f", ended by {explanation.settings.stop}: {explanation.ended}"
    unmet = explanation.settings.stop is not None and explanation.needed() != 0
    return f"; {explanation.settings.stop} was not met" if unmet else ""


def spent(explanation: "Explanation") -> str:
    """Return how many queries were used, why not all of the budget, and what failed."""
    return _used(explanation) + failures(explanation)


def failures(explanation: "Explanation") -> str:
    """Return how many calls failed, and how many rows were sent all in all; "" if none failed."""
    if not explanation.failed:
        return ""
    calls = "1 call" if explanation.failed == 1 else f"{explanation.failed:,} calls"
    return f"; {calls} failed, {explanation.sent or 0:,} rows sent"


def _used(explanation: "Explanation") -> str:
    used, budget = explanation.queries, explanation.settings.queries
    if not budget or used >= budget or explanation.partial or explanation.ended:
        return f"{used:,} queries{end(explanation)}"
    if explanation.needed() == 0:
        why = "no more are needed: the values are exact"
    else:
        why = "queries come in pairs" if budget - used == 1 else _why(explanation)
    return f"{used:,} of {budget:,} queries ({why}){end(explanation)}"


def caveats(explanation: "Explanation") -> list[str]:
    """Return what to keep in mind, in one short paragraph."""
    meaning = str(explanation.estimand).split(". ")[0].rstrip(".")
    limits = BIAS if explanation.estimand.adaptive else ""
    parts = [f"Values: {meaning}." if meaning else "", limits, _correction(explanation), explanation.advice()]
    text = " ".join(part for part in parts if part)
    return [textwrap.fill(text, LINE_WIDTH, break_on_hyphens=False, break_long_words=False)]


def table(head: list[str], body: list[list[str]]) -> list[str]:
    """Return a table as lines: the first and the last column to the left, others to the right."""
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    last = len(head) - 1
    return [
        "  ".join(
            cell.ljust(width) if i in (0, last) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [head, *body]
    ]


def place(explanation: "Explanation", where: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return a feature's name, or its place."""
    if explanation.names:
        name = one_line(explanation.names[int(np.ravel_multi_index(where, shape))])
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    if len(where) == 2:
        return f"row {where[0]}, column {where[1]}"
    return f"feature {where[0]}" if len(where) == 1 else f"element {', '.join(map(str, where))}"


def _correction(explanation: "Explanation") -> str:
    """What intervals hold for, and what "may be noise" means."""
    stderr = np.asarray(host(explanation.stderr))
    count = int(np.max(np.sum(stderr.reshape(len(explanation.targets), -1) > 0, axis=1)))
    if count < 2:
        return ""
    size = int(stderr.size / len(explanation.targets))
    some = f"together for the {count:,} of {size:,} features that can differ from 0"
    together = f"Intervals hold {some if count < size else f'for all {count:,} features together'}."
    if explanation.findings.neighbours:
        return (
            f"{together} Of the features that are not marked as noise, 5% at most are expected to be noise "
            "(Benjamini–Hochberg), and an interval of theirs may contain 0."
        )
    return f"{together} What may be noise does not differ from 0 significantly among them (Holm, 5%)."


def _rounded(count: int) -> int:
    """A count to three digits."""
    return int(float(f"{count:.3g}"))


def _why(explanation: "Explanation") -> str:
    """Why more than one query of the budget was not used."""
    record = explanation.record
    none = record is not None and not any(answers.shape[0] for answers in record.answers)
    return "the method needs no more" if none else "queries come in complete groups"


def _doubts(explanation: "Explanation") -> list[str]:
    """The model's own noise."""
    if not explanation.unsteady:
        return []
    size = float(np.max(host(explanation.noise)))
    parts = [f"The model answers x differently each time: its score has noise of about {size:.2g}{looks(explanation)}."]
    if explanation.noise_stderr is not None:
        own, whole = (np.asarray(host(one), np.float64) for one in (explanation.noise_stderr, explanation.stderr))
        share = float(np.sum(own**2) / max(np.sum(whole**2), np.finfo(float).tiny))
        parts.append(f"This noise is {share:.0%} of the variance of the values; the rest is due to the queries.")
    return parts


def looks(explanation: "Explanation") -> str:
    """Return from how many answers the noise is estimated."""
    counts = explanation.end_queries
    if max(counts, default=0) <= 2:
        return ", a rough guess from two answers"
    return f" (x was queried {counts[0]} times, the baseline {min(counts[1:])} times)"


def _headline(explanation: "Explanation") -> str:
    target = explanation.target
    if isinstance(target, list):
        return (
            f"Explanation of outputs {target}" if len(target) <= MOST_NAMED else f"Explanation of {len(target)} outputs"
        )
    name = label(explanation, target)
    found = name if explanation.labels is None or name == str(target) else f"output {target} ({name})"
    found = f"output {name}" if name == str(target) else found
    return f"Explanation of {found}: {certainty(explanation, target, float(explanation.output))}"


def made(explanation: "Explanation") -> str:
    """Return method, baseline and cost in one line."""
    parts = [explanation.settings.method, against(explanation), spent(explanation)]
    return ", ".join(str(part) for part in parts if part)


def against(explanation: "Explanation") -> str:
    """Return what x was compared with; "" where that is not known."""
    settings = explanation.settings
    if settings.absence is not None:
        return f"compared with {settings.absence}"
    if isinstance(settings.baseline, int | float):
        return f"baseline {settings.baseline:.4g}".replace("-", "−")
    return f"baseline {settings.against}" if settings.against else ""


def _features(explanation: "Explanation") -> list[str]:
    """The largest features of one output as a table."""
    ends = (explanation.values_in_interval(0.95, True), explanation.stderr, *explanation.interval(0.95, True))
    values, stderr, low, high = (np.asarray(host(end), np.float64) for end in ends)
    found = (explanation.findings.marks <= 1 - LEVEL).reshape(values.shape)
    listed = values.size if values.size <= ALL_LISTED else LISTED_FEATURES
    order = np.lexsort((-np.abs(values).ravel(), ~found.ravel()))[:listed]
    wheres = [tuple(int(i) for i in np.unravel_index(flat, values.shape)) for flat in order]
    style = column([float(values[w]) for w in wheres], [float(stderr[w]) for w in wheres])
    unit = f", × {style.unit}" if style.unit else ""
    few = "Feature" if values.size == listed else f"Largest of {values.size:,} features"
    intervals = [style.interval(low[w], high[w]) for w in wheres]
    wide = max(map(len, intervals))
    body = [
        [
            place(explanation, w, values.shape),
            style.signed(values[w]),
            f"± {style.text(stderr[w])}" if np.isfinite(stderr[w]) else "",
            interval.ljust(wide) + ("  may be noise" if stderr[w] > 0 and not found[w] else ""),
        ]
        for w, interval in zip(wheres, intervals, strict=True)
    ]
    return table([few, f"value{unit}", "std. error", "95% interval"], body)


def _account(explanation: "Explanation") -> list[str]:
    """f(x̊) + Σ values + left = f(x), one part a line."""
    (found,) = accounts(explanation)
    if not found.comparable:
        style = column([found.base, found.output])
        base, output = (_end(explanation, end, style) for end in (found.base, found.output))
        ends = [["f(x̊), at the baseline", base, ""], ["f(x)", output, ""]]
        return [*table(["Account", _unit(style.unit), ""], ends), "The values are not parts of this change."]
    style = column([found.base, found.output, found.total, found.left], [] if found.exact else [found.error])
    base, output = (_end(explanation, end, style) for end in (found.base, found.output))
    error = "" if np.isnan(found.error) or found.exact else f"± {style.text(found.error)}"
    left = ["0", ""] if found.exact else [style.signed(found.left), style.interval(found.low, found.high)]
    body = [
        ["f(x̊), at the baseline", base, ""],
        ["sum of the values", style.signed(found.total), error],
        [found.left_is, *left],
        ["f(x)", output, ""],
    ]
    return table(["Account", _unit(style.unit), "std. error or 95% interval"], body)


def _end(explanation: "Explanation", value: float, style: Column) -> str:
    """f(x) or f(x̊); a probability that rounds to 0 or 1 as "< 0.001" or "> 0.999"."""
    text = style.text(value)
    certain = quantity(explanation) == "probability" and value not in (0, 1) and text.strip("0.") in ("", "1")
    return probability(value) if certain and not 0.001 <= value <= 0.999 else text


def _unit(unit: str) -> str:
    return f"score, × {unit}" if unit else "score"


def _outputs(explanation: "Explanation") -> list[str]:
    """Several outputs as a table: one line each."""
    targets = explanation.targets
    found = accounts(explanation)[:MOST_NAMED]
    style = column([n for one in found for n in (one.base, one.output, one.total)], [one.error for one in found])
    body, quiet = [], explanation.findings.quiet
    for j, (target, one) in enumerate(zip(targets, found, strict=False)):
        values = np.asarray(host(explanation.values[j, ...]), np.float64)
        where = np.unravel_index(int(np.argmax(np.abs(values))), values.shape)
        name = f"output {target}" + (f" ({label(explanation, target)})" if explanation.labels else "")
        cells = [style.text(one.output), style.text(one.base), *_parts(one, style)]
        largest = place(explanation, tuple(map(int, where)), values.shape)
        body.append([name, *cells, "none stands out" if quiet[j] else largest])
    head = ["Output", f"f(x){f', × {style.unit}' if style.unit else ''}", "f(x̊)", "sum", "left", "largest feature"]
    more = [f"… and {len(targets) - MOST_NAMED} more outputs"] if len(targets) > MOST_NAMED else []
    return [*table(head, body), *more]


def _parts(one: Account, style: Column) -> list[str]:
    """Sum and rest of one output; "" where values are not parts of the change."""
    if not one.comparable:
        return ["", ""]
    return [style.signed(one.total), "0" if one.exact else style.signed(one.left)]
