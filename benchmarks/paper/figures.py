"""The figures: methods side by side, AOPC against queries, and the two illustrations."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.ndimage import gaussian_filter

from benchmarks import illustrations
from benchmarks.paper.cases import Case, CaseSet
from benchmarks.paper.curve import curves
from benchmarks.paper.results import Results
from benchmarks.paper.settings import DRAWN

TITLES = {"ig": "IG", "geex-half": "GEEX", "rise": "RISE"}
COLORS = {"geex-half": "#0072B2", "geex": "#D55E00"}
RESOLUTION = 110
LARGE, SMOOTHING = 100, 2.0


def draw(sets: list[CaseSet], results: Results, folder: Path) -> list[Path]:
    """Draw all figures with results. Do not redistribute files that start with `local-`."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    free = _columns(sets, results, "free")
    if free:
        written.append(side_by_side(free, folder / "explanations.png"))
    for home in sets:
        columns = _columns([home], results, "local")
        if columns:
            written.append(side_by_side(columns, folder / f"local-{home.data}.png"))
        found = curves(home, results) if home.setting.curve else {}
        if found:
            written.append(against_queries(found, folder / "queries.png"))
    for name, illustrate in (
        ("saturation.png", illustrations.saturation),
        ("dense.png", illustrations.dense_against_interpolated),
    ):
        if not (folder / name).is_file():
            illustrate(folder / name)
        written.append(folder / name)
    return written


def _columns(sets: list[CaseSet], results: Results, shown: str) -> list[tuple[Case, dict[str, np.ndarray]]]:
    """Cases to show whose values are all there."""
    found = []
    for home in sets:
        for case in home.cases:
            files = {method: results.map_file(home.data, case.name, method) for method in DRAWN}
            if case.shown == shown and all(file.is_file() for file in files.values()):
                found.append((case, {method: np.load(file) for method, file in files.items()}))
    return found


def side_by_side(columns: list[tuple[Case, dict[str, np.ndarray]]], path: Path) -> Path:
    """Draw the explicand above the methods' values: red for the prediction, blue against it; RISE has levels."""
    figure = Figure(figsize=(1.75 * len(columns) + 0.4, 1.8 * (1 + len(DRAWN))), layout="constrained")
    axes = figure.subplots(1 + len(DRAWN), len(columns), squeeze=False)
    for column, (case, maps) in enumerate(columns):
        _explicand(axes[0, column], case)
        for row, method in enumerate(DRAWN, start=1):
            _values(axes[row, column], maps[method], levels=method == "rise")
            axes[row, 0].set_ylabel(TITLES[method], fontsize=12)
    for axis in axes.flat:
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(path, dpi=RESOLUTION)
    return path


def _explicand(axis: Axes, case: Case) -> None:
    image = np.moveaxis(case.x.cpu().numpy(), 0, -1)
    image = (image - image.min()) / (image.max() - image.min())
    axis.imshow(image[..., 0] if image.shape[-1] == 1 else image, cmap="gray")
    axis.set_title(case.label, fontsize=10)


def _values(axis: Axes, values: np.ndarray, levels: bool) -> None:
    """Values around 0, or levels between their own ends. Values of large images are smoothed for print."""
    if min(values.shape) >= LARGE:
        values = gaussian_filter(values, SMOOTHING)
    if levels:
        axis.imshow(values, cmap="viridis")
        return
    limit = float(np.percentile(np.abs(values), 99.5)) or 1.0
    axis.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit)


def against_queries(found: dict[str, Any], path: Path) -> Path:
    """Means over photos with a band of one standard error; IG is the horizontal line."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    budgets = np.array(found["budgets"])
    for axis, replacement in zip(figure.subplots(1, 2), ("baseline", "gaussian"), strict=True):
        ig = found["ig"][replacement]
        axis.axhline(ig["mean"][0], color="black", linestyle="--", label="IG (white box)")
        axis.axhspan(ig["mean"][0] - ig["stderr"][0], ig["mean"][0] + ig["stderr"][0], color="black", alpha=0.08)
        for method, color in COLORS.items():
            mean, stderr = (np.array(found[method][replacement][which]) for which in ("mean", "stderr"))
            axis.plot(budgets, mean, marker="o", color=color, label=found[method]["title"])
            axis.fill_between(budgets, mean - stderr, mean + stderr, color=color, alpha=0.15)
        axis.set(xscale="log", xlabel="queries", ylabel="normalised AOPC")
        axis.set_title(f"replacement: {'the baseline' if replacement == 'baseline' else 'Gaussian noise'}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=9)
    figure.suptitle(f"Inception V3, {len(found['images'])} photos")
    figure.savefig(path, dpi=RESOLUTION)
    return path
