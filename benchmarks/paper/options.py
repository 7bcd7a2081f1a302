"""The command line."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.paper.photos import photos_source
from benchmarks.paper.settings import FULL


@dataclass(frozen=True)
class Options:
    """The parsed command line."""

    quick: bool = False
    only: str | None = None
    data: Path | None = None
    photos: Path | None = None
    images: int | None = None
    queries: int | None = None
    curve: int | None = None
    methods: tuple[str, ...] | None = None
    step: int | None = None
    device: str = "cpu"
    batch: int | None = None
    half: bool = False
    torchvision: bool = False
    minutes: float | None = None
    share: tuple[int, int] = (1, 1)
    report: bool = False
    out: Path = Path("out/paper")


def parsed(arguments: list[str] | None = None) -> Options:
    """Parse a command line; None: that of this process."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description="Compute the paper's Table 1 and figures, beside the paper's numbers.",
    )
    add = parser.add_argument
    add(
        "--quick",
        action="store_true",
        help="2 cores, within 15 minutes: fewer images and queries; the output lists the reductions",
    )
    add("--only", choices=list(FULL), help="measure one data set")
    add("--data", type=Path, help="data folder (default: GEEX_DATA, else data/)")
    add("--photos", type=Path, help="folder of labelled photos, or a pack of them (default: GEEX_PHOTOS)")
    add("--images", type=int, help="images of each data set (default: 200 grey ones, 60 photos)")
    add("--queries", type=int, help="queries of each black box (default: 5000; quick: 200 for Inception V3)")
    add("--curve", type=int, help="photos for the figure of AOPC against queries (default: 20; quick: 0)")
    add("--methods", help="rows of the table, separated by commas, such as ig,rise,geex-half (default: all)")
    add("--step", type=int, help="pixels for each step of deletion (default: 1 grey, 500 photos)")
    add("--device", default="cpu", help="cpu or cuda")
    add("--batch", type=int, help="photos per call of Inception V3 (default: 200 on cuda)")
    add("--half", action="store_true", help="on cuda, run Inception V3 in 16-bit floats (except for white boxes)")
    add("--torchvision", action="store_true", help="use torchvision's weights for Inception V3")
    add("--minutes", type=float, help="stop before this many minutes; repeat the command to continue")
    add("--share", default="1/1", help="i/n: this process measures every n-th image; n processes share one --out")
    add("--report", action="store_true", help="write only table and figures, from existing results")
    add("--out", type=Path, help="default: out/paper, or out/paper-quick")
    given = vars(parser.parse_args(arguments))
    given["methods"] = tuple(given["methods"].split(",")) if given["methods"] else None
    given["photos"] = photos_source(given["photos"])
    given["share"] = share_of(parser, given["share"])
    given["out"] = given["out"] or Path("out/paper-quick" if given["quick"] else "out/paper")
    return Options(**given)


def share_of(parser: argparse.ArgumentParser, text: str) -> tuple[int, int]:
    part, _, count = text.partition("/")
    if not (part.isdigit() and count.isdigit() and 1 <= int(part) <= int(count)):
        parser.error(f"--share must be i/n with 1 ≤ i ≤ n, such as 1/4; got {text!r}")
    return int(part), int(count)
