"""Random command lines over the files of `files.py`, run in this process."""

import random
from typing import Any

from benchmarks.soak.files import BUDGET, READERS
from benchmarks.soak.outcomes import Outcomes, command, outcome_of

# Words that may stand anywhere.
WORDS = ["", "-", "x", "0", "-1", "1e9", "nan", "a,b", "\x1b[2J", "é", "--", "soaked:row", "soaked:none", "os:getcwd"]
WORDS += [
    "https://",
    "http://127.0.0.1:9/v2/models/x",
    ".",
    "/",
    "none.npy",
    "mean",
    "blur",
    "GEEX(sigma=0.3)",
    "geex(",
]
# Options with values that suit some of them.
OPTIONS: dict[str, list[str]] = {
    "--method": ["geex", "shapley", "regression", "rise", "GEEX(sigma=0.3)", "GEEX(sigma=-1)", "GEEX(x=1)"],
    "--target": ["0", "1", "7", "one", "all"],
    "--labels": ["labels.json", "a.csv", "a.png"],
    "--baseline": ["0", "1,2,3", "mean", "blur:3,1", "base.npy", "a.png"],
    "--score": ["answer", "softmax", "log_odds", "auto"],
    "--features": ["elements", "pixels", "map.npy"],
    "--queries": ["21", "1", "0", "x"],
    "--seed": ["3", "-3"],
    "--batch": ["1", "0", "7"],
    "--stop": ["Precise(tolerance=0.1)", "Settled()", "Precise("],
    "--journal": ["run.geex", "new.geex", "a.npy", "/nowhere/x"],
    "--price": ["0.1", "-1"],
    "--output": ["o.json", "o.npz", "a.npy", "saved.npz", "o.txt", "/nowhere/o.json", "-", "run.geex"],
    "--row": ["0", "1", "99", "-1"],
    "--drop": ["age", "none"],
    "--size": ["8", "8x9", "0", "x"],
    "--order": ["chw", "hwc", "hw", "x"],
    "--scale": ["255", "nan"],
    "--mean": ["0.5", "1,2", "x"],
    "--std": ["0.5", "0", "1,2,3"],
    "--header": ["A: b", "A", "A: env:NONE_AT_ALL"],
    "--request": ["{}", '{"r": "{rows}"}', "{", '{"r": "env:NONE", "x": "{row}"}'],
    "--protocol": ["v2", "json", "x"],
    "--concurrency": ["2", "0"],
    "--attempts": ["1", "0"],
    "--rate": ["5000", "0"],
}
# Options without a value.
FLAGS = ["--quiet", "--json", "--grey", "--squeeze", "--debug", "--help", "--none"]


def fuzzed_commands(count: int, seed: int) -> dict[str, Any]:
    """Return the outcomes of `count` random command lines."""
    draw, outcomes = random.Random(seed), Outcomes()
    for number in range(count):
        words = _words(draw)
        outcomes.attempt(f"command {number}: {words}", lambda given=words: _outcome(given))
    return outcomes.figures()


def _outcome(words: list[str]) -> str:
    code, out, err = command(words)
    return outcome_of(code, out, err.replace("Traceback", "") if "--debug" in words else err)


def _words(draw: random.Random) -> list[str]:
    name = draw.choice(["explain"] * 6 + ["show", "show", "evaluate", "compare", "resume", "none"])
    files = sorted(READERS)
    words = {
        "explain": ["soaked:row", draw.choice([*files, "a.csv", "a.npy"])],
        "compare": ["soaked:row", "a.npy", "--method", "geex"],
        "evaluate": ["soaked:row", "saved.npz"],
        "show": [draw.choice(["saved.npz", "run.geex", *files])],
        "resume": ["run.geex", *draw.choice([[], ["--yes"]])],
    }.get(name, [])
    given = [name, *words]
    if name in ("explain", "compare"):
        given += map(str, BUDGET)
    for _ in range(draw.choice([0, 1, 1, 2, 3, 4])):
        option = draw.choice(sorted(OPTIONS))
        given += [option, draw.choice([*OPTIONS[option] * 3, *WORDS])]
    if draw.random() < 0.2:
        given.insert(draw.randrange(1, len(given) + 1), draw.choice([*FLAGS, *WORDS]))
    if draw.random() < 0.1:
        del given[draw.randrange(len(given))]
    return given
