"""One entrant's explanations of one case at several budgets, measured."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import geex
from benchmarks.paper.cases import Case, CaseSet
from benchmarks.paper.contenders import PIXELS, Contender, probability
from benchmarks.paper.measure import aopc, common_settings, quietly, where
from benchmarks.paper.results import Key, Results, key
from benchmarks.queries.peers import Counted
from benchmarks.queries.unseen import MEASURED, Unseen
from geex._arrays.arrays import host
from geex.evaluate import insertion


@dataclass(frozen=True, eq=False)
class Trial:
    """One entrant, one case. Budgets are () for white boxes.

    Methods of `geex.explain` keep their answers in a journal from budget to budget. The queries of a small budget are
    the first ones of a large budget, so the values are those of separate runs.
    """

    home: CaseSet
    case: Case
    contender: Contender
    budgets: tuple[int, ...]
    unseen: Unseen

    @cached_property
    def explainers(self) -> dict[Key, Any]:
        """What brings each result."""
        explain: Any = self.contender.explain
        several = [replace(explain, queries=budget) for budget in self.budgets] or [explain]
        return {self._key(explainer): explainer for explainer in several}

    @property
    def cost(self) -> int:
        """About how many rows go through the network."""
        steps = -(-self.case.x[0].numel() // self.home.setting.step)
        costs = [explainer.cost for explainer in self.explainers.values()]
        return (max(costs) if self.journaled else sum(costs)) + 3 * steps * len(costs)

    @property
    def journaled(self) -> bool:
        return hasattr(self.contender.explain, "journal")

    def done(self, results: Results) -> bool:
        return all(found in results.known for found in self.explainers)

    def measure(self, results: Results) -> None:
        """Explain, measure and store missing results."""
        follow = probability(self.home.network, self.case.target, self.home.half)
        missing = [explainer for found, explainer in self.explainers.items() if found not in results.known]
        for explainer, values, queries in self._explained(missing):
            settings = {"features": PIXELS, "step": self.home.setting.step, "batch": self.home.batch}
            inserted = insertion(follow, self.case.x, values, replacement=self.case.baseline, **settings)
            result = {
                "data": self.home.data,
                "image": self.case.name,
                "method": self.contender.key,
                "settings": self._settings(explainer),
                "aopc": _rounded(aopc(self.home, self.case, follow, values)),
                "insertion": round(inserted.area, 6),
                "predicted": _rounded(self.unseen.predicted(self.case, values)),
                "queries": queries,
                "where": where(self.case.x.device, self.home),
            }
            results.add(result)

    def _explained(self, explainers: list[Any]) -> Iterator[tuple[Any, np.ndarray, int]]:
        """Explainer, values (height, width) and counted rows."""
        half = self.home.half and bool(self.budgets)
        with tempfile.TemporaryDirectory() as folder:
            model = Counted(self.home.network, self.case.target, half)
            for explainer in explainers:
                if self.journaled:
                    explainer = replace(explainer, journal=Path(folder) / "journal")
                else:
                    model.rows = 0
                found: Any = quietly(explainer, model, self.case, self.home.batch)
                values = host(found.values if isinstance(found, geex.Explanation) else found)
                if self.budgets and model.rows > explainer.queries:
                    raise RuntimeError(
                        f"{self.contender.title} exceeded its budget of {explainer.queries} queries: {model.rows}."
                    )
                yield explainer, values, model.rows

    def _settings(self, explainer: Any) -> dict[str, Any]:
        return common_settings(self.home, self.case) | {"unseen": MEASURED} | explainer.facts()

    def _key(self, explainer: Any) -> Key:
        return key(self.home.data, self.case.name, self.contender.key, self._settings(explainer))


def _rounded(numbers: dict[str, float]) -> dict[str, float]:
    return {name: round(number, 6) for name, number in numbers.items()}
