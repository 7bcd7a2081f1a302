"""python -m geex.demo [FILE]: explains ten garments, prints the account of each, draws them, and writes a report.

The paper's settings: 5000 queries, Gaussian noise of deviation 1, baseline 0, the probability of the predicted
class.
"""

import sys
import time
from pathlib import Path

import numpy as np

import geex
from geex.demo.garments import garments, network
from geex.demo.run import garment
from geex.errors import GeexError, MissingPackage
from geex.plot.tint import Look, colours

HEADER = "prediction       f(x)   f(x̊)   f(x)−f(x̊)   Σ values      gap ± stderr   queries     time"


def main(path: Path) -> None:
    """Explains, prints, draws."""
    model = network()
    pictures, _, names = garments()
    print(f"{len(pictures)} garments, the paper's CNN (ONNX), GEEX with σ = 1, baseline 0, score: softmax\n\n{HEADER}")
    explanations = []
    for picture in pictures:
        start = time.perf_counter()
        explanation = geex.explain(model, picture, method=geex.GEEX(sigma=1.0), score="softmax", queries=5000)
        explanations.append(explanation)
        print(_row(explanation, names, time.perf_counter() - start))
    print(f"\n{explanations[0].estimand}")
    usual = geex.explain_batch(model, pictures, score="softmax")
    print(f"\nThe picture's last row, by {usual[0].queries:,} queries and the default method. {usual[0].estimand}")
    print(f"\npicture: {_draw(pictures, explanations, usual, names, path)}")
    report = path.with_suffix(".html").resolve()
    garment(report)
    print(f"report:  {report}")


def _row(explanation: geex.Explanation, names: list[str], seconds: float) -> str:
    e = explanation
    assert isinstance(e.target, int)
    return (
        f"{names[e.target]:<13}{e.output:>8.3f}{e.base_value:>8.3f}{e.output - e.base_value:>12.3f}"
        f"{e.values.sum():>11.3f}{e.gap:>+9.3f} ± {e.gap_stderr:<6.3f}{e.queries:>9,}{seconds:>7.2f} s"
    )


def _draw(
    pictures: np.ndarray,
    explanations: list[geex.Explanation],
    usual: list[geex.Explanation],
    names: list[str],
    path: Path,
) -> Path:
    """Every garment above its explanations: orange speaks for the prediction, blue against it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackage("the picture is drawn by matplotlib: pip install 'geex[app]'") from None
    figure = Figure(figsize=(1.5 * len(pictures), 5.2), layout="constrained")
    axes = figure.subplots(3, len(pictures))
    for column, (picture, explanation, second) in enumerate(zip(pictures, explanations, usual, strict=True)):
        assert isinstance(explanation.target, int)
        axes[0, column].imshow(picture[0], cmap="gray")
        axes[0, column].set_title(f"{names[explanation.target]}\np = {explanation.output:.2f}", fontsize=10)
        for axis, values in zip(axes[1:, column], (explanation.values[0], second.values), strict=True):
            limit = float(np.percentile(np.abs(values), 99.5))
            shares = axis.imshow(values, cmap=colours(Look(opacity=1.0)), vmin=-limit, vmax=limit)
        axes[1, column].set_xlabel(f"gap {explanation.gap:+.2f} ± {explanation.gap_stderr:.2f}", fontsize=9)
    for axis in axes.flat:
        axis.set_xticks([])
        axis.set_yticks([])
    for row, name in enumerate(("garment", "GEEX", "default")):
        axes[row, 0].set_ylabel(name)
    bar = figure.colorbar(shares, ax=axes[2, -1], ticks=[-limit, 0, limit], shrink=0.9)
    bar.ax.set_yticklabels(["against", "0", "for"])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path.resolve()


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "geex-demo.png"))
    except GeexError as error:
        sys.exit(f"geex: {error}")
