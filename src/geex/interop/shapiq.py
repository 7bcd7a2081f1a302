"""geex as an approximator of shapiq: Shapley values of a game, with standard errors.

v(S) = game(S),  from x = 1 for every player and x̊ = 0
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._explain.explain import explain
from geex._query.limits import Limits
from geex._results.explanation import Explanation
from geex.errors import InputError, LittleToExplain, MissingPackage
from geex.methods.shapley import Shapley

__all__ = ["Approximator"]


class Approximator:
    """Approximate the Shapley values of a game, as the approximators of shapiq do.

    Parameters
    ----------
    n : int
        The number of players.
    max_order : int
        The order of the interactions: 1, since values of single players are estimated.
    index : {"SV"}
        The index: Shapley values.
    random_state : int, optional
        The seed of all random numbers.

    Attributes
    ----------
    explanation : Explanation or None
        The last approximation as an explanation of geex, with standard errors and intervals.

    Raises
    ------
    InputError
        `index` or `max_order` is another one.

    Notes
    -----
    It has the members that `shapiq_benchmark.run` and shapiq's explainers use. Where shapiq is installed, it counts as
    one of its approximators (`isinstance`).

    Examples
    --------
    >>> import geex
    >>> approximator = geex.interop.shapiq.Approximator(n=3, random_state=0)
    >>> approximator.explained(8, lambda players: players @ [1.0, 2.0, 3.0]).values
    array([1., 2., 3.])
    """

    valid_indices: tuple[str, ...] = ("SV",)

    def __init__(self, n: int, max_order: int = 1, index: str = "SV", *, random_state: int | None = None) -> None:
        if index not in self.valid_indices or max_order != 1:
            raise InputError(
                f"`index` must be 'SV' and `max_order` 1; got {index!r} and {max_order!r}.", code="index-unknown"
            )
        self.n, self.index, self.approximation_index = n, index, index
        self.max_order, self.min_order, self.top_order, self.iteration_cost = max_order, 0, False, 1
        self.random_state = random_state
        self.explanation: Explanation | None = None
        _register(type(self))

    def __call__(self, budget: int, game: Callable[[np.ndarray], Any], **unused: Any) -> Any:
        """Return the approximation, as `approximate` does."""
        return self.approximate(budget, game, **unused)

    def set_random_state(self, random_state: int | None = None) -> None:
        """Set the seed of all random numbers."""
        self.random_state = random_state

    def approximate(self, budget: int, game: Callable[[np.ndarray], Any], **unused: Any) -> Any:
        """Return the approximation.

        Parameters
        ----------
        budget : int
            The most evaluations of the game, with those of no player and of all.
        game : callable
            From coalitions (m, n), True for each player in them, to values (m,).
        unused
            Arguments that do not apply.

        Returns
        -------
        shapiq.InteractionValues
            The values of the players, and the value of no player.
        """
        try:
            from shapiq.interaction_values import InteractionValues
        except ImportError:
            raise MissingPackage("This needs shapiq. Run `pip install shapiq`.", code="shapiq-missing") from None
        found = self.explained(budget, game)
        base = float(found.base_value)
        values = {(): base} | {(player,): float(value) for player, value in enumerate(host(found.values))}
        return InteractionValues(
            values=values,
            index=self.index,
            max_order=1,
            min_order=0,
            n_players=self.n,
            estimated=found.needed() != 0,
            estimation_budget=found.queries,
            baseline_value=base,
        )

    def explained(self, budget: int, game: Callable[[np.ndarray], Any]) -> Explanation:
        """Return the approximation as an explanation of geex.

        Parameters
        ----------
        budget, game
            As for `approximate`.

        Returns
        -------
        Explanation
            The values of the players, with standard errors.
        """

        def model(players: np.ndarray) -> np.ndarray:
            return np.asarray(game(players > 0.5), np.float64)

        with warnings.catch_warnings():
            # a game may be worth as much with all players as with none
            warnings.simplefilter("ignore", LittleToExplain)
            self.explanation = explain(
                model,
                np.ones(self.n),
                baseline=0.0,
                method=Shapley(),
                queries=budget,
                seed=self.random_state or 0,
                limits=Limits(twice=False),
                progress=False,
            )
        return self.explanation


def _register(kind: type) -> None:
    """Count a class among the approximators of shapiq, if shapiq is installed."""
    try:
        from shapiq.approximator.base import Approximator as Base
    except ImportError:
        return
    Base.register(kind)
