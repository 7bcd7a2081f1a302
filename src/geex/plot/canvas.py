"""A figure without a display, and the helpers that all pictures share."""

from typing import TYPE_CHECKING, Any

from geex._plain_text import harmless
from geex.errors import MissingPackage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOR, AGAINST, DOUBT = (
    (213, 94, 0),
    (0, 114, 178),
    (140, 140, 140),
)  # vermillion, blue: fit for any colour vision


def empty(width: float, height: float) -> "Figure":
    """Return a figure of this size in inches, in no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackage(
            "Pictures need matplotlib. Run `pip install matplotlib` (the extra `app`).", code="matplotlib-missing"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def hexadecimal(colour: tuple[int, int, int]) -> str:
    """Return a colour as matplotlib and browsers read it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def plain(text: str) -> str:
    """Return harmless text, without mathematics for matplotlib."""
    return harmless(text).replace("$", r"\$")


def bare(axes: Any) -> None:
    """Remove the frame above and to the right."""
    axes.spines[["top", "right"]].set_visible(False)


def panels_of(figure: "Figure", rows: int, columns: int, together: bool = False) -> list[Any]:
    """Return the axes of a figure's panels, row by row; `together`: one vertical axis for a row."""
    return list(figure.subplots(rows, columns, sharey=together, squeeze=False).ravel())
