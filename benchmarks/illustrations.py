"""python -m benchmarks.illustrations FOLDER: draw the paper's two illustrations, for the sigmoid.

1. The estimated gradient saturates: the attribution of x falls to 0 while the contribution f(x) grows.
2. At equal queries, the dense form follows the contribution f(x) − f(−3); the interpolated form overshoots or falls
   short with the error of its Riemann sum.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geex
from geex.methods import GE, Interpolated

SIGMA = 0.3
BASELINE = -3.0
POINTS = np.linspace(-2.9, 6.0, 60)
BLUE, RED, GREEN = "#0072B2", "#D55E00", "#009E73"


def sigmoid(t: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-t))


def values(method: GE | geex.GEEX | Interpolated, queries: int) -> np.ndarray:
    """The one feature's value for every x of POINTS."""
    found = [
        geex.explain(
            lambda z: sigmoid(z[:, 0]),
            np.array([x]),
            baseline=BASELINE,
            method=method,
            queries=queries,
            seed=seed,
            progress=False,
        )
        for seed, x in enumerate(POINTS)
    ]
    return np.array([explanation.values[0] for explanation in found])


def saturation(path: Path) -> None:
    """The estimated gradient beside the function."""
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axis = figure.subplots()
    axis.plot(POINTS, sigmoid(POINTS), color=BLUE, label="f(x), the contribution of x")
    axis.plot(POINTS, values(GE(SIGMA), 2000), color=RED, label="estimated gradient (GE)")
    axis.set(xlabel="x", title="Estimated gradients saturate")
    axis.legend()
    figure.savefig(path, dpi=130)


def dense_against_interpolated(path: Path, queries: int = 2002, steps: int = 5) -> None:
    """Both forms at equal queries, and their errors."""
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axis = figure.subplots()
    truth = sigmoid(POINTS) - sigmoid(np.array(BASELINE))
    axis.plot(POINTS, truth, color=BLUE, linewidth=3, alpha=0.5, label="actual contribution f(x) − f(−3)")
    for name, method, color in (
        (f"interpolated, {steps} steps", Interpolated(SIGMA, steps=steps), RED),
        ("dense (GEEX)", geex.GEEX(SIGMA), GREEN),
    ):
        found = values(method, queries)
        axis.plot(POINTS, found, color=color, label=name)
        axis.plot(POINTS, found - truth, color=color, linestyle="--", linewidth=1)
    axis.set(xlabel="x", title=f"{queries} queries each; dashed: error")
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=130)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    saturation(folder / "saturation.png")
    dense_against_interpolated(folder / "dense.png")
    print(f"{folder}/saturation.png\n{folder}/dense.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
