"""python -m benchmarks.pictures docs/pictures: draw the pictures of the documentation.

They use the embedded network, and scikit-image's cat (CC0) with EfficientNet-Lite0 (`geex demo --photo` lists the
packages). A headless Chromium takes screenshots of reports (selenium, chromium and chromedriver).
"""

import base64
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import geex
from geex.demo.__main__ import main as demo
from geex.demo.garments import garments, network
from geex.demo.run import garment, photo
from geex.plot.tint import SHOWS, Look, tinted
from geex.plot.view import scene

MEANING = {"signed": "for and against", "positive": "for", "top": "strongest tenth", "sure": "grey: not significant"}
WINDOW = (900, 770)  # the first screen of a report: the sentence, the input and its explanation
SHARPNESS = 1.2  # pixels of a picture for each of the page


def main(folder: Path) -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.html"
        explanation, shown = garment(report)
        photograph(report, folder / "garment.png")
        photo(report)
        photograph(report, folder / "report.png")
        demo(Path(place) / "demo.png")
        shutil.copy(Path(place) / "demo.png", folder / "demo.png")
    kinds(explanation, shown).savefig(folder / "kinds.png", dpi=110)
    pictures, _, names = garments()
    run = geex.explain(
        network(), pictures[1], method=geex.GEEX(sigma=1.0), score="softmax", features=geex.Pixels(channels=0)
    )
    run.named(labels=names).plot("convergence").savefig(folder / "convergence.png", dpi=110)


def kinds(explanation: geex.Explanation, shown: np.ndarray) -> Figure:
    """Draw one explanation with every `show` option."""
    seen = scene(explanation, shown)
    figure = Figure(figsize=(12.5, 3.3), layout="constrained")
    axes = figure.subplots(1, 1 + len(SHOWS))
    axes[0].imshow(seen.picture)
    axes[0].set_title("input")
    for axis, show in zip(axes[1:], SHOWS, strict=True):
        axis.imshow(tinted(seen, seen.outputs[0], Look(show)))
        axis.set_title(f"{show}\n{MEANING[show]}")
    for axis in axes:
        axis.set_axis_off()
    return figure


def photograph(page: Path, picture: Path) -> None:
    """Save a screenshot of the top of a page."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-background-networking", "--hide-scrollbars"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        width, height = WINDOW
        size = {"width": width, "height": height, "deviceScaleFactor": SHARPNESS, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        driver.implicitly_wait(1)
        driver.find_element("css selector", "html[data-drawn]")
        taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        picture.write_bytes(base64.b64decode(taken["data"]))
    finally:
        driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
