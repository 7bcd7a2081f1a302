"""The answers to subsets and to their mirrors: contrasts e (n, q) of the players, f(S) and f(Sᶜ) (n, 2, k)."""

import numpy as np

from geex._arrays.arrays import host
from geex._estimate.answers import Answers
from geex._plan.subsets import Subsets


def mirrored_answers(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """Return contrasts (n, q) and answers (n, 2, k)."""
    search: Subsets = answers.plan.search  # type: ignore[assignment]
    contrasts, outputs = [], []
    for chunk, raw in answers.chunks:
        outputs.append(host(answers.outputs(raw)).astype(np.float64).reshape(chunk.count, 2, -1))
        contrasts.append(2.0 * (host(chunk.draws.noise)[:, list(search.players)] > 0) - 1)
    return np.concatenate(contrasts), np.concatenate(outputs)
