"""The cases: a game of masks, its exact values, and the names of all models in two halves."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.tables.exact import Game


@dataclass(frozen=True)
class Case:
    """A row of a model as a game of masks (n, q), its exact values (q,), those of pairs (q, q) or None, and a seed."""

    game: Game
    exact: np.ndarray
    seed: int
    pairs: np.ndarray | None = None


@dataclass(frozen=True)
class Setting:
    """A model by its name, whether it was used in development, and its cases."""

    name: str
    developed: bool
    cases: Callable[[int], Iterator[Case]]


def settings() -> list[Setting]:
    """Return all models, those of development first."""
    from benchmarks.tables.games import GAMES
    from benchmarks.tables.models import MODELS

    return sorted((*MODELS, *GAMES), key=lambda setting: not setting.developed)
