"""python -m benchmarks.paper.training: measure how the grey tables depend on the length of training.

The paper does not describe the training of its CNNs. With longer training the network is more confident, and its
probability is flatter around x. Methods that use gradients at or near x then have less information.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.machine import machine
from benchmarks.paper.cases import CaseSet, digest
from benchmarks.paper.grey import cases
from benchmarks.paper.reference import REPLACEMENTS
from benchmarks.paper.results import Results
from benchmarks.paper.run import Clock, run
from benchmarks.paper.settings import FASHION, MNIST, Setting
from benchmarks.paper.table import numbers
from benchmarks.train import CNN, EPOCHS, accuracy, load, train

LENGTHS = (1, 3, EPOCHS)
METHODS = ("sg", "ig", "rise", "ge-half", "ge", "geex-half", "geex")
IMAGES, STEP = 60, 8


def main(out: Path = Path("out/paper-training")) -> None:
    """Measure, and write table.md and table.json."""
    results = Results(out)
    rows = [row for setting in (MNIST, FASHION) for length in LENGTHS for row in measured(setting, length, results)]
    content = {"machine": machine(), "images": IMAGES, "step": STEP, "rows": rows}
    (out / "table.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / "table.md").write_text(markdown(rows), encoding="utf-8")
    print(markdown(rows))


def measured(setting: Setting, epochs: int, results: Results) -> list[dict[str, Any]]:
    """A row for each replacement."""
    setting = replace(setting, images=IMAGES, step=STEP)
    network = load(setting.name) if epochs == EPOCHS else train(setting.name, epochs=epochs)
    chosen = cases(setting, network, None, "cpu")
    home = CaseSet(setting, network, digest(network), chosen, METHODS, threads=1)
    run([home], results, Clock())
    found = numbers(home, results)["methods"]
    common = {
        "data": setting.title,
        "epochs": epochs,
        "accuracy": accuracy(network, setting.name),
        "doubt": doubt(network, home),
    }
    return [
        common | {"replacement": replacement} | {key: found[key][replacement]["ours"] for key in METHODS}
        for replacement in REPLACEMENTS
    ]


@torch.no_grad()
def doubt(network: CNN, home: CaseSet) -> float:
    """The median of 1 − p over the cases."""
    logits = network(torch.stack([case.x for case in home.cases])).double()
    others = torch.stack(
        [torch.cat([row[: case.target], row[case.target + 1 :]]) for row, case in zip(logits, home.cases, strict=True)]
    )
    targets = torch.stack([row[case.target] for row, case in zip(logits, home.cases, strict=True)])
    return float(torch.sigmoid(torch.logsumexp(others, 1) - targets).median())


def markdown(rows: list[dict[str, Any]]) -> str:
    head = f"| data | replacement | epochs | test accuracy | median 1 − p | {' | '.join(METHODS)} |"
    lines = [head, "|---" * (5 + len(METHODS)) + "|"]
    for row in rows:
        values = " | ".join(f"{row[key]:.3f}" for key in METHODS)
        facts = f"{row['epochs']} | {row['accuracy']:.2%} | {row['doubt']:.1e}"
        lines.append(f"| {row['data']} | {row['replacement']} | {facts} | {values} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
