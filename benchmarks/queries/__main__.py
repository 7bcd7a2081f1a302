"""python -m benchmarks.queries: measure missing results, then write results, page and picture."""

import argparse
from pathlib import Path

from benchmarks.machine import RESULTS, record
from benchmarks.paper.__main__ import prepare
from benchmarks.paper.cases import CaseSet
from benchmarks.paper.options import Options, share_of
from benchmarks.paper.photos import photos_source
from benchmarks.paper.results import Results, lines
from benchmarks.paper.run import Clock, work_through
from benchmarks.queries.entrants import BUDGETS, ROUNDS, Phase, entrants, missing
from benchmarks.queries.page import draw, markdown
from benchmarks.queries.sets import PHOTOS, QUICK_BUDGETS, SETTINGS, case_set, settings
from benchmarks.queries.table import Table
from benchmarks.queries.trial import Trial
from benchmarks.queries.unseen import Unseen


def main() -> None:
    options = parsed()
    results = Results(options.out)
    for file in options.merge:
        merge(file, results)
    if not options.report:
        left = measure(options, results)
        print(f"{left} measurements left. Repeat the command to continue." if left else "All measured.", flush=True)
    if not options.measure:
        report(results, options.quick)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queries", description=__doc__)
    add = parser.add_argument
    add(
        "--quick", action="store_true", help="for a CPU: 10 grey images, 2 photos, up to 500 queries; reported in --out"
    )
    add("--data", help="data sets, separated by commas (default: all available)")
    add("--entrants", help="such as ours,ig,rise (default: all whose packages are installed)")
    add("--budgets", help=f"some of {','.join(map(str, BUDGETS))} (default: all; quick: up to 500)")
    add("--images", type=int, help="images of each data set (default: 200 grey ones, 60 photos)")
    add("--photos", type=Path, help="a pack of photos, from benchmarks.paper.pack (default: GEEX_PHOTOS)")
    add("--device", default="cpu", help="cpu or cuda")
    add("--half", action="store_true", help="on cuda, run networks in 16-bit floats (except for white boxes)")
    add("--batch", type=int, help="photos per call (default: 250 on cuda)")
    add("--limit", type=float, help="stop before this many seconds; repeat the command to continue")
    add("--share", default="1/1", help="i/n: this process measures every n-th image; n processes share one --out")
    add("--merge", type=Path, nargs="+", default=[], help="results.jsonl of other machines to merge")
    add("--measure", action="store_true", help="measure only: write no page and no picture")
    add("--report", action="store_true", help="write only page and picture, from existing results")
    add("--out", type=Path, help="default: out/queries, or out/queries-quick")
    given = parser.parse_args()
    usual = QUICK_BUDGETS if given.quick else BUDGETS
    given.out = given.out or Path("out/queries-quick" if given.quick else "out/queries")
    given.share = share_of(parser, given.share)
    given.data = _listed(parser, "--data", given.data, list(SETTINGS))
    given.entrants = _listed(parser, "--entrants", given.entrants, list(entrants(SETTINGS["mnist"])))
    budgets = _listed(parser, "--budgets", given.budgets or ",".join(map(str, usual)), list(map(str, BUDGETS)))
    given.budgets = [int(budget) for budget in budgets]
    return given


def _listed(parser: argparse.ArgumentParser, name: str, text: str | None, known: list[str]) -> list[str]:
    """The names in a list with commas; None: all."""
    wanted = text.split(",") if text else known
    for one in wanted:
        if one not in known:
            parser.error(f"{name} must be from {', '.join(known)}; got {one!r}")
    return wanted


def measure(options: argparse.Namespace, results: Results) -> int:
    """Round after round; returns how many pieces are left."""
    clock = Clock(None if options.limit is None else options.limit / 60)
    for key in [key for key in options.entrants if missing(key)]:
        print(f"{key} is left out: {', '.join(missing(key))} is not installed.")
        options.entrants.remove(key)
    sets = case_sets(options)
    unseen = {home.data: Unseen(home, 14 if home.data in PHOTOS else 7) for home in sets}
    return sum(
        work_through(trials(home, phase, unseen[home.data], options), results, clock)
        for phases in ROUNDS
        for home in sets
        for phase in phases
    )


def trials(home: CaseSet, phase: Phase, unseen: Unseen, options: argparse.Namespace) -> list[Trial]:
    """Return the selected part of a phase."""
    keys, budgets, few = phase
    chosen = tuple(budget for budget in budgets if budget in options.budgets)
    if budgets and not chosen:
        return []
    rows = [row for key, row in entrants(home.setting).items() if key in keys and key in options.entrants]
    part, count = options.share
    cases = home.cases[: few if home.data in PHOTOS else None][part - 1 :: count]
    return [Trial(home, case, row, chosen, unseen) for case in cases for row in rows]


def case_sets(options: argparse.Namespace) -> list[CaseSet]:
    """Return the selected data sets, without those whose network or photos are missing."""
    names = ("quick", "images", "device", "half")
    batch = options.batch or (250 if options.device.startswith("cuda") else None)
    common = Options(
        photos=photos_source(options.photos), batch=batch, **{name: getattr(options, name) for name in names}
    )
    prepare(common)
    sets = []
    for name in options.data:
        try:
            sets.append(case_set(name, common))
        except (FileNotFoundError, ModuleNotFoundError) as error:
            print(f"{name} is left out: {error}.")
    return sets


def merge(file: Path, results: Results) -> None:
    """Takes in another file's results."""
    before = len(results.known)
    if not file.is_file():
        raise SystemExit(f"--merge: there is no file {file}.")
    for result in lines(file):
        if not results.has(result):
            results.add(result)
    print(f"{file}: {len(results.known) - before} new results.")


def report(results: Results, quick: bool) -> None:
    """Writes queries.json, the page and the picture; those of a quick run stay beside its results."""
    tables = {name: Table.of(setting, results) for name, setting in settings(quick).items()}
    found = {name: table.numbers() for name, table in tables.items() if table.results}
    if not found:
        raise SystemExit(f"{results.file} holds no results of two images or more: nothing to report.")
    docs, numbers = (results.folder, results.folder) if quick else (Path("docs"), RESULTS)
    page, picture = docs / "queries.md", docs / "pictures" / "quality.png"
    print(record("queries", {"data": found}, numbers), page, picture, sep="\n")
    page.write_text(markdown(found), encoding="utf-8")
    draw(found, picture)


if __name__ == "__main__":
    main()
