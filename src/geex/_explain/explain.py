"""The public functions that query a model: plan, query, estimate."""

import os
from collections.abc import Sequence
from typing import Any

from geex._arrays.arrays import Array
from geex._explain.driver import explain_tasks
from geex._explain.inputs import inputs, labels_for
from geex._explain.warnings import many_channels, one_row
from geex._plan.plan import DrawCache
from geex._problem.baselines import Baseline
from geex._problem.outputs import Score, Target, reusable_target
from geex._problem.table.rows import rows_of
from geex._protocols import Features, Method, Runner, Stop
from geex._query.limits import Limits
from geex._query.retrying_call import Model
from geex._query.session import engine
from geex._results.explanation import Explanation
from geex.errors import ExplicandError
from geex.models.scikit_learn import as_model


def explain(
    model: Model,
    x: Any,
    *,
    baseline: Baseline = None,
    target: Target = None,
    labels: Sequence[str] | None = None,
    score: Score = None,
    method: Method | None = None,
    queries: int | None = None,
    features: Features | None = None,
    bounds: tuple[Any, Any] | None = None,
    seed: int = 0,
    batch: int | None = None,
    progress: bool = True,
    journal: str | os.PathLike[str] | None = None,
    run: Runner | None = None,
    limits: Limits | None = None,
    price: float | None = None,
    most_cost: float | None = None,
    stop: Stop | None = None,
) -> Explanation:
    """Explain one decision: estimate the share of each feature of x in the model's score, with a standard error.

    Parameters
    ----------
    model
        A callable from a batch (n, *x.shape) to answers (n,) or (n, k), or a fitted estimator of scikit-learn,
        LightGBM, CatBoost or XGBoost; see `geex.models` for adapters.
    x
        One input, without a batch axis: an array, a tensor, or a row of a table, as a row of a data frame, a data frame
        of one row or a dictionary. A row may hold words, categories and missing values. The library and device of an
        array are used for the whole computation.
    baseline
        What absence looks like: a number, an array that broadcasts to x, another row, `blur(…)`, `per_channel(…)`,
        `mean(data)`, or a callable from x to one of these. A list of these averages over them. None: 0; for rows of
        words, and for estimators that were fitted with a data frame, there is no default.
    target
        The output to explain: an index, a label, a list of these, or "all". None: the largest output for x.
    labels
        Names of the outputs, one for each. None: the `labels` of the model, if it has any.
    score
        The function of the answers that is explained: "answer", "softmax" (of logits), "log_odds" (of probabilities),
        "bounded_log_odds", "sure_log_odds", "margin" (to the next output), "auto", or a callable (n, k) -> (n, k).
        None: "auto" for the default method of images, else "answer". See Notes.
    method
        How queries are chosen and values are computed. None: `Guided()` for images, `Shapley()` for all else. `GEEX()`
        is the paper's method.
    queries
        The most rows that the model receives, with those for f(x), f(x̊) and the second one for x. None: 1000 for the
        default method, else 5000.
    features
        What has a value: `Elements()`, `Pixels(channels=axis)`, `Groups(map)`, `Groups({"name": columns})`. None: every
        element; for the default method of an image its pixels.
    bounds
        (lowest, highest): valid values of the input. Queries are clipped to them. None: no limit.
    seed
        The seed of all random numbers. The same seed gives the same queries.
    batch
        Rows of one call of the model. None: few at first, and more while calls are short, up to as many as 32 MB hold
        (128 MB on a GPU), at most 512. It is halved if memory is too small. It does not change the result, unless the
        model itself rounds differently in other batches, as networks may in the last digits.
    progress
        Whether to show a progress bar, if the run takes over two seconds and standard error is a terminal.
    journal
        A file that stores every answer. The same call continues from it after an interruption. None: no file.
    run
        Where the model is called: `geex.run.processes(n)`, `dask(address)`, `ray(address)` or a runner of your own.
        None: in this process.
    limits
        How the model may be called, see `Limits`. None: the `limits` of the model, or `Limits()`.
    price
        The price of a query, for the forecast and the progress bar.
    most_cost
        The most that the run may cost, at `price` for each row that is sent, those of failed calls included. The run
        then ends, and the answers so far are explained. None: no limit.
    stop
        A rule that may end the run before the budget: `Precise(tolerance)`, `Settled(overlap)`. None: no rule.

    Returns
    -------
    Explanation
        Values and standard errors, in the library and on the device of x.

    Raises
    ------
    InputError
        An argument cannot be used. The subclass names the argument. Arguments are checked before the first query.
    MethodError
        The settings of the method contradict each other or do not suit x.
    ModelError
        The model raised an error, or its answers cannot be used.
    JournalError
        The journal cannot be read or written.
    RunError
        The workers are gone.

    Notes
    -----
    The values of most methods add up: f(x) = f(x̊) + Σ values + gap. `Explanation.estimand` states what a value
    estimates.

    Ctrl-C ends the queries. The explanation of the answers so far is returned, marked `partial`.

    "log_odds" are log p/(1 − p), with p kept 1e-12 away from 0 and 1; "bounded_log_odds" keep it 1e-3 away;
    "sure_log_odds" keep p above 1e-3 and 1 − p above 1e-8. "auto" uses the answer, unless the answers for x and the
    baselines are probabilities of classes: then it uses "sure_log_odds", or "bounded_log_odds" if the probabilities are
    rounded. Answers that are all 0 or 1 are used as they are.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> model = lambda z: z[:, 0] * z[:, 1] + 2 * z[:, 2]  # (n, 3) -> (n,)
    >>> explanation = geex.explain(model, np.array([2.0, 1.0, 1.0]), progress=False)
    >>> explanation.values.tolist()
    [1.0, 1.0, 2.0]
    >>> explanation.queries
    9
    """
    model = as_model(model)
    target = reusable_target(target)
    settings: dict[str, Any] = {
        "target": target,
        "score": score,
        "method": method,
        "queries": queries,
        "features": features,
        "bounds": bounds,
        "seed": seed,
        "batch": batch,
        "progress": progress,
        "stop": stop,
        "labels": labels_for(labels, target, model),
    }
    given = inputs(model, [x], baseline)
    tasks = given.tasks(settings)
    (one_row if features is None else many_channels)(tasks[0])
    return explain_tasks(engine(given.model, limits, run, journal, price, most_cost), tasks, DrawCache(keep=0))[0]


