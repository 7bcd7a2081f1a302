"""One run of the command line: what the options name, opened before the first query."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import geex
from geex._problem.foreign_model import Carried
from geex._protocols import Method, Stop
from geex._query.retrying_call import Model
from geex._results.explanation import Explanation
from geex.cli.methods import baseline, features
from geex.cli.models import limits, opened
from geex.cli.naming import chosen, labels_in
from geex.cli.options import Access, Question, Wanted
from geex.cli.reading import Subject, subject
from geex.errors import GeexError

BLURRED = 31


@dataclass(frozen=True, eq=False)
class Ready:
    """A question with its model and input opened."""

    asked: Question
    access: Access
    model: Model
    subject: Subject
    labels: list[str] | None
    target: int | None

    def explain(
        self, how: Method | None, journal: str | None = None, enough: Stop | None = None, price: float | None = None
    ) -> Explanation:
        """Asks the model."""
        asked, seen = self.asked, self.subject
        explanation = geex.explain(
            self.model,
            seen.x,
            baseline=self.baseline(),
            target=self.target,
            labels=self.labels,
            score=asked.score,
            method=how,
            queries=asked.queries,
            features=self._features(),
            seed=asked.seed,
            batch=asked.batch,
            progress=not asked.quiet,
            journal=journal,
            limits=limits(self.access, self.model),
            price=price,
            stop=enough,
        )
        return _named(explanation, seen.names)

    def baseline(self) -> Any:
        """What --baseline says; else the mean row of a table, a photo's own blur, and 0 for all others."""
        seen = self.subject
        if self.asked.baseline is not None:
            return baseline(self.asked.baseline, seen.rows, seen.channels)
        if seen.rows is not None and len(seen.rows) > 1:
            return geex.mean(seen.rows)
        if seen.picture is not None and min(seen.picture.shape[:2]) >= BLURRED:
            return geex.blur(BLURRED, 5.0, seen.channels)
        return None

    def _features(self) -> Any:
        if self.asked.features is not None:
            return features(self.asked.features, self.subject.channels)
        return None if self.subject.channels is None else geex.Pixels(channels=self.subject.channels)


def ready(asked: Question, wanted: Wanted, access: Access) -> Ready:
    """Opens the model and the input, and reads the names."""
    model = opened(asked.model, access)
    labels = labels_in(Path(asked.labels)) if asked.labels is not None else Carried(model).labels
    labels = None if labels is None else [str(label) for label in labels]
    target = chosen(asked.target, labels)
    seen = subject(asked.input, wanted, model)
    for note in seen.notes:
        print(f"geex: note: {note}", file=sys.stderr)
    return Ready(asked, access, model, seen, labels, target)


def recognised(explanation: Explanation, began: dict[str, Any]) -> tuple[Explanation, Any]:
    """An explanation with the names of its features, and its picture, out of the input that the options `began` name:
    where that still is what was explained. No model is opened for it."""
    x = explanation.explicand
    if began.get("input") is None or x is None:
        return explanation, None
    wanted = Wanted(**{option.name: began[option.name] for option in fields(Wanted)})
    try:
        seen = subject(began["input"], wanted, SimpleNamespace(shape=tuple(x.shape)))
    except (GeexError, OSError):
        return explanation, None
    if not np.array_equal(seen.x, x):
        return explanation, None
    return _named(explanation, seen.names), seen.picture


def _named(explanation: Explanation, names: Sequence[str] | None) -> Explanation:
    """With the names of its features, where there are as many."""
    size = prod(explanation.values.shape)
    return explanation.named(names=names if names is not None and len(names) == size else None)
