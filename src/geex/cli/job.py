"""One run of the command line: everything that the options say, checked before the first query."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geex
from geex.call import Model
from geex.cli.methods import baseline, features, method
from geex.cli.models import Access, opened
from geex.cli.naming import chosen, labels_in
from geex.cli.reading import Subject, Wanted, subject
from geex.errors import InputError
from geex.explanation import Explanation
from geex.methods import Method

BLURRED = 31


@dataclass(frozen=True)
class Job:
    """The options of `geex explain`, as they were written."""

    model: str
    input: str
    access: Access
    wanted: Wanted
    target: str | None = None
    labels: str | None = None
    baseline: str | None = None
    method: str | None = None
    score: str | None = None
    features: str | None = None
    queries: int | None = None
    seed: int = 0
    batch: int | None = None
    journal: str | None = None
    price: float | None = None
    quiet: bool = False


@dataclass(frozen=True, eq=False)
class Ready:
    """The job with its model and input opened."""

    job: Job
    model: Model
    subject: Subject
    labels: list[str] | None
    target: int | None

    def explain(self, how: Method | None) -> Explanation:
        """Asks the model."""
        job, seen = self.job, self.subject
        explanation = geex.explain(
            self.model,
            seen.x,
            baseline=self.baseline(),
            target=self.target,
            score=job.score,
            method=how,
            queries=job.queries,
            features=self._features(),
            seed=job.seed,
            batch=job.batch,
            progress=not job.quiet,
            journal=job.journal,
            limits=job.access.limits(self.model),
            price=job.price,
        )
        return _named(explanation, self.labels, seen.names)

    def baseline(self) -> Any:
        """What --baseline says; else the mean row of a table, a photo's own blur, and 0 for all others."""
        seen = self.subject
        if self.job.baseline is not None:
            return baseline(self.job.baseline, seen.rows, seen.channels)
        if seen.rows is not None and len(seen.rows) > 1:
            return geex.mean(seen.rows)
        if seen.picture is not None and min(seen.picture.shape[:2]) >= BLURRED:
            return geex.blur(BLURRED, 5.0, seen.channels)
        return None

    def _features(self) -> Any:
        if self.job.features is not None:
            return features(self.job.features, self.subject.channels)
        return None if self.subject.channels is None else geex.Pixels(channels=self.subject.channels)


def ready(job: Job) -> Ready:
    """Opens the model and the input, and reads the names."""
    model = opened(job.model, job.access)
    labels = labels_in(Path(job.labels)) if job.labels is not None else getattr(model, "labels", None)
    labels = None if labels is None else [str(label) for label in labels]
    target = chosen(job.target, labels)
    seen = subject(job.input, job.wanted, model)
    for note in seen.notes:
        print(f"geex: note: {note}", file=sys.stderr)
    return Ready(job, model, seen, labels, target)


def how(job: Job, seen: Subject) -> Method | None:
    """The method: the one named, Shapley values for rows of tables, else the library's default."""
    if job.method is not None:
        return method(job.method)
    return geex.Shapley() if seen.rows is not None else None


def _named(explanation: Explanation, labels: Sequence[str] | None, names: Sequence[str] | None) -> Explanation:
    """Named as far as the names go with it; a labels file of another length is worth a word."""
    outputs = None if explanation.record is None else int(explanation.record.ends.shape[1])
    if labels is not None and outputs is not None and len(labels) != outputs:
        raise InputError(f"there are {len(labels)} labels and the model has {outputs} outputs; wanted one for each.")
    size = int(explanation.values.size if hasattr(explanation.values, "size") else 0)
    return explanation.named(labels, names if names is not None and len(names) == size else None)
