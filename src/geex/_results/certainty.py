"""What was decided and how surely: a probability where the answers are probabilities, else a score and its lead."""

from typing import TYPE_CHECKING

import numpy as np

from geex._arrays.arrays import host
from geex._plain_text import one_line
from geex._results.numbers import number, probability

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

# What a score is called in a sentence.
SCORE_WORDS = {
    "softmax": "probability",
    "log_odds": "log-odds",
    "bounded_log_odds": "log-odds",
    "sure_log_odds": "log-odds",
    "margin": "lead over the next output",
}
FEW = 2e-3  # log-odds do not resolve probabilities near a thousandth
SUM = 1e-3  # how far probabilities may be from adding up to 1


def quantity(explanation: "Explanation") -> str:
    """Return what f is called."""
    return SCORE_WORDS.get(str(explanation.settings.score), "score")


def chance(what: str, output: float) -> str:
    """Return log-odds as a probability, to stand behind them; "" for other scores."""
    return f", probability {_logistic(output)}" if what == "log-odds" else ""


def certainty(explanation: "Explanation", target: int, output: float, answers: np.ndarray | None = None) -> str:
    """Return how surely an output was decided for. answers: the model's (k,), as `explained_answers` returns them."""
    what = quantity(explanation)
    if what == "probability":
        return f"probability {probability(output)}"
    if what == "log-odds":
        return f"probability {_logistic(output)} (log-odds {number(output)})"
    if what == "score" and answers is not None:
        if (answers >= -SUM).all() and abs(answers.sum() - 1) < SUM:
            return f"probability {probability(output)}"
        return f"score {number(output)}{_lead(explanation, answers, target)}"
    return f"{what} {number(output)}"


def label(explanation: "Explanation", target: int) -> str:
    """Return what an output is called."""
    labels = explanation.labels
    return one_line(labels[target]) if labels is not None and 0 <= target < len(labels) else f"output {target}"


def is_only_output(explanation: "Explanation", label: str) -> bool:
    """Return whether the model has one output, which has no name, as a regressor does. False if it is not known."""
    record = explanation.record
    return record is not None and int(record.ends.shape[1]) == 1 and label == f"output {explanation.targets[0]}"


def _logistic(output: float) -> str:
    """Log-odds as a probability."""
    share = float(1 / (1 + np.exp(-np.clip(output, -700, 700))))
    return f"< {FEW}" if share < FEW else probability(share)


def explained_answers(explanation: "Explanation") -> np.ndarray | None:
    """Return the model's answers for x (k,); None unless they are known, several, and what is explained."""
    record = explanation.record
    if record is None or record.task.score not in (None, "answer") or record.ends.shape[1] < 2:
        return None
    answers: np.ndarray = np.asarray(host(record.ends), np.float64)[0]
    return answers


def _lead(explanation: "Explanation", answers: np.ndarray, target: int) -> str:
    """How far an answer is from the largest of the others."""
    others = np.where(np.arange(len(answers)) == target, -np.inf, answers)
    rival = int(np.argmax(others))
    lead = float(answers[target] - answers[rival])
    return f", {number(abs(lead))} {'above' if lead >= 0 else 'below'} {label(explanation, rival)}"
