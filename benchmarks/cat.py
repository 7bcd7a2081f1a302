"""python -m benchmarks.cat: draw scikit-image's cat at 100 to 5000 queries, beside Integrated Gradients.

The network is EfficientNet-Lite0. One journal holds all answers, so each budget continues the one before.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from matplotlib.figure import Figure
from PIL import Image
from skimage import data

import geex
from benchmarks import efficientnet, whitebox

BUDGETS = (100, 200, 500, 1000, 5000)
PICTURE = Path("docs/pictures/cat.png")
SHARP = 0.995


def main() -> None:
    """Explain at every budget, and draw the picture."""
    pixels = np.asarray(Image.fromarray(data.chelsea()).crop((75, 0, 375, 300)).resize((efficientnet.SIZE,) * 2))
    x = torch.from_numpy(np.moveaxis((pixels.astype(np.float32) - efficientnet.CENTRE) / 128, -1, 0).copy())
    network = efficientnet.load()
    target = int(network(x[None]).argmax())
    baseline = geex.blur(31, 5.0)

    def probabilities(z: torch.Tensor) -> torch.Tensor:
        return torch.softmax(network(z), 1)

    maps = {}
    with TemporaryDirectory() as folder:
        for budget in BUDGETS:
            found = geex.explain(
                probabilities, x, baseline=baseline, target=target, queries=budget, journal=Path(folder) / "cat.geex"
            )
            maps[f"{budget:,} queries"] = found.values.numpy()
    white = whitebox.integrated_gradients(
        network, x, baseline=baseline, target=target, score="softmax", features=geex.Pixels(channels=0)
    )
    maps["Integrated Gradients (white box)"] = white.values.detach().numpy()
    draw(pixels, maps)


def draw(pixels: np.ndarray, maps: dict[str, np.ndarray]) -> None:
    figure = Figure(figsize=(2.1 * (1 + len(maps)), 2.5), layout="constrained")
    panels = figure.subplots(1, 1 + len(maps))
    panels[0].imshow(pixels)
    panels[0].set_title("Egyptian cat", fontsize=9)
    for panel, (title, values) in zip(panels[1:], maps.items(), strict=True):
        reach = float(np.quantile(np.abs(values), SHARP))
        panel.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach)
        panel.set_title(title, fontsize=9)
    for panel in panels:
        panel.set_axis_off()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
