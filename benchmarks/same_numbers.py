"""python -m benchmarks.same_numbers --write FILE, later --compare FILE: whether numbers changed by a single bit.

Every method explains small models at fixed seeds, on one thread (see same_numbers_cases). `--write` stores the numbers.
`--compare` computes them again, prints each difference (case, field, largest absolute difference), and exits with 1 if
there is one. Another processor or another version of NumPy or SciPy may change bits too: compare on the same machine.
"""

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # before NumPy loads

import argparse
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.same_numbers_cases import cases

ENDS = ("base_value", "output", "gap", "gap_stderr")
FIELDS = ("values", "stderr", "centre", *ENDS, "target", "freedom", "queries", "reach", "noise", "partial")
REGION = ("value", "stderr", "low", "high", "share", "centre")
RENAMED: dict[str, str] = {}  # a field in the file -> the attribute of an Explanation that holds it now
CURVE = ("curve", "fractions", "start", "area", "aopc", "queries")
NO_REGION = ("RISE", "LIME", "Random")

Numbers = dict[str, np.ndarray]


def main() -> int:
    """Write the numbers, or compare them; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", type=Path, metavar="FILE", help="store the numbers in FILE")
    action.add_argument("--compare", type=Path, metavar="FILE", help="compare with the numbers in FILE")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases with TEXT in their name")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"geex is imported from {Path(geex.__file__).parent}")
    now = dict(computed(options.only))
    if options.write:
        with options.write.open("wb") as file:
            np.savez_compressed(file, **now)  # type: ignore[arg-type]
        errors = [f"{name}: {array}" for name, array in now.items() if name.endswith(": raised")]
        print(*errors, f"{len(now):,} arrays written to {options.write}", sep="\n")
        return 1 if errors else 0
    before = stored(options.compare, options.only)
    found = [difference(before.get(name), now.get(name)) for name in now | before]
    lines = [f"{name}: {text}" for name, text in zip(now | before, found, strict=True) if text]
    print(*lines, f"{len(now):,} arrays computed, {len(lines):,} differ from {options.compare}", sep="\n")
    return 1 if lines or not now else 0


def computed(only: str) -> Iterator[tuple[str, np.ndarray]]:
    """Every number of every case, named "case: field". A case that raises has one field, the error."""
    for name, case in cases():
        if only not in name:
            continue
        try:
            made = case()
            several = made if isinstance(made, list) else [made]
            found = {f"{name} [{place}]" if place else name: numbers(one) for place, one in enumerate(several)}
        except Exception as error:
            found = {name: {"raised": np.asarray(f"{type(error).__name__}: {error}")}}
        for label, fields in found.items():
            yield from ((f"{label}: {field}", array) for field, array in fields.items())


def numbers(explanation: Any) -> Numbers:
    """Values, errors and all other numbers of an explanation, its intervals, and those of a region; or of a curve."""
    if isinstance(explanation, geex.evaluate.Curve):
        return {name: np.asarray(getattr(explanation, name)) for name in CURVE}
    made = {name: getattr(explanation, RENAMED.get(name, name)) for name in FIELDS}
    made["low"], made["high"] = explanation.interval(0.9)
    made["needed"] = explanation.needed(0.05)
    shape = explanation.values.shape[1:] if isinstance(explanation.target, list) else explanation.values.shape
    mask = (np.arange(np.prod(shape)) % 3 == 0).reshape(shape)
    regions = {"region without answers": explanation.numpy().region(mask)}
    if explanation.settings.method.name not in NO_REGION:
        regions["region"] = explanation.region(mask)
    made |= {f"{kind}, {name}": getattr(region, name) for kind, region in regions.items() for name in REGION}
    return {name: np.asarray([] if number is None else number) for name, number in made.items()}


def stored(path: Path, only: str) -> Numbers:
    """The numbers in a file; those of tensors only where torch is installed."""
    with np.load(path) as file:
        names = [name for name in file.files if only in name.rsplit(": ", 1)[0]]
        return {name: file[name] for name in names if find_spec("torch") or not name.startswith("torch ")}


def difference(before: np.ndarray | None, now: np.ndarray | None) -> str:
    """How two arrays differ, in words; "" where all bits are the same."""
    if before is None or now is None:
        text = f" ({now})" if now is not None and now.dtype.kind == "U" else ""
        return f"only {'now' if before is None else 'before'}{text}"
    if (before.dtype, before.shape) != (now.dtype, now.shape):
        return f"was {before.dtype} of shape {before.shape}, is {now.dtype} of shape {now.shape}"
    if before.tobytes() == now.tobytes():
        return ""
    if before.dtype.kind == "U":
        return f"was {before}, is {now}"
    bits = [np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1) for array in (before, now)]
    with np.errstate(invalid="ignore"):
        apart = np.nan_to_num(np.abs(now.astype(np.float64) - before.astype(np.float64)), nan=0.0)
    return f"differs by up to {apart.max():.3g}, in {(bits[0] != bits[1]).any(axis=1).sum():,} of {before.size:,}"


if __name__ == "__main__":
    sys.exit(main())
