"""Calls of `geex.explain` with random arguments, most of them wrong."""

import random
from typing import Any

import numpy as np

import geex
from benchmarks.soak.outcomes import Outcomes
from geex import methods

# A share of the calls is made again, and must have the same bytes.
REPEATED = 0.1
# The largest relative error of f(x) − f(x̊) = Σ + gap.
ROUNDING = 1e-6
# Values of no use anywhere.
ODD: list[Any] = [None, "", "x", -1, 0, 1.5, True, float("nan"), float("inf"), [], {}, object, np.nan, b"x", 10**30]
# Shapes of inputs, and what they are filled with.
SHAPES = [(3,), (5,), (1,), (), (0,), (4, 4), (2, 3, 3), (1, 4, 4), (6, 6)]
# Fills of inputs.
FILLS = [np.float64, np.float32, np.int64, bool, str, object]


def fuzzed_calls(count: int, seed: int) -> dict[str, Any]:
    """Return the outcomes of `count` random calls."""
    draw, outcomes = random.Random(seed), Outcomes()
    for number in range(count):
        arguments = _arguments(draw)
        outcomes.attempt(f"call {number} {_shown(arguments)}", lambda given=arguments: _outcome(given, draw))
    return outcomes.figures()


def _arguments(draw: random.Random) -> dict[str, Any]:
    shape = draw.choice(SHAPES)
    rng = np.random.default_rng(draw.randrange(2**32))
    x = rng.normal(size=shape)
    given: dict[str, Any] = {"model": draw.choice(MODELS), "x": x, "queries": draw.choice([12, 30, 60, 120])}
    options = {
        "x": lambda: draw.choice([x.astype(draw.choice(FILLS[:4])), x * 1e300, x * np.nan, np.full(shape, "a"), *ODD]),
        "baseline": lambda: draw.choice([0.5, x, x + 1, rng.normal(size=shape), [0.1, 0.2], geex.blur(3, 1.0), *ODD]),
        "target": lambda: draw.choice([0, 1, "all", [0, 1], "a", 99, *ODD]),
        "labels": lambda: draw.choice([["a"], ["a", "b"], list("abc"), [1, 2], *ODD]),
        "score": lambda: draw.choice(["answer", "softmax", "log_odds", "margin", "auto", np.tanh, *ODD]),
        "method": lambda: draw.choice([_method(draw), _method(draw), *ODD]),
        "queries": lambda: draw.choice([1, 2, 3, 7, 13, *ODD[:-1]]),
        "features": lambda: draw.choice([geex.Elements(), geex.Pixels(0), geex.Groups(np.arange(9) // 2), *ODD]),
        "bounds": lambda: draw.choice([(-9, 9), (0, 1), (1, 0), (x, x), *ODD]),
        "seed": lambda: draw.choice([1, 2**63, *ODD]),
        "batch": lambda: draw.choice([1, 7, 1000, *ODD]),
        "stop": lambda: draw.choice([geex.Precise(0.1), geex.Settled(0.9), *ODD]),
        "limits": lambda: draw.choice([geex.Limits(concurrency=2), geex.Limits(rows=3), *ODD]),
        "price": lambda: draw.choice([0.1, *ODD]),
        "journal": lambda: draw.choice(["/nowhere/at/all.geex", "/", *ODD[3:9]]),
        "run": lambda: draw.choice(ODD[1:]),
    }
    for name in draw.sample(sorted(options), draw.choice([0, 0, 1, 1, 1, 2, 3])):
        given[name] = options[name]()
    return given


def _method(draw: random.Random) -> Any:
    kind = draw.choice(
        [geex.GEEX, geex.Shapley, geex.Regression, geex.Presence, geex.Guided, methods.RISE, methods.Random]
    )
    return kind()


def _outcome(given: dict[str, Any], draw: random.Random) -> str:
    found = geex.explain(**given, progress=False)
    repr(found)
    values = np.asarray(found.numpy().values, float)
    if not np.isfinite(values).all():
        return "wrong: values that are not finite"
    low, high = (np.asarray(end, float) for end in found.interval())
    if (low > high).any():
        return "wrong: an interval from high to low"
    single = isinstance(found.target, int)
    total = values.sum() if single else values.reshape(len(values), -1).sum(axis=1)
    left = np.asarray(found.output) - np.asarray(found.base_value) - total - np.asarray(found.gap)
    scale = np.abs(np.asarray(found.output)) + np.abs(np.asarray(found.base_value)) + np.abs(values).sum() + 1e-300
    if (np.abs(left) > ROUNDING * scale).any():
        return f"wrong: {left} is missing in the account"
    if draw.random() < REPEATED and given["model"] is not raising_at_random:
        again = geex.explain(**given, progress=False).numpy().values
        if np.asarray(again).tobytes() != np.asarray(found.numpy().values).tobytes():
            return "wrong: other bytes in a second call"
    return "right"


def linear(z: Any) -> Any:
    return z.reshape(len(z), -1).sum(axis=1)


def several(z: Any) -> Any:
    flat = z.reshape(len(z), -1)
    return np.stack([flat.sum(axis=1), np.tanh(flat).sum(axis=1)], axis=1)


def likely(z: Any) -> Any:
    p = 1 / (1 + np.exp(-np.clip(linear(z), -30, 30)))
    return np.stack([p, 1 - p], axis=1)


def wide(z: Any) -> Any:
    return np.ones((len(z), 2, 2))


def short(z: Any) -> Any:
    return np.ones(max(0, len(z) - 1))


def unclear(z: Any) -> Any:
    return np.full(len(z), np.nan)


def raising(z: Any) -> Any:
    raise RuntimeError("broken")


def wordy(z: Any) -> Any:
    return ["a"] * len(z)


def empty(z: Any) -> Any:
    return None


def constant(z: Any) -> Any:
    return np.ones(len(z))


def raising_at_random(z: Any) -> Any:
    if np.random.default_rng().random() < 0.05:
        raise geex.errors.TransientError("later")
    return linear(z)


# Models, good ones more often than broken ones.
MODELS = [*[linear, several, likely] * 5, wide, short, unclear, raising, wordy, empty, constant, raising_at_random]


def _shown(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={getattr(value, '__name__', repr(value))[:60]}" for name, value in given.items())
