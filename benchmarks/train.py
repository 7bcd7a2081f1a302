"""The paper's CNN for 28 × 28 grey images, and its training.

conv 5×5 (6) – ReLU – pool 2 – conv 5×5 (16) – ReLU – pool 2 – dense 120 – ReLU – 84 – ReLU – 10 logits

    python -m benchmarks.train            # trains missing networks, about two minutes each
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.data import OPENML, data_folder, images, normalise

BATCH = 128
EPOCHS = 20
RATE = 4e-3


class CNN(nn.Sequential):
    """Normalised images (n, 1, 28, 28) to logits (n, 10)."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 6, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(256, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, 10),
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread: as fast as two for so small a network, and sums do not depend on the number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@one_thread()
def train(name: str, folder: Path | str | None = None, *, epochs: int = EPOCHS, seed: int = 0) -> CNN:
    """The CNN fitted to the training images of `name`, in eval mode: Adam, one cycle, cross-entropy."""
    pixels, labels = tensors(name, "train", folder)
    stream = torch.Generator().manual_seed(seed)
    network = fresh(seed)
    optimiser = torch.optim.Adam(network.parameters())
    steps = epochs * -(-len(labels) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    for _ in range(epochs):
        for rows in batches(len(labels), stream):
            loss = nn.functional.cross_entropy(network(pixels[rows]), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return network.eval()


def load(name: str, folder: Path | str | None = None) -> CNN:
    """Return the trained CNN for `name`, in eval mode. Train and store it first if there is none."""
    file = weights(name, folder)
    if not file.is_file():
        store(train(name, folder), file)
    network = fresh(0)
    network.load_state_dict(torch.load(file, weights_only=True))
    return network.eval()


def store(network: CNN, file: Path) -> None:
    """Writes the network's state dict to `file`, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    torch.save(network.state_dict(), part)
    part.replace(file)


def weights(name: str, folder: Path | str | None = None) -> Path:
    """Where the state dict for `name` is kept."""
    return data_folder(folder) / "cnn" / f"{name}.pt"


@torch.inference_mode()
def accuracy(network: CNN, name: str, folder: Path | str | None = None) -> float:
    """Return the share of the test images of `name` that the network classifies correctly."""
    pixels, labels = tensors(name, "test", folder)
    return (network(pixels).argmax(1) == labels).double().mean().item()


def tensors(name: str, split: str, folder: Path | str | None) -> tuple[Tensor, Tensor]:
    """Normalised images (n, 1, 28, 28) and labels (n,)."""
    pixels, labels = images(name, split, folder)
    return torch.from_numpy(normalise(pixels)), torch.from_numpy(labels)


def fresh(seed: int) -> CNN:
    """An untrained CNN whose weights depend on `seed` only; torch's global stream is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CNN()


def batches(n: int, stream: torch.Generator) -> Iterator[Tensor]:
    """All of 0..n−1 in random order, BATCH at a time."""
    yield from torch.randperm(n, generator=stream).split(BATCH)


def main() -> None:
    """Train and store the CNN for each data set without one, and print the test accuracies."""
    parser = argparse.ArgumentParser(description="Train the paper's CNN on MNIST and Fashion-MNIST.")
    parser.add_argument("names", nargs="*", default=list(OPENML), metavar="name", help="mnist, fashion-mnist")
    parser.add_argument("--folder", type=Path, help="data folder (default: GEEX_DATA, else data/)")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="train again, even if a network is stored")
    options = parser.parse_args()
    for name in options.names:
        start = time.perf_counter()
        file = weights(name, options.folder)
        if options.again or not file.is_file():
            store(train(name, options.folder, epochs=options.epochs, seed=options.seed), file)
        share = accuracy(load(name, options.folder), name, options.folder)
        print(f"{name}: test accuracy {share:.2%} ({time.perf_counter() - start:.0f} s), {file}", flush=True)


if __name__ == "__main__":
    main()
