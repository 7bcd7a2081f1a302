"""MNIST and Fashion-MNIST as arrays: idx files on disk, or OpenML where there are none.

pixels 0..255  ->  (pixels/255 − 0.1307) / 0.3081, the input units of every network in the benchmarks
"""

import gzip
import os
from pathlib import Path

import numpy as np

MEAN, STD = 0.1307, 0.3081
CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
OPENML = {"mnist": "mnist_784", "fashion-mnist": "Fashion-MNIST"}
PREFIX = {"train": "train", "test": "t10k"}
TRAIN = 60_000  # OpenML stores the training images first, then the test images


def data_folder(folder: Path | str | None = None) -> Path:
    """`folder`, or the environment variable GEEX_DATA, or `data/` in the repository root."""
    if folder is not None:
        return Path(folder)
    default = Path(__file__).resolve().parents[1] / "data"
    return Path(os.environ.get("GEEX_DATA") or default)


def images(name: str, split: str, folder: Path | str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 (n, 28, 28) and labels int64 (n,) of `split`, "train" or "test", of `name`."""
    if name not in OPENML:
        raise ValueError(f"`name` must be one of {', '.join(OPENML)}; got {name!r}.")
    if split not in PREFIX:
        raise ValueError(f"`split` must be one of {', '.join(PREFIX)}; got {split!r}.")
    root = data_folder(folder)
    stems = (f"{PREFIX[split]}-images-idx3-ubyte", f"{PREFIX[split]}-labels-idx1-ubyte")
    files = [find(root / name / stem) for stem in stems]
    if None in files:
        return from_openml(name, split, root, stems)
    pixels, labels = (read_idx(file) for file in files)
    return pixels, labels.astype(np.int64)


def normalise(pixels: np.ndarray) -> np.ndarray:
    """Pixels (n, 28, 28) in 0..255 as the network's input, float32 (n, 1, 28, 28)."""
    scaled = (np.asarray(pixels, dtype=np.float32) / 255 - MEAN) / STD
    return scaled[:, None].astype(np.float32, copy=False)


def find(file: Path) -> Path | None:
    """`file`, or `file` with .gz, whichever is there."""
    candidates = (file, file.with_name(file.name + ".gz"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def read_idx(file: Path) -> np.ndarray:
    """The uint8 array of an idx file: magic 0, 0, 8, d; then d sizes as big-endian int32; then the bytes."""
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"{file} must be an idx file of unsigned bytes; it starts with {content[:4]!r}.")
    dims = content[3]
    shape = tuple(np.frombuffer(content, dtype=">i4", count=dims, offset=4).tolist())
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * dims)
    if values.size != np.prod(shape):
        raise ValueError(f"{file} must have {shape} values; it has {values.size}. Download it again.")
    return values.reshape(shape).copy()


def from_openml(name: str, split: str, root: Path, stems: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The same from OpenML through scikit-learn, which keeps its download under `root/openml`."""
    files = f"{' and '.join(stems)} (plain or .gz) in {root / name}"
    try:
        from sklearn.datasets import fetch_openml

        table = fetch_openml(
            OPENML[name], version=1, as_frame=False, parser="liac-arff", data_home=str(root / "openml")
        )
    except (ImportError, OSError) as error:
        raise FileNotFoundError(
            f"No {name} images found, and the download from OpenML failed ({error}). "
            f"Put {files}, or set GEEX_DATA to the folder that holds {name}/."
        ) from error
    rows = slice(None, TRAIN) if split == "train" else slice(TRAIN, None)
    return table.data[rows].reshape(-1, 28, 28).astype(np.uint8), table.target[rows].astype(np.int64)
