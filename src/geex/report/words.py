"""What the numbers mean, in sentences for people who have not read the paper."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from geex._results.account import Account
from geex._results.account import account as account_of
from geex._results.certainty import certainty, explained_answers, is_only_output, quantity
from geex._results.explanation import Explanation
from geex._results.numbers import column, number, signed, with_error
from geex._results.significance.nothing_found import nothing_found
from geex._results.summary import against, spent
from geex.evaluate import Curve
from geex.plot.bars import name
from geex.plot.view import Output, Scene
from geex.report.region import Found

# What a partial run is called.
STOPPED = "stopped before it was through"
ROW_WORDS, COLUMN_WORDS = ("top", "middle", "bottom"), ("left", "centre", "right")
SELECTED = (
    "The part of the picture that counts most was chosen among nine by its value; its interval is corrected for that "
    "choice. `region` has an interval for a part of your own, which you choose before you look."
)
MOST_CHANGES = 10  # times the change, beyond which a percentage of it means nothing


def lead(explanation: Explanation, seen: Scene, output: Output, found: Found | None, things: str) -> str:
    """Return what was decided, how surely, and the part that counts most."""
    how = certainty(explanation, output.target, output.output, explained_answers(explanation))
    part = f" The run was {STOPPED}: this is the result of its first {explanation.queries:,} queries."
    decided = f"The model’s answer{_of(explanation, output, 'for')}: {how}."
    ended = part if explanation.partial else ""
    if output.quiet and found is None:
        return f"{nothing_found(explanation, len(output.values), things)} {decided}{ended}"
    alone = f" No single {things.removesuffix('s')} stands out from noise." if output.quiet else ""
    return f"{decided}{_region(explanation, seen, output, found, things)}{alone}{ended}"


def _of(explanation: Explanation, output: Output, word: str) -> str:
    """Which output, behind a preposition; "" for the only output of a model."""
    return "" if is_only_output(explanation, output.label) else f" {word} “{output.label}”"


def _region(explanation: Explanation, seen: Scene, output: Output, found: Found | None, things: str) -> str:
    """The part that counts most with its share of the change and its interval."""
    account = account_in(explanation, output)
    if not account.comparable:
        return ""
    if found is None:
        return ""
    style = column([found.value, account.change], [(found.high - found.low) / 4], digits=1)
    worth, low, high, change = (style.signed(n) for n in (found.value, found.low, found.high, account.change))
    where = _where(seen, found, things)
    unit = f" × {style.unit}" if style.unit else ""
    interval = f"95% interval {low} to {high}{unit}" if low != high else "exactly"
    verb = "carries" if account.shares else "is worth"
    share = _share(account, found)
    return f" {where} {verb} {worth}{unit} ({interval}){share} {change}{unit} between baseline and input."


def _share(account: Account, found: Found) -> str:
    """The region as a percentage of the change, with the words before the change itself."""
    if account.change == 0 or abs(found.value) > MOST_CHANGES * abs(account.change):
        return ", where the change is"
    share = found.value / account.change
    if share < 0:
        return ", against the change of"
    return f", {'' if account.shares else 'as much as '}{share:.0%} of the change of"


def _where(seen: Scene, found: Found, things: str) -> str:
    """What a region consists of, and where it lies."""
    count = int(found.features.sum())
    if seen.index is None:
        feature = int(np.argmax(found.features))
        return f"The largest feature, “{name(seen, feature)}{seen.cell(feature)}”,"
    size = f"{count:,} {things if count > 1 else things.removesuffix('s')}"
    return f"The part that counts most ({place(seen, found)}, {size}, outlined)"


def place(seen: Scene, found: Found) -> str:
    """Return where in the picture the middle of a region lies, such as "top left"."""
    rows, columns = np.nonzero(seen.spread(found.features))
    height, width = seen.spread(found.features).shape
    return f"{_third(ROW_WORDS, rows.mean(), height)} {_third(COLUMN_WORDS, columns.mean(), width)}"


def _third(names: Sequence[str], middle: float, size: int) -> str:
    return names[min(int(3 * (middle + 0.5) / size), 2)]


def account_in(explanation: Explanation, output: Output) -> Account:
    """Return the account of a shown output."""
    numbers = (output.output, output.base_value, output.gap, output.gap_stderr)
    return account_of(explanation, *numbers, output.total, float(output.centre.sum()))


def account(explanation: Explanation, output: Output, things: str) -> str:
    """Return completeness in words: f(x̊) + Σ + left = f(x)."""
    found, what = account_in(explanation, output), quantity(explanation)
    verb = "are" if what == "log-odds" else "is"
    compared = explanation.settings.absence or against(explanation).removeprefix("baseline ")
    ends = (
        f"For the input the model’s {what}{_of(explanation, output, 'of')} {verb} {number(output.output)}. "
        f"At the baseline{f' ({compared})' if compared else ''} {'they are' if verb == 'are' else 'it is'} "
        f"{number(output.base_value)}. "
    )
    if not found.comparable:
        return f"{ends}The values rank the {things}. They are not parts of this change."
    total = with_error(found.total, np.nan if found.exact else found.error)
    return f"{ends}The change is {signed(found.change)}. The values of the {things} sum to {total}. {_left(found)}"


def _left(found: Account) -> str:
    """What is left, and what it consists of."""
    if found.exact:
        return "Nothing is left over."
    style = column([found.left], [found.error])
    unit = f" × {style.unit}" if style.unit else ""
    interval = f" (95% interval {style.signed(found.low)} to {style.signed(found.high)}{unit})"
    known = not np.isnan(found.error)
    left = f"{style.signed(found.left)}{unit}{interval if known else ''}"
    if not found.shares:
        return (
            f"What is left, {left}, is the joint effect of several features. Each value is an average over what else "
            "is there, so these values need not add up to the change."
        )
    if not known:
        return f"{left} is left over."
    if found.noise:
        return f"{left} is left over: no more than noise."
    if not found.blurred:
        return f"{left} is left over, which is more than noise."
    return (
        f"{left} is left over, which is more than noise: the values add up for the model averaged over the method’s "
        "own noise. A smaller σ makes this part smaller."
    )


def sums(explanation: Explanation, output: Output) -> list[str]:
    """Return the account in numbers."""
    found = account_in(explanation, output)
    style = column([found.base, found.output, found.total], [] if found.exact else [found.error])
    unit = [f"(× {style.unit})"] if style.unit else []
    ends = [f"f(x̊) = {style.text(found.base)}", f"f(x) = {style.text(found.output)}"]
    if not found.comparable:
        return [*ends, *unit]
    what = "left over" if found.shares else "joint effect"
    left = "0" if found.exact else style.signed(found.left)
    return [ends[0], f"+ Σ values {style.signed(found.total)}", f"+ {what} {left}", f"= {ends[1]}", *unit]


def ninths(seen: Scene, output: Output, mean: bool) -> list[float]:
    """Return what every ninth of the picture holds, row by row: the sum of its values, or their mean."""
    assert seen.index is not None
    values = seen.spread(output.values - output.origin)
    if not mean:  # a group's share is spread over its pixels, so that ninths add up to Σ
        values = values / seen.spread(np.bincount(seen.index.ravel(), minlength=len(output.values)).astype(float))
    rows = [part for band in np.array_split(values, 3, axis=0) for part in np.array_split(band, 3, axis=1)]
    return [float((part.mean() if mean else part.sum()) if part.size else 0.0) for part in rows]


def alternative(seen: Scene, output: Output, mean: bool) -> str:
    """Return the picture in words, for people who do not see it."""
    parts = ninths(seen, output, mean)
    best, worst = int(np.argmax(parts)), int(np.argmin(parts))
    places = [f"{row} {column}" for row in ROW_WORDS for column in COLUMN_WORDS]
    opposed = f", and most evidence against it in the {places[worst]}" if parts[worst] < 0 else ""
    found = f"Most evidence for “{output.label}” lies in the {places[best]} of the picture{opposed}."
    return f"The input with its explanation over it. {found} Arrow keys move from pixel to pixel."


def deletion(curve: Curve, things: str) -> str:
    """Return what a deletion curve shows."""
    below = np.flatnonzero(curve.curve <= curve.start / 2)
    half = f"falls to half after {curve.fractions[below[0]]:.0%} of them" if below.size else "never falls to half"
    return (
        f"A test of the explanation: the {things} with the largest values are replaced by the baseline first. The "
        f"score {half}. The sooner it falls, the better. As one number (AOPC, higher is better) it is "
        f"{curve.aopc:.3f}. This took {curve.queries:,} more queries."
    )


def insertion(curve: Curve, things: str) -> str:
    """Return what an insertion curve shows."""
    return (
        f"A test of the explanation: the {things} with the largest values are put back first, onto a replacement. The "
        f"sooner the score rises, the better. As one number (the area below the curve) it is {curve.area:.3f}. This "
        f"took {curve.queries:,} more queries."
    )


def facts(explanation: Explanation, about: dict[str, str]) -> list[tuple[str, str]]:
    """Return how it was made; `about` comes first: date, input and model."""
    settings = explanation.settings
    told: list[tuple[str, Any]] = [
        *about.items(),
        ("Queries", spent(explanation)),
        ("Time", None if explanation.seconds is None else duration(explanation.seconds)),
        ("Method", settings.method),
        ("Seed", settings.seed),
        ("Baseline", settings.against or None),
        ("Score", settings.score or "the model’s answer as it comes"),
        ("Features", settings.features),
        ("Explained output", explanation.target),
        ("Partial", "yes: not all planned queries were answered" if explanation.partial else None),
        ("Plan", ", ".join(mark[:16] for mark in settings.fingerprints) or None),
        ("Version", f"geex {settings.version}"),
    ]
    return [(label, str(value)) for label, value in told if value is not None]


def duration(seconds: float) -> str:
    """Return a time as people write it."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
