"""Labelled photos: a folder of images and its labels.csv, with columns file, class_index (0–999), name."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image


def photos(folder: str | Path) -> list[tuple[str, int]]:
    """The file name and the class index of every photo that labels.csv lists, in its order."""
    with (Path(folder) / "labels.csv").open(newline="", encoding="utf-8") as file:
        return [(row["file"], int(row["class_index"])) for row in csv.DictReader(file)]


def read(path: str | Path, size: int, crop: float = 1.0) -> np.ndarray:
    w = 0
