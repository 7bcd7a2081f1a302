"""Checks of a model or a model adapter."""

import pickle
from typing import Any

import numpy as np

from geex._arrays.arrays import as_explicand, host, namespace, owned
from geex._problem.foreign_model import Carried, strings
from geex._problem.model_identity import identity
from geex._query.answers import validated
from geex.testing.checking import require, step

# Rows of the batches that are compared.
CHECKED_ROWS = 12
BATCH_ROUNDING = 1e-5  # of the largest answer: libraries add up in another order in another batch


def check_model(model: Any, x: Any, *, picklable: bool = False) -> None:
    """Check that a model answers as geex needs it. It is asked some fifty rows.

    Parameters
    ----------
    model
        A callable from a batch (n, *x.shape) to answers (n,) or (n, k).
    x
        An input, without a batch axis.
    picklable
        Whether the model must survive pickling, as `geex.run.processes` and clusters need it.

    Raises
    ------
    CheckFailed
        A check failed. Its `code` is the name of the check: "answers", "queries-unchanged", "batch", "labels",
        "identity" or "picklable".

    Examples
    --------
    >>> import geex, numpy as np
    >>> geex.testing.check_model(lambda z: z.sum(axis=1), np.ones(4))
    """
    queries = _queries(x)
    before = host(owned(queries)).tobytes()
    whole = _answers(model, queries)
    require(host(queries).tobytes() == before, "queries-unchanged", model, "wrote into the queries.")
    with step("batch", model):
        _check_batches(model, queries, whole)
    labels = strings(Carried(model).labels)
    width = 1 if whole.ndim == 1 else whole.shape[1]
    named = labels is None or len(labels) == width
    require(named, "labels", model, f"has {len(labels or [])} labels and {width} outputs.")
    require(identity(model) == identity(model), "identity", model, "has another identity each time.")
    if picklable:
        _check_pickled(model, queries, whole)


def _queries(x: Any) -> Any:
    """x, a baseline of zeros, and x with some elements at 0."""
    explicand = as_explicand(x)
    xp = namespace(explicand)
    shown = np.random.default_rng(0).random((CHECKED_ROWS, *explicand.shape)) < 0.5
    shown[0], shown[1] = True, False
    rows = [xp.where(xp.asarray(one), explicand, xp.zeros_like(explicand)) for one in shown]
    return xp.stack(rows)


def _answers(model: Any, queries: Any) -> np.ndarray:
    with step("answers", model):
        return np.asarray(host(validated(model(queries), int(queries.shape[0]), finite=True)), dtype=np.float64)


def _check_batches(model: Any, queries: Any, whole: np.ndarray) -> None:
    allowed = BATCH_ROUNDING * np.abs(whole).max()
    for size in (1, 5):
        parts = [_answers(model, queries[start : start + size, ...]) for start in range(0, CHECKED_ROWS, size)]
        shapes = {part.shape[1:] for part in parts}
        require(shapes == {whole.shape[1:]}, "batch", model, f"gives answers of several shapes: {sorted(shapes)}.")
        same = np.abs(np.concatenate(parts) - whole).max() <= allowed
        require(same, "batch", model, f"gives other answers in batches of {size} than in one of {CHECKED_ROWS}.")


def _check_pickled(model: Any, queries: Any, whole: np.ndarray) -> None:
    with step("picklable", model):
        copy = pickle.loads(pickle.dumps(model))
        same = np.abs(_answers(copy, queries) - whole).max() <= BATCH_ROUNDING * np.abs(whole).max()
        require(same, "picklable", model, "gives other answers when it was pickled.")
        require(identity(copy) == identity(model), "picklable", model, "has another identity when it was pickled.")
