"""Runs whose journal and explanations are kept in tests/golden, one for each thing that a file may hold.

`python -m tests.golden_runs FOLDER` writes them anew. Do that only with a new version of the format: users have files
of the old one, and these stand for them.
"""

import json
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np

import geex
from geex._stored_names import encoded, stored_names
from geex.methods import GE, LIME, RISE, Interpolated, Random
from tests.servers import Loopback, Reply

ROOT = Path(__file__).parent / "golden"
PORT = 18973  # of the service, when the files are written; to read them there is none
ROW = np.array([1.0, -2.0, 0.5, 3.0, -1.0])
IMAGE = np.linspace(-1, 2, 100).reshape(10, 10) ** 2
TEXT = "A dull plot, but great acting: I loved it!"
CELLS = {"city": "Rome", "age": 41.0, "member": True}
ABSENT = {"city": "Paris", "age": 30.0, "member": False}
METHODS = {
    "GEEX": geex.GEEX(0.5),
    "GEEX orthogonal": geex.GEEX(0.5, coupling="orthogonal"),
    "GEEX Laplace": geex.GEEX(0.5, family=geex.Laplace()),
    "GEEX logistic still": geex.GEEX(0.4, family=geex.Logistic(), still=True),
    "Interpolated": Interpolated(0.5, steps=4),
    "GE": GE(0.3),
    "Presence": geex.Presence(),
    "Regression": geex.Regression(),
    "Regression of GEEX": geex.Regression(geex.GEEX(0.5)),
    "Shapley": geex.Shapley(),
    "LIME": LIME(),
    "Random": Random(),
}
IMAGE_METHODS = {
    "GEEX smooth": geex.GEEX(0.5, smooth=(3, 0.7)),
    "Presence smooth": geex.Presence(alpha=0.5, widths=(2.0, 1.0)),
    "RISE": RISE(cells=3),
    "Guided rounds": geex.Guided(),
}


class Counted:
    """A model that counts its rows."""

    def __init__(self, model):
        self.model, self.rows = model, 0

    def __call__(self, queries):
        self.rows += len(queries)
        return self.model(queries)


def scores(z):
    """Three outputs for a row or an image."""
    flat = z.reshape(len(z), -1)
    half = flat.shape[1] // 2
    return np.stack([np.tanh(flat[:, :half].sum(1)), flat[:, 0] * flat[:, -1], np.sin(flat).mean(1)], axis=1)


def lengths(texts):
    return np.array([[len(text) * text.count("o"), 9 * ("plot" in text and "loved" in text)] for text in texts], float)


def ages(frame):
    return np.array([age + 10 * member for age, member in zip(frame["age"], frame["member"], strict=True)], float)


def best(z):
    return [{"cat": float(value), "dog": float(1 - value)} for value in 1 / (1 + np.exp(-z[:, 0] - z[:, 2]))]


def labels(z):
    return ["yes" if value > 0 else "no" for value in z.sum(1)]


def answered(request):
    """What the service answers, in the Open Inference Protocol."""
    (asked,) = json.loads(request.body)["inputs"]
    found = scores(np.array(asked["data"]).reshape(asked["shape"]))
    output = {"name": "scores", "shape": found.shape, "datatype": "FP64", "data": found.ravel().tolist()}
    return Reply(json.dumps({"outputs": [output]}).encode())


def wrapped():
    """Models that carry an identity: name -> (model, x, settings, the counter of its rows)."""
    text, row, top, label = (Counted(inner) for inner in (lengths, ages, best, labels))
    shown, cells = geex.models.text(text, TEXT), geex.models.row(row, CELLS, ABSENT)
    service = geex.models.http(f"http://127.0.0.1:{PORT}/v2/models/golden")
    shapley = {"method": geex.Shapley(), "queries": 40}
    return {
        "text": (shown, shown.x, shapley, text),
        "row": (cells, cells.x, shapley, row),
        "top": (geex.models.top(top, ["cat", "dog"]), ROW, shapley, top),
        "label": (geex.models.label(label, ["no", "yes"]), ROW, shapley, label),
        "http": (service, ROW, shapley, None),
    }


def plain():
    """Runs of a plain function: name -> (x, settings)."""
    runs = {name: (ROW, {"method": method, "queries": 62}) for name, method in METHODS.items()}
    runs |= {name: (IMAGE, {"method": method, "queries": 260}) for name, method in IMAGE_METHODS.items()}
    groups = geex.Groups(np.array([0, 0, 1, 1, 2]))
    return runs | {
        "default image": (IMAGE, {"queries": 242}),
        "several outputs": (ROW + 1, {"method": geex.GEEX(0.5), "queries": 62, "target": "all", "score": "softmax"}),
        "groups": (ROW + 2, {"method": geex.Shapley(), "queries": 62, "features": groups}),
        "pixels": (np.stack([IMAGE, IMAGE[::-1]]), {"queries": 142, "features": geex.Pixels(channels=0)}),
        "line": (np.arange(30.0), {"method": geex.Guided(), "queries": 262, "features": geex.Elements(line=True)}),
        "precise": (ROW + 3, {"method": geex.GEEX(0.5), "queries": 400, "stop": geex.Precise(0.2)}),
        "settled": (ROW + 4, {"method": geex.GEEX(0.5), "queries": 400, "stop": geex.Settled(0.5, top=0.4)}),
        "baselines": (ROW + 5, {"method": geex.GEEX(0.5), "queries": 123, "baseline": [0.0, 1.0], "bounds": (-9, 9)}),
        "float32": (ROW.astype(np.float32), {"method": geex.GEEX(0.5), "queries": 62, "seed": 3}),
    }


def run(name, journal):
    """The explanation of a run with this journal, and the number of rows that its model was asked."""
    if name in plain():
        x, settings = plain()[name]
        model = counter = Counted(scores)
    else:
        model, x, settings, counter = wrapped()[name]
    # the file alone answers: the model is not compared with it
    limits = geex.Limits(compare=False)
    found = geex.explain(model, x, journal=journal, progress=False, limits=limits, **settings)
    return found, counter.rows if counter is not None else 0


NAMES = [*plain(), *wrapped()]


def names_and_values():
    """What every stored name takes, with its defaults: what a fingerprint leaves out."""
    return {
        name: {field.name: _default(field) for field in fields(kind) if field.init}
        for name, kind in sorted(stored_names().items())
        if kind.__module__.startswith("geex.")
    }


def _default(field):
    if field.default_factory is not MISSING:
        return encoded(field.default_factory(), brief=True)
    return "required" if field.default is MISSING else encoded(field.default, brief=True)


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / "journal-1.geex"
    journal.unlink(missing_ok=True)
    with Loopback(answered, port=PORT):
        for name in NAMES:
            found, rows = run(name, journal)
            found.save(folder / f"{name}.npz")
            print(f"{name}: {rows} rows")
    (folder / "names-1.json").write_text(json.dumps(names_and_values(), indent=1) + "\n")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [ROOT]))
