"""The cases of benchmarks.same_numbers: every method on small models, at fixed seeds. Needs the public API alone."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import geex
import geex.methods

Case = tuple[str, "partial[Any]"]


def method(name: str, **settings: Any) -> Any:
    """A method, from `geex.methods` if that exports it, else from `geex`."""
    return getattr(geex.methods if hasattr(geex.methods, name) else geex, name)(**settings)


# Models: from a batch (n, *shape) to answers (n,) or (n, k)


def linear(z: Any) -> np.ndarray:
    flat = np.asarray(z, dtype=np.float64).reshape(len(z), -1)
    return np.asarray((flat * np.cos(1.7 * np.arange(flat.shape[1]) + 0.3)).sum(axis=1))


def steps(z: Any) -> np.ndarray:
    return linear(np.asarray(z) > 0.4)


def interactions(z: Any) -> np.ndarray:
    flat = np.asarray(z, dtype=np.float64).reshape(len(z), -1)
    pairs = flat[:, :-1] * flat[:, 1:]
    first = 0.3 * linear(z) + pairs[:, 0] - 0.5 * pairs[:, -1]
    return np.stack([first, flat[:, 0] * pairs[:, 1], np.tanh(flat[:, 1] - pairs[:, 0])], axis=1)


def classes(z: Any) -> np.ndarray:
    """Probabilities of three classes."""
    odds = np.exp(0.4 * interactions(z))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def many(z: Any) -> np.ndarray:
    """Twenty outputs."""
    return np.asarray(np.tanh(interactions(z)[:, :1] * np.linspace(0.1, 1, 20) + np.linspace(-1, 1, 20)))


def image(z: Any) -> np.ndarray:
    """Probabilities of two classes: a sigmoid of a bright patch and of the one below it."""
    grid = np.asarray(z, dtype=np.float64)
    grid = grid.mean(axis=1) if grid.ndim == 4 else grid
    third = grid.shape[-1] // 3
    bright, below = (grid[:, a : a + third, :third].mean(axis=(1, 2)) for a in (third, 2 * third))
    p = 1 / (1 + np.exp(-(4 * bright - 2 * below + bright * below - 0.5)))
    return np.stack([p, 1 - p], axis=1)


def noisy() -> Callable[[Any], np.ndarray]:
    """`image` with noise of its own seed."""
    generator = np.random.default_rng(5)
    return lambda z: image(z) + 0.02 * generator.normal(size=(len(z), 2))


def of_tensors(model: Any, z: Any) -> Any:
    """A model's answers to tensors."""
    import torch

    return torch.from_numpy(model(z.numpy()))


# Inputs


def pixels(*shape: int, seed: int = 2, kind: Any = np.float64) -> np.ndarray:
    """An image between 0 and 1 with a bright patch."""
    drawn, third = 0.6 * np.random.default_rng((*shape, seed)).random(shape), shape[-1] // 3
    drawn[..., third : 2 * third, :third] += 0.4
    return drawn.astype(kind)


FOUR, THIRTEEN, FORTY, SERIES = (np.random.default_rng(n).normal(size=n) for n in (4, 13, 40, 60))
GREY, COLOUR = pixels(14, 14), pixels(3, 12, 12, kind=np.float32)
PHOTO, LARGE = pixels(80, 80, kind=np.float32), pixels(112, 112, kind=np.float32)
BLOCKS = np.arange(14)[:, None] // 4 * 4 + np.arange(14)[None, :] // 4
GROUPS, RGB, LINE = geex.Groups(BLOCKS), geex.Pixels(channels=0), geex.Elements(line=True)
ABSENT = [0.0, geex.blur(5, 1.5), np.full((14, 14), 0.3)]


def explained(model: Any, x: Any, **settings: Any) -> Any:
    model = noisy() if model is noisy else model
    return geex.explain(model, x, seed=11, progress=False, **settings)


def run(model: Any, x: Any, how: Any, queries: int = 302, score: Any = "answer", **more: Any) -> "partial[Any]":
    return partial(explained, model, x, method=how, queries=queries, score=score, **more)


def again(first: Any, **other: Any) -> Any:
    return geex.estimate(first(), **other)


