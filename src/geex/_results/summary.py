"""An explanation in words and a few numbers, for a person at a prompt."""

from typing import TYPE_CHECKING

import numpy as np

from geex._arrays.arrays import host

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

SHOWN = 5
MANY = 10_000_000
ROUGHLY = "a rough guess from two answers"
ROUNDING = 1e-6  # of the larger of f(x) and f(x̊)
SCORES = {
    "softmax": "probability",
    "log_odds": "log-odds",
    "bounded_log_odds": "log-odds",
    "sure_log_odds": "log-odds",
    "margin": "lead over the next output",
}
FEW = 2e-3  # chances below a thousandth are not told apart, those near 1 are


def quantity(explanation: "Explanation") -> str:
    """What f is called."""
    return SCORES.get(str(explanation.settings.score), "score")


def chance(what: str, output: float) -> str:
    """Log-odds once more, as the chance that most people think in."""
    if what != "log-odds":
        return ""
    share = 1 / (1 + np.exp(-output))
    if share < FEW:
        return ", a chance below 0.2%"
    return ", a chance above 99.99%" if share >= 0.9999 else f", a chance of {share:.{1 + (share > 1 - FEW)}%}"


def described(explanation: "Explanation") -> str:
    """All of it but the arrays."""
    asked = f"  {explanation.queries:,} queries{end(explanation)}. {explanation.advice()} {explanation.estimand}"
    return "\n".join([_headline(explanation), *_accounts(explanation), *_doubts(explanation), asked])


def advised(explanation: "Explanation", wanted: int | None, tolerance: float) -> str:
    """What `needed` says, in a sentence."""
    if wanted is None:
        return "How many queries are needed cannot be told."
    if wanted == 0:
        same = "" if explanation.noise is not None else ", if the model answers the same each time"
        return f"The values are exact{same}: more queries would change nothing."
    known = f"the sum over the top tenth of features to ±{100 * tolerance:.3g}% of f(x) − f(x̊)"
    if wanted <= explanation.queries:
        noisy = explanation.error_share() > tolerance
        enough = "Everything was asked, but the model's own noise is too large" if noisy else "These are enough"
        return f"{enough} to know {known}."
    asked = f"To know {known}, ask {f'about {wanted:,}' if wanted <= MANY else f'more than {MANY:,}'}"
    rough = explanation.estimand.adaptive
    return f"{asked}: a rough guess, since what is asked follows the answers." if rough else f"{asked}."


def end(explanation: "Explanation") -> str:
    """Why a run ended, where the budget alone is not why."""
    if explanation.partial:
        return ", stopped before it was through"
    if explanation.ended:
        return f", ended by {explanation.settings.stop}: {explanation.ended}"
    unmet = explanation.settings.stop is not None and explanation.needed() != 0
    return f"; {explanation.settings.stop} was not met" if unmet else ""


def _doubts(explanation: "Explanation") -> list[str]:
    """What the model itself makes unsure."""
    if not explanation.unsteady:
        return []
    size = float(np.max(host(explanation.noise)))
    return [f"  The model answers x differently each time: its score has noise of some {size:.2g}, {ROUGHLY}."]


def _headline(explanation: "Explanation") -> str:
    several = explanation.target if isinstance(explanation.target, list) else []
    listed = f"outputs {several}" if len(several) <= SHOWN else f"{len(several)} outputs"
    what = _output(explanation, explanation.target) if isinstance(explanation.target, int) else listed
    method, shape = explanation.settings.method, tuple(explanation.values.shape)
    baseline = explanation.settings.against
    against = f", against {baseline}" if baseline else ""
    return f"Explanation of {what} by {method}, values of shape {shape}{against}"


def _output(explanation: "Explanation", target: int) -> str:
    """An output by its number, and by its label where it has one."""
    return f"output {target}" + (f" ({explanation.labels[target]})" if explanation.labels else "")


def called(explanation: "Explanation", output: float) -> str:
    """What f(x) is, where it is not the answer as it comes."""
    what = quantity(explanation)
    return "" if what == "score" else f" ({what}{chance(what, output)})"


def rounding(gap: float, error: float, output: float, base: float) -> bool:
    """Whether a gap, and its error where it has one, is no more than rounding of f(x) and f(x̊)."""
    return max(abs(gap), 0.0 if np.isnan(error) else error) < ROUNDING * max(abs(output), abs(base), 1e-300)


def _feature(explanation: "Explanation", place: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """A feature by its name, or by its place."""
    return explanation.names[int(np.ravel_multi_index(place, shape))] if explanation.names else str(place)


def _accounts(explanation: "Explanation") -> list[str]:
    several = not isinstance(explanation.target, int)
    accounts = []
    targets = explanation.target if isinstance(explanation.target, list) else [explanation.target]
    for j, target in enumerate(targets[:SHOWN]):
        values = host(explanation.values[j, ...] if several else explanation.values)
        stderr = host(explanation.stderr[j, ...] if several else explanation.stderr)
        ends = [explanation.output, explanation.base_value, explanation.gap, explanation.gap_stderr]
        output, base, gap, error = (float(end[j]) if several else float(end) for end in ends)  # type: ignore[index]
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.abs(values))), values.shape))
        where = _feature(explanation, place, values.shape)
        top = f"largest {values[place]:+.4g} ± {stderr[place]:.2g} at {where}"
        name = f"  {_output(explanation, target)}: " if several else "  "
        found = f"f(x) {output:.4g}{called(explanation, output)}"
        account = f"{found}, f(x̊) {base:.4g}"
        if explanation.adds_up:
            left = "0" if rounding(gap, error, output, base) else f"{gap:.2g} ± {error:.2g}"
            account = f"{found} = f(x̊) {base:.4g} + Σ {values.sum():.4g} + gap {left}"
        accounts.append(f"{name}{account}; {top}")
    more = [f"  … and {len(targets) - SHOWN} more outputs"] if len(targets) > SHOWN else []
    return accounts + more
