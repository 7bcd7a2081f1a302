"""The figures of docs/trust.md, between two marks."""

from pathlib import Path
from typing import Any

# The page, and the marks around its figures.
PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
START, END = "<!-- soak -->", "<!-- /soak -->"


def write(figures: dict[str, Any], page: Path = PAGE) -> None:
    """Put the figures into the page."""
    text = page.read_text()
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{START}\n{table(figures)}\n{END}{after}")


def table(figures: dict[str, Any]) -> str:
    """Return the figures as a table with a sentence before it."""
    lines = [
        f"Seed {figures['seed']}, {figures['seconds'] / 60:.0f} minutes.",
        "",
        "| attempts | right | refused | wrong | hung |",
        "|---|---|---|---|---|",
    ]
    for name, title in TITLES.items():
        one = figures[name]
        cells = [f"{one[key]:,}" for key in ("attempts", "right", "refused", "wrong", "hung")]
        lines.append(f"| {cells[0]} {title} | {' | '.join(cells[1:])} |")
    lines += [
        "",
        "| killed runs | kills | wrong | hung | rows asked again | rows in flight, at most |",
        "|---|---|---|---|---|---|",
    ]
    for engine, one in figures["kills"].items():
        keys = ("kills", "wrong", "hung", "repeated_rows", "rows_in_flight")
        lines.append(f"| {engine} | {' | '.join(f'{one[key]:,}' for key in keys)} |")
    skew = figures["skew"]
    lines += [
        "",
        f"In the simulated hour {skew['processes']} processes shared a journal, with clocks up to two hours apart. "
        f"They stood still {skew['stopped']} times and were replaced {skew['killed']} times. "
        f"Of {skew['rows']:,} rows, {skew['rows_asked_of_two_living_processes']} were asked of two living processes. "
        f"A row of a silent process waited at most {skew['longest_wait_for_a_silent_process_s']:.0f} s.",
    ]
    return "\n".join(lines)


# What the parts of the first table are called.
TITLES = {"calls": "calls of `geex.explain`", "commands": "command lines", "files": "damaged files"}
