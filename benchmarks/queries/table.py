"""Tables of the results: means, and paired differences with their intervals."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.paper.contenders import Contender
from benchmarks.paper.results import Result, Results
from benchmarks.paper.settings import Setting
from benchmarks.queries.entrants import BUDGETS, OURS, WHITE, entrants
from benchmarks.queries.unseen import MEASURED
from geex.evaluate import paired, summary

MEASURES: dict[str, Callable[[Result], float]] = {
    "deletion, baseline": lambda result: result["aopc"]["baseline"],
    "deletion, gaussian": lambda result: result["aopc"]["gaussian"],
    "insertion": lambda result: result["insertion"],
    "predicted, probability": lambda result: result["predicted"]["probability"],
    "predicted, log-odds": lambda result: result["predicted"]["log-odds"],
}
FREE = 0  # the budget of a white box
Place = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Table:
    """The results of a data set: (entrant, budget) -> image -> result.

    earlier: how ours was set when it was measured, and the budgets at which it has not been measured as it is now.
    """

    setting: Setting
    entrants: dict[str, Contender]
    results: dict[Place, dict[str, Result]]
    earlier: tuple[str, tuple[int, ...]] | None = None

    @classmethod
    def of(cls, setting: Setting, results: Results) -> "Table":
        """Those of the entrants as they are now, two images or more."""
        table = cls(setting, entrants(setting), {})
        own = [result for result in results.known.values() if result["data"] == setting.name]
        table._take(own, {})
        new = {budget for key, budget in table.results if key == OURS}
        before = [old for old in own if old["method"] == OURS and old["settings"]["queries"] not in new]
        earlier = None
        if before:
            method = before[-1]["settings"]["method"]
            table._take(before, {"method": method})
            budgets = {budget for key, budget in table.results if key == OURS} - new
            earlier = (method, tuple(sorted(budgets))) if budgets else None
        kept = {place: found for place, found in table.results.items() if len(found) > 1}
        return replace(table, results=kept, earlier=earlier)

    def _take(self, results: list[Result], other: dict[str, Any]) -> None:
        """Takes in those with the settings that entrants have now, or with other ones."""
        for result in results:
            key, budget = result["method"], result["settings"].get("queries", FREE)
            if key in self.entrants:
                explain: Any = self.entrants[key].explain
                facts = (replace(explain, queries=budget) if budget else explain).facts() | other
                facts |= self.setting.common() | {"unseen": MEASURED}
                if facts.items() <= result["settings"].items():
                    self.results.setdefault((key, budget), {})[result["image"]] = result

    @property
    def images(self) -> int:
        return max((len(found) for found in self.results.values()), default=0)

    @property
    def references(self) -> list[Place]:
        """The paper's method at 5000 queries and its better σ, and the white boxes."""
        paper = [("geex-half", BUDGETS[-1]), ("geex", BUDGETS[-1])]
        paper = sorted((place for place in paper if place in self.results), key=self._deletion)[-1:]
        return paper + [(key, FREE) for key in WHITE if (key, FREE) in self.results]

    def _deletion(self, place: Place) -> float:
        return float(np.mean([sum(result["aopc"].values()) for result in self.results[place].values()]))

    def title(self, place: Place) -> str:
        key, budget = place
        return self.entrants[key].title + (f" at {budget}" if budget else "")

    def means(self, place: Place) -> dict[str, Any]:
        """Mean and standard error of every measure."""
        found = self.results[place].values()
        numbers: dict[str, Any] = {"images": len(found), "queries": max(result["queries"] for result in found)}
        for name, measure in MEASURES.items():
            over = summary([measure(result) for result in found])
            numbers[name] = {"mean": round(over.mean, 4), "stderr": round(over.stderr, 4)}
        return numbers

    def difference(self, first: Place, second: Place) -> dict[str, Any] | None:
        """first − second over the images that both have: mean, standard error and 95% interval of every measure."""
        a, b = self.results.get(first, {}), self.results.get(second, {})
        common = [name for name in a if name in b]
        if len(common) < 2:
            return None
        numbers: dict[str, Any] = {"images": len(common)}
        for name, measure in MEASURES.items():
            over = paired([measure(a[image]) for image in common], [measure(b[image]) for image in common])
            ends = {"low": round(over.interval[0], 4), "high": round(over.interval[1], 4)}
            numbers[name] = {"mean": round(over.mean, 4), "stderr": round(over.stderr, 4), **ends}
        return numbers

    def peers(self) -> list[str]:
        """The black boxes other than ours."""
        return [key for key in self.entrants if key != OURS and key not in WHITE]

    def numbers(self) -> dict[str, Any]:
        """All of it, in values that JSON can hold."""
        means: dict[str, Any] = {}
        for key, row in self.entrants.items():
            there = [budget for budget in (FREE, *BUDGETS) if (key, budget) in self.results]
            if there:
                means[row.title] = {str(budget): self.means((key, budget)) for budget in there}
        places = {self.title(place): lambda _, place=place: place for place in self.references}
        ahead = {self.entrants[key].title: lambda budget, key=key: (key, budget) for key in self.peers()}
        return {
            "title": self.setting.title,
            "images": self.images,
            "step": self.setting.step,
            "earlier": self.earlier and {"method": self.earlier[0], "budgets": list(self.earlier[1])},
            "titles": {key: row.title for key, row in self.entrants.items() if row.title in means},
            "means": means,
            "ours minus reference": self._differences(places),
            "ours minus peer at the same budget": self._differences(ahead),
        }

    def _differences(self, others: dict[str, Callable[[int], Place]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for title, place in others.items():
            for budget in BUDGETS:
                difference = self.difference((OURS, budget), place(budget))
                if difference is not None:
                    found.setdefault(title, {})[str(budget)] = difference
        return found
