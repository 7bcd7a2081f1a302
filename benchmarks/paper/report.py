"""Write table.md, table.json and the figures when the work stops, for any reason."""

import json
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.paper.cases import CaseSet
from benchmarks.paper.curve import curves
from benchmarks.paper.results import Results
from benchmarks.paper.settings import REDUCTIONS
from benchmarks.paper.table import markdown, numbers

HEAD = """# Table 1 of the paper, ours beside the paper's

Each cell is the normalised AOPC of the softmax probability of the predicted class; higher is better. Pixels are deleted
in descending order of their signed value (channels summed). Deleted pixels are replaced by the baseline,
or by one Gaussian noise image for each explicand, the same for all methods. ± is the standard error over images. The
network classifies all images correctly: they are the first such test images, or photos in an order shuffled once. The
seed of every method and of the replacement is the image's number. GE and GEEX have rows for both readings of σ.
"""


def report(sets: list[CaseSet], results: Results, folder: Path, command: str, quick: bool) -> list[Path]:
    """Write table and figures of the results so far, and return the files."""
    tables = [numbers(home, results) for home in sets if home.tabled]
    tables = [table for table in tables if table["methods"]]
    facts = {"command": command, "quick": quick, "reductions": list(REDUCTIONS) if quick else []}
    found = {home.data: curves(home, results) for home in sets if home.setting.curve}
    content = {"machine": machine(), **facts, "tables": tables, "queries": found}
    text = [HEAD, f"Command: `{command}`\n"]
    if quick:
        text += ["**Quick form**, for a first look. Its numbers differ from those of the full table. Reductions:\n"]
        text += ["\n".join(f"- {line}" for line in REDUCTIONS) + "\n"]
    text += [markdown(table) for table in tables]
    files = [folder / "table.md", folder / "table.json"]
    files[0].write_text("\n".join(text), encoding="utf-8")
    files[1].write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return files + _figures(sets, results, folder / "figures")


def _figures(sets: list[CaseSet], results: Results, folder: Path) -> list[Path]:
    try:
        from benchmarks.paper.figures import draw
    except ImportError as error:
        print(f"No figures: {error}. Install matplotlib, and repeat the command with --report.")
        return []
    return draw(sets, results, folder)
