"""The printed table of explanations: how many rows, the columns that matter, and what is missing."""

import html as markup
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from geex._plain_text import one_line
from geex._results.table.importance import importance_lines

if TYPE_CHECKING:
    from geex._results.table.explanation import TableExplanation

# Columns and failed rows that are listed.
TOP_COLUMNS, LISTED_FAILURES = 8, 3
# Characters of a line.
NOTE_WIDTH = 100


def described(table: "TableExplanation") -> str:
    """Return the summary."""
    lines = [_headline(table), "", *importance_lines(table.importance(), TOP_COLUMNS), "", *_notes(table)]
    return "\n".join(line.rstrip() for line in lines)


def html(table: "TableExplanation") -> str:
    """Return the summary for notebooks."""
    found = table.importance()
    head = f"<tr><th>column</th><th>mean |value|</th><th>{100 * found.level:g}% interval</th></tr>"
    rows = zip(found.columns[:TOP_COLUMNS], found.values, found.low, found.high, strict=False)
    body = "".join(
        f"<tr><td>{markup.escape(one_line(name))}</td><td>{value:.4g}</td><td>{low:.4g} … {high:.4g}</td></tr>"
        for name, value, low, high in rows
    )
    lines = [_headline(table), *_notes(table)]
    first, *rest = (markup.escape(line) for line in lines)
    return f"<p>{first}</p><table>{head}{body}</table><p>{'<br>'.join(rest)}</p>"


def _headline(table: "TableExplanation") -> str:
    targets, counts = np.unique(table.target, return_counts=True)
    names = [_label(table, int(target)) for target in targets]
    if len(targets) == 1:
        what = names[0]
    else:
        parts = [f"{name} in {count:,}" for name, count in zip(names, counts, strict=True)]
        what = ", ".join(parts) if len(parts) <= LISTED_FAILURES else f"each row's largest of {len(parts)} outputs"
    used = int(table.queries.sum()) + table.settings.baselines
    rows = "1 row" if len(table) == 1 else f"{len(table):,} rows"
    return f"{rows} × {len(table.columns):,} columns: {what}. {used:,} queries of {table.settings.method}."


def _notes(table: "TableExplanation") -> list[str]:
    meaning = str(table.estimand).split(". ")[0].rstrip(".")
    notes = [f"Values: {meaning}." if meaning else ""]
    if table.partial:
        notes.append("The run ended before all rows were done.")
    if table.failed:
        some = "; ".join(f"row {one.label}: {one_line(one.message)}" for one in table.failed[:LISTED_FAILURES])
        more = f"; and {len(table.failed) - LISTED_FAILURES:,} more" if len(table.failed) > LISTED_FAILURES else ""
        notes.append(f"The model failed on {len(table.failed):,} rows, which are left out ({some}{more}).")
    if len(np.unique(table.target)) > 1:
        notes.append("The importance averages over rows with different outputs.")
    return [line for note in notes if note for line in textwrap.wrap(note, NOTE_WIDTH, break_long_words=False)]


def _label(table: "TableExplanation", target: int) -> str:
    known = table.labels is not None and 0 <= target < len(table.labels)
    return one_line(table.labels[target]) if known and table.labels is not None else f"output {target}"
