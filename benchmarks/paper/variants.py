"""python -m benchmarks.paper.variants: measure how Inception V3's table depends on settings that the paper omits.

The variants are noise per channel or shared by the channels of a pixel, and two blurs of the baseline. Options are
those of benchmarks.paper.
"""

from dataclasses import replace

import geex
from benchmarks.paper.__main__ import changed, prepare
from benchmarks.paper.cases import CaseSet
from benchmarks.paper.large import large
from benchmarks.paper.options import Options, parsed
from benchmarks.paper.reference import REPLACEMENTS
from benchmarks.paper.results import Results
from benchmarks.paper.run import Clock, run
from benchmarks.paper.settings import INCEPTION
from benchmarks.paper.table import numbers

METHODS = ("ig", "rise", "lime", "geex-half", "geex", "random")
IMAGES = 20
VARIANTS = {
    "blur 31/5": INCEPTION,
    "blur 31/5, noise shared": replace(INCEPTION, shared=0),
    "blur 61/10": replace(INCEPTION, baseline=geex.blur(61, 10.0)),
    "blur 61/10, noise shared": replace(INCEPTION, baseline=geex.blur(61, 10.0), shared=0),
}


def main() -> None:
    """Measure, and print a table."""
    options = replace(parsed(), methods=METHODS)
    prepare(options)
    results = Results(options.out)
    homes = {name: variant(name, options) for name in VARIANTS}
    if not options.report:
        run(list(homes.values()), results, Clock(options.minutes), options.share)
    results.read()
    print(f"| variant | images | replacement | {' | '.join(METHODS)} |\n" + "|---" * (3 + len(METHODS)) + "|")
    for name, home in homes.items():
        found = numbers(home, results)["methods"]
        for replacement in REPLACEMENTS:
            cells = [f"{found[key][replacement]['ours']:.3f}" if key in found else "–" for key in METHODS]
            count = max((row["images"] for row in found.values()), default=0)
            print(f"| {name} | {count} | {replacement} | {' | '.join(cells)} |")


def variant(name: str, options: Options) -> CaseSet:
    """The labelled photos under one of VARIANTS; what does not depend on the noise is not measured twice."""
    setting = changed(replace(VARIANTS[name], images=IMAGES, curve=0), options)
    home = large(setting, options)[-1]
    methods = METHODS if setting.shared is None else ("geex-half", "geex")
    return replace(home, name=f"inception, {name}" if name != "blur 31/5" else "inception", methods=methods)


if __name__ == "__main__":
    main()
