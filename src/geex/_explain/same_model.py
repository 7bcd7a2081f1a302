"""Whether a model is the one whose answers are in the journal.

x and x̊ are queried again, and compared with the stored answers y:

    |new − y| ≤ t · s · √(1 + 1/m) + rounding,     s from m answers for one point

t has m − 1 degrees of freedom, or 8 if these are fewer: of two answers it would be 6,000, and no model another one.
A difference beyond this may be a random answer of a model that has answered alike by coincidence. So the point is
queried again, and s estimated from these answers, before the run ends. It ends if none of the new answers is like any
stored one: of a model with noise the journal holds repeats of x and x̊, and a rare vote may be the first of them.
"""

import numpy as np
from scipy.special import stdtrit

from geex._arrays.arrays import Array, host, namespace
from geex._plan.plan import Again, Ends
from geex._problem.task import Task
from geex._query.session import Session
from geex.errors import JournalError

# The probability that one output of a model with Gaussian noise is taken for another model's.
WRONG = 1e-4
# Differences up to this share of an answer are rounding, of other batches or another machine.
SAME_ANSWER = 1e-4
# Queries of one point after a difference, before the run ends.
AGAIN = 8


def check_same_model(session: Session, task: Task, points: Ends, ends: Array, again: Array | None, stored: int) -> None:
    """Compare the model with the journal, once in a session.

    ends, again: the answers for x and the baselines, and the second ones for x, which the journal holds too.
    stored: how many of `ends` were in the journal.

    Raises
    ------
    JournalError
        The answers differ by more than noise.
    """
    if not stored or session.pool is None or session.compared or not session.compare:
        return
    session.compared = True
    old = np.asarray(host(ends[: min(2, stored), :]))
    looks = old[:1] if again is None else np.concatenate([old[:1], np.asarray(host(again))])
    new = _queried(session, task, points.points[: len(old), ...], int(old.shape[1]))
    if new is None:
        return
    for point in np.flatnonzero((np.abs(new - old) > _tolerance(looks, old)).any(axis=1)):
        row = points.points[point : point + 1, ...]
        more = _queried(session, task, namespace(row).concat([row] * AGAIN, axis=0), int(old.shape[1]))
        if more is None:
            return
        seen = np.concatenate([new[point : point + 1], more])
        known = np.concatenate([old[point : point + 1], _repeats(session, points.points[point, ...], old[:0])])
        apart = np.abs(seen[:, None, :] - known[None]) > _tolerance(seen, old[point : point + 1])
        if apart.any(axis=2).all():
            raise _difference(session, int(point), old[point], new[point])


def _repeats(session: Session, point: Array, none: np.ndarray) -> np.ndarray:
    """Return the answers (m, K) of the journal to repeats of x or of x̊, the point. none: no answers (0, K)."""
    assert session.journal is not None
    source = Again(point).fingerprint
    spans = session.journal.stored(source)
    return np.concatenate([none, *(session.journal.read(source, start, stop) for start, stop in spans)])


def _queried(session: Session, task: Task, rows: Array, width: int) -> np.ndarray | None:
    """Return the model's answers, which are not stored; None if the run is stopped."""
    answers = session.unstored_answers(task, rows, width)
    return None if answers is None else host(answers)


def _tolerance(looks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the largest difference of another answer from values (n, K), given answers (m, K) for one point."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    rounding: np.ndarray = SAME_ANSWER * np.maximum(np.abs(values), SAME_ANSWER * largest)
    count = len(looks)
    if count == 1:
        return rounding
    t = float(stdtrit(max(count - 1, AGAIN), 1 - WRONG / 2))
    rounding += t * looks.std(axis=0, ddof=1) * (1 + 1 / count) ** 0.5
    return rounding


def _difference(session: Session, point: int, old: np.ndarray, new: np.ndarray) -> JournalError:
    assert session.journal is not None
    output = int(np.argmax(np.abs(new - old)))
    name = "x̊" if point else "x"
    return JournalError(
        f"The model's answer for {name} is {new[output]:.6g} (output {output}), and {session.journal.path} holds "
        f"{old[output]:.6g}: the model has changed, or is another one.",
        code="journal-other-model",
        fix="Use another journal for it. geex.estimate(journal) explains the stored answers. If the answers of the "
        "model are random, pass limits=geex.Limits(compare=False).",
    )