def journalled(first: Any, **other: Any) -> list[Any]:
    """A run, the same with more queries, and what is estimated from their journal."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.geex"
        return [first(queries=150, journal=path), first(journal=path), geex.estimate(path, **other)]


def curves(first: Any) -> list[Any]:
    """Deletion and insertion by an explanation of COLOUR."""
    found = first()
    return [walk(image, COLOUR, found, step=10) for walk in (geex.evaluate.deletion, geex.evaluate.insertion)]


def gradient() -> Iterator[Case]:
    """GEEX, Interpolated and GE with each of their options."""
    laplace, logistic = {"family": geex.Laplace()}, {"family": geex.Logistic(), "sigma": 0.2}
    common: list[dict[str, Any]] = [{}, {"sigma": 0.3}, laplace, logistic, {"mirror": False}]
    for kind in ("GEEX", "Interpolated", "GE"):
        for options in common if kind == "GE" else [*common, {"still": True}]:
            how, name = method(kind, **options), f"{kind} {options or ''}"
            yield f"{name} 4 columns", run(interactions, FOUR, how, target="all")
            yield f"{name} grey", run(image, GREY, how, score="log_odds")
        yield f"{kind} smooth", run(image, COLOUR, method(kind, smooth=(5, 0.7)), features=RGB)
        yield f"{kind} shared", run(image, COLOUR, method(kind, shared=0, sigma=0.2), features=RGB)
        yield f"{kind} groups, bounds", run(image, GREY, method(kind), bounds=(0.0, 1.0), features=GROUPS)
    for mirror in (True, False):
        how = geex.GEEX(coupling="orthogonal", mirror=mirror)
        yield f"GEEX orthogonal, mirror={mirror}", run(classes, THIRTEEN, how, 1002, "margin", target=[0, 2])
    yield "Interpolated 3 steps", run(linear, THIRTEEN, method("Interpolated", steps=3), baseline=0.5)
    yield "GEEX baselines", run(image, GREY, geex.GEEX(still=True), baseline=ABSENT)
    yield "GEEX noisy", run(noisy, GREY, geex.GEEX())
    yield "GEEX steps, threads", run(steps, FORTY, geex.GEEX(), limits=geex.Limits(concurrency=2), batch=20)


def presence() -> Iterator[Case]:
    """Presence and Regression."""
    for alpha in (None, 0.5, 0.3):
        plain, smooth = geex.Presence(alpha=alpha), geex.Presence(alpha=alpha, widths=(2, 5))
        yield f"Presence {alpha} 13 columns", run(classes, THIRTEEN, plain, score="log_odds", target="all")
        yield f"Presence {alpha} groups", run(image, GREY, plain, features=GROUPS, baseline=ABSENT)
        yield f"Presence {alpha} widths", run(image, COLOUR, smooth, features=RGB)
    half, smooth, slopes = geex.Presence(alpha=0.5), geex.Presence(alpha=0.5, widths=(1.5, 4)), method("GE")
    noises = (geex.GEEX(), geex.GEEX(smooth=(3, 0.7)), geex.GEEX(coupling="orthogonal"))
    for of in (half, smooth, *noises, slopes):
        how, whole = geex.Regression(of), geex.Regression(of, complete=of is not slopes)
        yield f"Regression of {of} grey", run(image, GREY, how, score="log_odds")
        yield f"Regression of {of} colour", run(image, COLOUR, how, target="all", features=RGB)
        yield f"Regression of {of} complete", run(image, GREY, whole, score="auto", baseline=ABSENT[1:])
    for name, how in {"Regression": geex.Regression(), "Regression of GEEX": geex.Regression(geex.GEEX())}.items():
        yield f"{name} 40 columns", run(interactions, FORTY, how, target=[1, 0])
        yield f"{name} steps", run(steps, THIRTEEN, how, baseline=-1.0)
        yield f"{name} noisy", run(noisy, GREY, how, baseline=np.eye(14) / 4)
        yield f"{name} many", run(many, pixels(6, 6), how, target="all")
        yield f"{name} large", run(image, LARGE, how, 202, target="all")
    yield "Regression groups", run(image, GREY, geex.Regression(), features=GROUPS)
    yield "Regression few draws", run(image, GREY, geex.Regression(choice=40, most=100))
    yield "Regression channels", run(image, COLOUR, geex.Regression(), baseline=geex.per_channel([0.1, 0.2, 0.3]))
    yield "Regression series", run(linear, np.tile(SERIES, 30), geex.Regression(smooth), 202, features=LINE)


def shapley() -> Iterator[Case]:
    """Shapley values: exact, of a process over subsets, by regression."""
    how = geex.Shapley()
    for model in (linear, interactions, steps):
        for x in (FOUR, THIRTEEN, FORTY):
            yield f"Shapley {model.__name__} {len(x)} columns", run(model, x, how, 202)
    yield "Shapley exact", run(classes, SERIES[:8], how, 600, "softmax", target="all", baseline=[0.0, np.ones(8)])
    yield "Shapley alike", run(interactions, FOUR, how, 100, baseline=np.array([0.0, FOUR[1], 0.0, 0.0]))
    yield "Shapley targets", run(classes, THIRTEEN, how, score="margin", target="all")
    yield "Shapley many draws", run(classes, THIRTEEN, how, 4002)
    yield "Shapley many", run(many, THIRTEEN, how, target="all")
    yield "Shapley float32", run(interactions, FORTY.astype(np.float32), how, baseline=geex.mean(np.eye(40)))
    yield "Shapley series", run(linear, SERIES, how, features=LINE)
    yield "Shapley 1200 columns", run(linear, np.tile(SERIES, 20), how, 202)
    yield "Shapley grey", run(image, GREY, how, score="log_odds")
    yield "Shapley colour", run(image, COLOUR, how, features=RGB)
    yield "Shapley few pixels", run(image, pixels(4, 4), how, 202)
    yield "Shapley noisy groups", run(noisy, GREY, how, features=GROUPS)


def others() -> Iterator[Case]:
    """Guided, the default of each kind of input, RISE, LIME, Random."""
    how, photo, gentle = geex.Guided(), geex.Guided(first=100, explore=0.5), geex.Guided(first=20, wider=3.0)
    yield "Guided grey", run(image, GREY, how, 502, "auto", baseline=geex.blur(5, 1.5))
    yield "Guided colour", run(image, COLOUR, how, 402, target="all", features=RGB)
    yield "Guided series", run(linear, SERIES, how, features=LINE)
    yield "Guided baselines", run(image, GREY, gentle, 502, baseline=ABSENT)
    yield "Guided noisy", run(noisy, GREY, how)
    yield "Guided photo", run(image, PHOTO, photo, 602)
    yield "Guided large", run(image, LARGE, photo)
    for name, x in {"colour": COLOUR, "channels last": np.moveaxis(COLOUR, 0, -1), "40 columns": FORTY}.items():
        yield f"default {name}", partial(explained, image if name == "colour" else interactions, x)
    yield "default photo", partial(explained, image, PHOTO, queries=400)
    for name in ("GEEX", "Guided", "Regression"):
        yield f"score=None {name}", partial(explained, image, GREY, method=method(name), queries=302)
    yield "RISE grey", run(image, GREY, method("RISE"), target="all")
    yield "RISE colour", run(image, COLOUR, method("RISE", cells=4, keep=0.3), baseline=geex.blur(3, 1.0), features=RGB)
    yield "RISE groups", run(linear, SERIES, method("RISE"), features=geex.Groups(np.arange(60) // 7))
    yield "LIME segments", run(image, GREY, method("LIME", segments=BLOCKS), score="log_odds", target="all")
    yield "LIME groups", run(image, GREY, method("LIME", width=0.5), features=GROUPS, baseline=ABSENT)
    yield "LIME 13 columns", run(classes, THIRTEEN, method("LIME", ridge=0.1))
    yield "Random", run(classes, THIRTEEN, method("Random"), target="all")


def questions() -> Iterator[Case]:
    """Stop rules, batches, and other questions about answers that are there."""
    images, other = [pixels(9, 9, seed=seed) for seed in (3, 4, 5)], {"score": "log_odds", "target": "all"}
    for how in (geex.GEEX(), geex.Regression(), geex.Guided(), geex.Shapley()):
        name, first = type(how).__name__, run(classes, images[0], how, target=0)
        for stop in (geex.Precise(0.2), geex.Settled(0.7)):
            yield f"{name} until {stop}", run(image, GREY, how, 1502, stop=stop)
        yield f"{name} batch", partial(geex.explain_batch, image, images, method=how, queries=202, progress=False)
        yield f"{name} again", partial(again, first, **other)
        yield f"{name} journal", partial(journalled, first, **other)
    asked = run(image, GREY, geex.GEEX())
    yield "GEEX as Regression", partial(again, asked, method=geex.Regression(geex.GEEX()))
    yield "GEEX as groups", partial(again, asked, features=GROUPS, score="margin")
    yield "curves", partial(curves, run(image, COLOUR, geex.Guided(), features=RGB))


IN_TORCH = {
    *("GEEX smooth", "GEEX groups, bounds", "GEEX orthogonal, mirror=True", "GEEX baselines", "Random"),
    *("Presence 0.5 widths", "Presence None groups", "Regression many", "Regression channels"),
    *("Regression of GEEX 40 columns", "Shapley interactions 40 columns", "Shapley alike", "Shapley colour"),
    *("Guided colour", "Guided grey", "RISE colour", "LIME segments"),
}


def cases() -> Iterator[Case]:
    """All cases; some a second time with tensors, where torch is installed."""
    made = [case for group in (gradient, presence, shapley, others, questions) for case in group()]
    yield from made
    if find_spec("torch") is None:
        return
    import torch

    torch.set_num_threads(1)
    for name, case in made:
        if name in IN_TORCH:
            model, x = case.args
            yield f"torch {name}", partial(case.func, partial(of_tensors, model), torch.from_numpy(x), **case.keywords)
