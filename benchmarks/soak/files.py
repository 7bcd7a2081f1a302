"""Files of each kind that the command line reads, whole and damaged."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.soak.outcomes import Outcomes, command, outcome_of

# The module of the models.
MODELS = """
import numpy as np

def row(z):
    flat = z.reshape(len(z), -1)
    return np.stack([flat.sum(1), flat[:, 0]], 1)
"""
# The command that reads each kind of file, with X in its place.
READERS: dict[str, list[Any]] = {
    "a.png": ["explain", "soaked:row", "X", "--size", 8],
    "a.jpg": ["explain", "soaked:row", "X", "--size", 8],
    "a.npy": ["explain", "soaked:row", "X"],
    "a.csv": ["explain", "soaked:row", "X"],
    "a.parquet": ["explain", "soaked:row", "X"],
    "labels.json": ["explain", "soaked:row", "a.npy", "--labels", "X"],
    "base.npy": ["explain", "soaked:row", "a.npy", "--baseline", "X"],
    "map.npy": ["explain", "soaked:row", "a.npy", "--features", "X"],
    "saved.npz": ["show", "X", "--json"],
    "run.geex": ["show", "X", "--json"],
    "run.geex.command.json": ["resume", "run.geex", "--yes"],
    "fashion.onnx": ["explain", "X", "garment.npy"],
}
# What is added to each geex explain.
BUDGET = ["-q", 21, "--quiet"]
# Files with checksums: damaged ones are refused, or hold the same numbers.
CHECKED = ("saved.npz", "run.geex")


def make_files(folder: Path) -> None:
    """Write whole files into the current folder."""
    from importlib.resources import files

    import pyarrow
    import pyarrow.parquet
    from PIL import Image

    rng = np.random.default_rng(8)
    (folder / "soaked.py").write_text(MODELS)
    pixels = rng.integers(0, 256, (20, 24, 3), dtype=np.uint8)
    for name in ("a.png", "a.jpg"):
        Image.fromarray(pixels).save(folder / name)
    np.save(folder / "a.npy", rng.normal(size=5))
    np.save(folder / "base.npy", rng.normal(size=5))
    np.save(folder / "map.npy", np.arange(5) // 2)
    np.save(folder / "garment.npy", rng.normal(size=(1, 28, 28)).astype(np.float32))
    (folder / "a.csv").write_text("pay,age,height\n1,2,3\n4,5,6\n0.5,1,2\n")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "b": [4.0, 5.0]}), folder / "a.parquet")
    (folder / "labels.json").write_text(json.dumps(["one", "two"]))
    (folder / "fashion.onnx").write_bytes(files("geex.demo").joinpath("fashion.onnx").read_bytes())
    code, _, err = command(["explain", "soaked:row", "a.npy", *BUDGET, "--journal", "run.geex", "-o", "saved.npz"])
    assert code == 0, err


def damaged_files(count: int, seed: int) -> dict[str, Any]:
    """Return the outcomes of commands that read `count` damaged files."""
    draw, outcomes = random.Random(seed), Outcomes()
    whole = {name: Path(name).read_bytes() for name in READERS}
    shown = {name: _numbers(command(["show", name, "--json"])[1]) for name in CHECKED}
    for number in range(count):
        name = draw.choice(sorted(READERS))
        content = draw.choice(DAMAGES)(bytearray(whole[name]), draw)
        outcomes.attempt(f"file {number}, {name}", lambda n=name, c=content: _read(n, c, whole[n], shown))
    return outcomes.figures()


def _read(name: str, content: bytes, whole: bytes, shown: dict[str, Any]) -> str:
    own = name == "run.geex.command.json"  # it lies beside its journal
    path = Path(name if own else f"damaged-{name}")
    path.write_bytes(content)
    words = [str(path) if word == "X" else word for word in READERS[name]]
    try:
        code, out, err = command([*words, *(BUDGET if words[0] == "explain" else [])])
    finally:
        path.write_bytes(whole) if own else path.unlink()
    outcome = outcome_of(code, out, err)
    if outcome == "right" and name in CHECKED and _numbers(out) != shown[name]:
        return "wrong: other numbers than those of the whole file"
    return outcome


def _numbers(text: str) -> Any:
    found = json.loads(text)
    return {name: found[name] for name in ("target", "output", "base_value", "gap", "queries", "largest", "partial")}


def _cut(content: bytearray, draw: random.Random) -> bytes:
    return bytes(content[: draw.randrange(len(content))])


def _flipped(content: bytearray, draw: random.Random) -> bytes:
    for _ in range(draw.choice([1, 1, 3, 30])):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def _lost(content: bytearray, draw: random.Random) -> bytes:
    start = draw.randrange(len(content))
    del content[start : start + draw.choice([1, 8, 300])]
    return bytes(content)


def _added(content: bytearray, draw: random.Random) -> bytes:
    start = draw.randrange(len(content))
    content[start:start] = draw.randbytes(draw.choice([1, 8, 300]))
    return bytes(content)


def _blank(content: bytearray, draw: random.Random) -> bytes:
    start, length = draw.randrange(len(content)), draw.choice([4, 16, 512])
    content[start : start + length] = bytes(len(content[start : start + length]))
    return bytes(content)


def _first_bytes(content: bytearray, draw: random.Random) -> bytes:
    content[draw.randrange(min(len(content), 200))] = draw.randrange(256)
    return bytes(content)


# Ways in which files are damaged.
DAMAGES: tuple[Callable[[bytearray, random.Random], bytes], ...] = (
    _cut,
    _flipped,
    _lost,
    _added,
    _blank,
    _first_bytes,
)
