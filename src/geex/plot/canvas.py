"""A figure without a display, and what all pictures have in common."""

from typing import TYPE_CHECKING, Any

from geex.errors import MissingPackage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOR, AGAINST, DOUBT = (213, 94, 0), (0, 114, 178), (140, 140, 140)  # vermillion and blue: told apart by everyone


def empty(width: float, height: float) -> "Figure":
    """A figure of so many inches that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackage("pictures are drawn by matplotlib: pip install 'geex[app]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def hexadecimal(colour: tuple[int, int, int]) -> str:
    """A colour as matplotlib and browsers read it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def plain(text: str) -> str:
    """Text in which matplotlib sees no mathematics."""
    return text.replace("$", r"\$")


def bare(axes: Any) -> None:
    """No frame above and to the right."""
    axes.spines[["top", "right"]].set_visible(False)


def panels_of(figure: "Figure", rows: int, columns: int, together: bool = False) -> list[Any]:
    """The axes of a figure's panels, row by row; `together`: with one vertical axis for a row."""
    return list(figure.subplots(rows, columns, sharey=together, squeeze=False).ravel())