def explain_batch(
    model: Model,
    xs: Sequence[Any] | Array,
    *,
    baseline: Baseline = None,
    target: Target = None,
    labels: Sequence[str] | None = None,
    score: Score = None,
    method: Method | None = None,
    queries: int | None = None,
    features: Features | None = None,
    bounds: tuple[Any, Any] | None = None,
    seed: int = 0,
    batch: int | None = None,
    progress: bool = True,
    journal: str | os.PathLike[str] | None = None,
    run: Runner | None = None,
    limits: Limits | None = None,
    price: float | None = None,
    most_cost: float | None = None,
    stop: Stop | None = None,
) -> list[Explanation]:
    """Explain several inputs with one set of masks, and with `queries` for each of them.

    Parameters
    ----------
    model
        As in `explain`.
    xs
        The inputs (n, *shape): an array, a data frame, or a sequence of arrays or rows.
    baseline, target, labels, score, method, queries, features, bounds, seed
        As in `explain`.
    batch, progress, journal, run, limits, price, most_cost, stop
        As in `explain`.

    Returns
    -------
    list of Explanation
        One explanation for each input. After Ctrl-C the list ends with the input that was being explained.

    Raises
    ------
    ExplicandError
        `xs` has no rows.
    GeexError
        As in `explain`.

    Notes
    -----
    Masks stay in memory up to 256 MB. Beyond that they are made again from the seed.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> found = geex.explain_batch(lambda z: z @ [1.0, 2.0], np.array([[1.0, 1.0], [2.0, 0.5]]), progress=False)
    >>> [explanation.values.tolist() for explanation in found]
    [[1.0, 2.0], [2.0, 1.0]]
    """
    rows = rows_of(xs)
    if rows is None:
        raise ExplicandError(
            f"`xs` must have one input or more (n, *shape); got a {type(xs).__name__} without one.", code="xs-empty"
        )
    model = as_model(model)
    target = reusable_target(target)
    settings: dict[str, Any] = {
        "target": target,
        "score": score,
        "method": method,
        "queries": queries,
        "features": features,
        "bounds": bounds,
        "seed": seed,
        "batch": batch,
        "progress": progress,
        "stop": stop,
        "labels": labels_for(labels, target, model),
    }
    given = inputs(model, rows, baseline)
    tasks = given.tasks(settings)
    (one_row if features is None else many_channels)(tasks[0])
    return explain_tasks(engine(given.model, limits, run, journal, price, most_cost), tasks, DrawCache())
