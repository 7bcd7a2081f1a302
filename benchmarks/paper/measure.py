"""One piece of work: a case, a method, and the two AOPC of its values."""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

import geex
from benchmarks.paper.cases import Case, CaseSet
from benchmarks.paper.contenders import PIXELS, BlackBox, Contender, Model, contenders, probability
from benchmarks.paper.prefixes import Nested
from benchmarks.paper.results import Key, Result, Results, key
from benchmarks.paper.settings import DRAWN
from geex._arrays.arrays import host
from geex.errors import LittleToExplain
from geex.evaluate import deletion, noise

CURVES = ("geex-half", "geex")


@dataclass(frozen=True, eq=False)
class Piece:
    """One method for one case; with `budgets`, one run that is evaluated after each number of queries."""

    home: CaseSet
    case: Case
    contender: Contender
    budgets: tuple[int, ...] = ()

    @property
    def explainers(self) -> list[Any]:
        """One for each result."""
        explainer = self.contender.explain
        if not self.budgets:
            return [explainer]
        assert isinstance(explainer, BlackBox)
        return [replace(explainer, queries=budget) for budget in self.budgets]

    @property
    def keys(self) -> list[Key]:
        """The keys of the piece's results."""
        common = common_settings(self.home, self.case)
        return [
            key(self.home.data, self.case.name, self.contender.key, common | explainer.facts())
            for explainer in self.explainers
        ]

    @property
    def cost(self) -> int:
        """About how many rows the network evaluates."""
        pixels = self.case.x.shape[-1] * self.case.x.shape[-2]
        steps = 2 * (1 + -(-pixels // self.home.setting.step))
        return max(explainer.cost for explainer in self.explainers) + steps * len(self.explainers)

    @property
    def drawn(self) -> bool:
        """Whether the values are kept for a picture."""
        return self.case.shown != "no" and self.contender.key in DRAWN and not self.budgets

    def done(self, results: Results) -> bool:
        there = all(found in results.known for found in self.keys)
        place = (self.home.data, self.case.name, self.contender.key)
        return there and (not self.drawn or results.map_file(*place).is_file())

    def measure(self, results: Results) -> None:
        """Explain, delete, and store the results."""
        half = self.home.half and isinstance(self.contender.explain, BlackBox)
        model = probability(self.home.network, self.case.target, half)
        follow = probability(self.home.network, self.case.target, self.home.half)
        for explainer, values, seconds, queries in self._explained(model):
            found = aopc(self.home, self.case, follow, values)
            results.add(self._result(explainer, found, seconds, queries))
        if self.drawn:
            results.keep_map(self.home.data, self.case.name, self.contender.key, values)

    def _explained(self, model: Model) -> Iterator[tuple[Any, np.ndarray, float, int]]:
        """Explainer, values (height, width), seconds and queries of every result."""
        start = time.perf_counter()
        if not self.budgets:
            explanation = quietly(self.contender.explain, model, self.case, self.home.batch)
            values = host(explanation.values)
            yield self.contender.explain, values, time.perf_counter() - start, explanation.queries
            return
        whole = self.explainers[-1]
        nested = Nested(whole.method, self.budgets)
        quietly(replace(whole, method=nested), model, self.case, self.home.batch)
        shape = tuple(self.case.x.shape[1:])
        found = {budget: host(values).reshape(shape) for budget, values in nested.found.items()}
        seconds = time.perf_counter() - start
        for explainer in self.explainers:
            share = explainer.queries / whole.queries
            yield explainer, found[explainer.queries], seconds * share, explainer.queries

    def _result(self, explainer: Any, aopc: dict[str, float], seconds: float, queries: int) -> Result:
        return {
            "data": self.home.data,
            "image": self.case.name,
            "method": self.contender.key,
            "settings": common_settings(self.home, self.case) | explainer.facts(),
            "aopc": {name: round(number, 6) for name, number in aopc.items()},
            "seconds": round(seconds, 3),
            "queries": queries,
            "where": where(self.case.x.device, self.home),
        }


def pieces(home: CaseSet) -> list[Piece]:
    """Return all work of a set, case after case, so that an interrupted run has complete cases."""
    rows = [row for row in contenders(home.setting) if home.methods is None or row.key in home.methods]
    table = [Piece(home, case, row) for case in home.cases for row in rows]
    curved = home.cases[: home.setting.curve] if home.data == home.setting.name else []
    budgets = home.setting.budgets
    return table + [Piece(home, case, row, budgets) for case in curved for row in rows if row.key in CURVES]


def aopc(home: CaseSet, case: Case, model: Model, values: np.ndarray) -> dict[str, float]:
    """Normalised AOPC under both replacements; the noise is the case's own, shared by all methods."""
    setting = home.setting
    replacements = {"baseline": case.baseline, "gaussian": noise(case.x, setting.replacement, case.seed)}
    settings = {"features": PIXELS, "step": setting.step, "batch": home.batch}
    return {
        name: deletion(model, case.x, values, replacement=replacement, **settings).aopc
        for name, replacement in replacements.items()
    }


def common_settings(home: CaseSet, case: Case) -> dict[str, Any]:
    """Return the settings that every result of a case depends on."""
    return home.setting.common() | {"seed": case.seed, "network": home.digest}


def where(device: torch.device, home: CaseSet) -> dict[str, Any]:
    """Return the device of a result. Results from all devices are merged."""
    tf32 = device.type == "cuda" and torch.backends.cudnn.allow_tf32
    precision = "float16" if home.half else "TF32" if tf32 else "float32"
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    return {"device": name, "precision": precision, "batch": home.batch}


def quietly(explainer: Any, *arguments: Any) -> geex.Explanation:
    """Explain without the warning `LittleToExplain`: such images are part of the table too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleToExplain)
        return explainer(*arguments)
