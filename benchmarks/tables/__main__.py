"""python -m benchmarks.tables: compare Shapley values of tabular models, ours and the peers', with exact ones.

A run is resumed from its file of cells; `--afresh` measures ours again and keeps what the rivals did. The results are
in benchmarks/results/tables.json and docs/tables.md; `--quick` prints the page of two rows and two budgets.
"""

import argparse
import datetime
import json
import logging
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

from benchmarks.tables.cases import settings
from benchmarks.tables.cells import done, run
from benchmarks.tables.entrants import ENTRANTS
from benchmarks.tables.page import page

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
CELLS = Path(__file__).parents[2] / "out" / "tables.jsonl"
BUDGETS, QUICK = (50, 100, 200, 500, 1000, 2000), (100, 500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="two rows, two budgets, and no page")
    parser.add_argument("--developed", action="store_true", help="only models of development")
    parser.add_argument("--only", default="", help="only models whose name contains this")
    parser.add_argument("--entrants", nargs="*", default=list(ENTRANTS))
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--page", action="store_true", help="write the page of the cells there are")
    parser.add_argument("--afresh", action="store_true", help="measure ours again")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("shap").setLevel(logging.ERROR)
    rows, budgets = (2, QUICK) if options.quick else (options.rows, BUDGETS)
    if options.afresh and options.cells.exists():
        kept = [cell for cell in done(options.cells).values() if cell["entrant"] != "ours"]
        options.cells.write_text("".join(json.dumps(cell) + "\n" for cell in kept), encoding="utf-8")
    chosen = [one for one in settings() if options.only in one.name and (one.developed or not options.developed)]
    if not options.page:
        run(chosen, rows, budgets, options.entrants, options.cells)
    packages = ("shap", "shapiq", "scikit-learn", "lightgbm", "xgboost", "numpy")
    about = {
        "rows": rows,
        "budgets": budgets,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "python": platform.python_version(),
        "versions": ", ".join(f"{name} {version(name)}" for name in packages),
    }
    names = {one.name for one in chosen}
    cells = {
        key: cell
        for key, cell in done(options.cells).items()
        if key[0] in names and key[1] < rows and key[2] in budgets
    }
    written = page(cells, chosen, about)
    if options.quick or options.developed or options.only:
        print(written)
        return
    PAGE.write_text(written, encoding="utf-8")
    results = PAGE.parents[1] / "benchmarks" / "results" / "tables.json"
    results.write_text(json.dumps({**about, "cells": list(cells.values())}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
