"""One run of the command line: model, input and labels are opened before the first query."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geex
from geex._plain_text import harmless
from geex._problem.foreign_model import Carried
from geex._problem.outputs import AUTO, SCORES
from geex._protocols import Method, Stop
from geex._query.retrying_call import Model
from geex._results.explanation import Explanation
from geex.cli.baselines import baseline_of, features_of
from geex.cli.input_readers.inputs import Input, input_of
from geex.cli.labels import labels_in, output_of
from geex.cli.models import chosen_limits, model_of
from geex.cli.options import ModelOptions, Preparation, Question
from geex.cli.stored_explanations import with_names
from geex.errors import InputError

# The scores that help and messages list; others are variants of log_odds.
LISTED_SCORES = ("answer", "softmax", "log_odds", "margin")
# The kernel of a photo's default baseline, in pixels; smaller images have none.
BLUR_KERNEL = 31
# The standard deviation of this blur, in pixels.
BLUR_SIGMA = 5.0


@dataclass(frozen=True, eq=False)
class Prepared:
    """A question with its model and its input."""

    question: Question
    model_options: ModelOptions
    model: Model
    input: Input
    labels: list[str] | None
    target: int | None

    def explain(
        self,
        method: Method | None,
        journal: str | None = None,
        stop: Stop | None = None,
        price: float | None = None,
        most_cost: float | None = None,
    ) -> Explanation:
        """Query the model and return the explanation."""
        question, given = self.question, self.input
        explanation = geex.explain(
            self.model,
            given.x,
            baseline=self.baseline(),
            target=self.target,
            labels=self.labels,
            score=question.score,
            method=method,
            queries=question.queries,
            features=self._features(),
            seed=question.seed,
            batch=question.batch,
            progress=not question.quiet,
            journal=journal,
            limits=chosen_limits(self.model_options, self.model),
            price=price,
            most_cost=most_cost,
            stop=stop,
        )
        return with_names(explanation, given.names)

    def baseline(self) -> Any:
        """Return the baseline of --baseline; else the mean row of a table, the blur of a photo, or 0."""
        given = self.input
        if self.question.baseline is not None:
            return baseline_of(self.question.baseline, given.rows, given.channels, given.colour)
        if given.rows is not None and len(given.rows) > 1:
            return geex.mean(given.rows)
        if given.picture is not None and min(given.picture.shape[:2]) >= BLUR_KERNEL:
            return geex.blur(BLUR_KERNEL, BLUR_SIGMA, given.channels)
        return None

    def _features(self) -> Any:
        channels = self.input.channels
        if self.question.features is not None:
            return features_of(self.question.features, channels)
        return None if channels is None else geex.Pixels(channels=channels)


def prepared(question: Question, preparation: Preparation, model_options: ModelOptions) -> Prepared:
    """Open the model and the input, and read the labels."""
    check_score(question.score)
    model = model_of(question.model, model_options)
    labels = labels_in(Path(question.labels)) if question.labels is not None else Carried(model).labels
    labels = None if labels is None else [str(label) for label in labels]
    target = output_of(question.target, labels)
    given = input_of(question.input, preparation, model)
    for note in given.notes:
        print(harmless(f"geex: note: {note}"), file=sys.stderr)
    return Prepared(question, model_options, model, given, labels, target)


def check_score(score: str | None) -> None:
    """Raise InputError unless --score is one of the names."""
    if score is not None and score not in (AUTO, *SCORES):
        raise InputError(f"--score must be {', '.join(LISTED_SCORES)} or {AUTO}; got {score!r}.", code="score-unknown")
