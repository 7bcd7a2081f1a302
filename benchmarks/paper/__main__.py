"""python -m benchmarks.paper: measure missing results, then write the table and figures of all results."""

import shlex
import sys
from dataclasses import replace

import torch

from benchmarks.paper.cases import CaseSet
from benchmarks.paper.grey import grey
from benchmarks.paper.large import large
from benchmarks.paper.options import Options, parsed
from benchmarks.paper.report import report
from benchmarks.paper.results import Results
from benchmarks.paper.run import Clock, run
from benchmarks.paper.settings import FULL, QUICK, REDUCTIONS, Setting


def main() -> int:
    options = parsed()
    clock = Clock(options.minutes)
    command = shlex.join(["python", "-m", "benchmarks.paper", *sys.argv[1:]])
    if options.quick:
        print("Quick form. Reductions:\n" + "\n".join(f"- {line}" for line in REDUCTIONS), flush=True)
    prepare(options)
    sets = case_sets(options)
    results = Results(options.out)
    status = 0
    if not options.report:
        status = work(sets, results, clock, options, command)
    results.read()
    for file in report(sets, results, options.out, command, options.quick):
        print(file)
    return status


def work(sets: list[CaseSet], results: Results, clock: Clock, options: Options, command: str) -> int:
    """Return the exit status: 0 when done or at the time limit, 130 after Ctrl-C."""
    try:
        left = run(sets, results, clock, options.share)
    except KeyboardInterrupt:
        print(f"\nInterrupted. Results so far are in {results.file}. To continue: {command}", flush=True)
        return 130
    if left:
        print(f"\nTime limit reached with {left} measurements left. To continue: {command}", flush=True)
    return 0


def prepare(options: Options) -> None:
    """Set the precision on a GPU."""
    if options.device.startswith("cuda"):
        torch.backends.cudnn.allow_tf32 = True
        torch.backends.cuda.matmul.allow_tf32 = True


def case_sets(options: Options) -> list[CaseSet]:
    """Return the selected sets of cases."""
    sets: list[CaseSet] = []
    for name in FULL if options.only is None else [options.only]:
        setting = changed((QUICK if options.quick else FULL)[name], options)
        if name == "inception":
            sets += photographs(setting, options)
        else:
            sets.append(grey(setting, options))
    return sets


def photographs(setting: Setting, options: Options) -> list[CaseSet]:
    if options.photos is None and not options.quick:
        print("No labelled photos: Inception V3 uses scikit-image's pictures. Pass --photos FOLDER or set GEEX_PHOTOS.")
    try:
        return large(setting, options)
    except FileNotFoundError as error:
        if options.only == "inception":
            raise
        print(f"Inception V3 is left out: {error} Or pass --torchvision.")
        return []


def changed(setting: Setting, options: Options) -> Setting:
    """Return the setting with the changes of the command line."""
    names = ("images", "step", "queries")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if options.curve is not None and setting.name == "inception":
        given["curve"] = options.curve
    return replace(setting, **given)


if __name__ == "__main__":
    sys.exit(main())
