"""python -m benchmarks.paper.pack FILE [--photos FOLDER]: photos, chosen and cut, in one .npz.

For a machine that has NumPy and PyTorch alone: `python -m benchmarks.paper --photos FILE` reads it in place of the
folder. It holds photos of the folder, so it has their terms: it is for measuring, not for passing on.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks import inception
from benchmarks.paper.photos import Photos, chosen, photos_source, scikit_image

FIELDS = tuple(Photos.__dataclass_fields__)
KINDS = ("pictures", "photos")


def pack(file: Path, source: Path, folder: Path | None, count: int) -> Path:
    """Writes scikit-image's pictures and the first `count` photos that Inception V3 classifies right."""
    sets = (scikit_image(), chosen(source, count, inception.load(folder), "cpu"))
    found = dict(zip(KINDS, sets, strict=True))
    arrays = {f"{kind} {name}": getattr(found[kind], name) for kind in KINDS for name in FIELDS}
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
    return file


def unpack(file: Path) -> tuple[Photos, Photos]:
    """scikit-image's pictures and the labelled photos."""
    with np.load(file) as content:
        pictures, photos = (Photos(*(content[f"{kind} {name}"] for name in FIELDS)) for kind in KINDS)
    return pictures, photos


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--photos", type=Path, help="folder of labelled photos (default: GEEX_PHOTOS)")
    parser.add_argument("--data", type=Path, help="data folder (default: GEEX_DATA, else data/)")
    parser.add_argument("--images", type=int, default=64)
    options = parser.parse_args()
    source = photos_source(options.photos)
    if source is None:
        parser.error("no photos: give --photos FOLDER or set GEEX_PHOTOS")
    file = pack(options.file, source, options.data, options.images)
    pictures, photos = unpack(file)
    print(f"{file}: {len(pictures)} pictures, {len(photos)} photos, {file.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
