"""All pictures of one explanation, for `Explanation.plot`."""

from typing import TYPE_CHECKING, Any

from geex._results.explanation import Explanation
from geex.errors import InputError
from geex.plot.bars import bars
from geex.plot.convergence import convergence
from geex.plot.overlay import outputs, overlay
from geex.plot.tint import SHOWS, Look
from geex.plot.view import scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

# What `kind` may name.
KINDS = (*SHOWS, "outputs", "bars", "convergence")


def figure(
    explanation: Explanation,
    kind: "str | Callable[[Explanation], Figure] | None",
    image: Any,
    percentile: float,
    opacity: float,
    top: float,
    level: float,
) -> "Figure":
    """Return the figure that `Explanation.plot` describes; the arguments are the same."""
    if callable(kind):
        return kind(explanation)
    if kind is None:
        kind = "bars" if scene(explanation, image, errors=False).index is None else "sure"
    if kind not in KINDS:
        raise InputError(
            f"`kind` must be one of {', '.join(KINDS)}, or a function of yours; got {kind!r}.", code="kind-unknown"
        )
    look = Look(kind if kind in SHOWS else "sure", percentile, opacity, top, level)
    if kind == "bars":
        return bars(explanation, level=level)
    if kind == "convergence":
        return convergence(explanation, level=level)
    if kind == "outputs":
        return outputs(explanation, look=look, image=image)
    return overlay(explanation, look=look, image=image)
