"""What runs in another process: the model is opened once, queries are made from the plan, answers are sent back.

A task is a plan and the rows of a chunk. Its result is the answers to these rows.
"""

import hashlib
import pickle
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from geex._arrays.arrays import host
from geex._arrays.validation import code_name, subject
from geex._plan.plan import LatestDraws, Plan
from geex._protocols import Source
from geex._query.answers import validated
from geex._query.calls.outcome import Outcome
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Caller, Model
from geex.errors import AnswerError, InputError, ModelError, ModelRaised

# A function that pickles: that of pickle, or of cloudpickle, which also pickles what a script defines.
Dumps = Callable[[Any], bytes]
# Plans that a worker keeps: a run has one for each baseline and round.
PLANS = 8


@dataclass(frozen=True)
class PickledModel:
    """A model as bytes, and how it may be called.

    Parameters
    ----------
    model
        The pickled model.
    limits
        The limits of one worker.
    batch
        The rows of a call.
    """

    model: bytes
    limits: Limits
    batch: int

    @property
    def key(self) -> str:
        return hashlib.sha256(self.model + repr((self.limits, self.batch)).encode()).hexdigest()


@dataclass(frozen=True)
class Failure:
    """An error as text: errors of other libraries cannot always be pickled."""

    kind: type[ModelError]
    message: str
    code: str

    def error(self) -> ModelError:
        return self.kind(self.message, code=self.code)


def pickled_model(model: Model, limits: Limits, batch: int, workers: int, dumps: Dumps = pickle.dumps) -> PickledModel:
    """Return the model as bytes for `workers` processes, which share the rate limits.

    Parameters
    ----------
    model, limits, batch
        The arguments of `Runner.open`.
    workers
        The number of workers.
    dumps
        A function that pickles. What it cannot pickle is pickled by cloudpickle, if that is installed.

    Returns
    -------
    PickledModel
        The model for `answer`.

    Raises
    ------
    InputError
        The model cannot be pickled.
    """
    requests, rows = limits.requests_per_second, limits.rows_per_second
    share = replace(
        limits,
        requests_per_second=None if requests is None else requests / workers,
        rows_per_second=None if rows is None else rows / workers,
    )
    return PickledModel(pickled(model, "the model", dumps), share, batch)


def pickled(thing: Any, name: str, dumps: Dumps = pickle.dumps) -> bytes:
    """Return the thing as bytes that another process can open. Raise InputError if it cannot be pickled."""
    try:
        return dumps(thing)
    except Exception as error:
        try:
            import cloudpickle
        except ImportError:
            raise _not_picklable(name, error, " Or `pip install cloudpickle`, which pickles most objects.") from error
    try:
        return bytes(cloudpickle.dumps(thing))
    except Exception as error:
        raise _not_picklable(name, error) from error


def _not_picklable(name: str, error: Exception, more: str = "") -> InputError:
    return InputError(
        f"{subject(name)} cannot be sent to another process ({type(error).__name__}: {error}).",
        code=f"{code_name(name)}-not-picklable",
        fix=f"Pass a function of a module, or an adapter of geex.models.{more}",
    )


class PickledPlans:
    """The plans of a run as bytes. Call it with a job's source; each plan is pickled once.

    Parameters
    ----------
    dumps
        A function that pickles, as in `pickled_model`.
    """

    def __init__(self, dumps: Dumps = pickle.dumps) -> None:
        self.dumps = dumps
        self.sources: dict[str, bytes] = {}

    def __call__(self, source: Source) -> bytes:
        fingerprint = source.fingerprint
        if fingerprint not in self.sources:
            bare = source.without_cache() if isinstance(source, Plan) else source
            self.sources[fingerprint] = pickled(bare, "the plan", self.dumps)
        return self.sources[fingerprint]


class PendingAnswer(Future[Any]):
    """The future of an answer, which another future (`remote`) will bring.

    Parameters
    ----------
    job
        The job that is answered.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.remote: Any = None
        self.deaths = 0

    def cancel(self) -> bool:
        """Cancel it, unless a worker has begun. Return whether it is cancelled."""
        if self.remote is not None and self.remote.cancel() is False:
            return False
        return super().cancel()

    def give_up(self) -> None:
        """Cancel it, because no answer will come."""
        super().cancel()

    def finish(self, result: Outcome) -> None:
        """Set the outcome that `answer` returned."""
        failure = result.error
        self.set_result(replace(result, error=failure.error()) if isinstance(failure, Failure) else result)


_lock = threading.Lock()  # a worker of a cluster may have several threads
_models: dict[str, Caller] = {}
_sources: "OrderedDict[bytes, Source]" = OrderedDict()


def answer(model: PickledModel, source: bytes, start: int, stop: int) -> Outcome:
    """Return what came of rows `start` … `stop` − 1: answers, and perhaps an error. Call it on a worker.

    Parameters
    ----------
    model
        The model, from `pickled_model`. A worker opens it once.
    source
        The plan, from `PickledPlans`.
    start, stop
        The first row, and the row after the last.

    Returns
    -------
    Outcome
        The outcome, which can be pickled. Pass it to `PendingAnswer.finish`.
    """
    try:
        caller = _opened(model)
    except Exception as error:
        text = _message("The model could not be opened", error)
        return Outcome([], error=Failure(ModelRaised, text, "model-not-opened"))
    try:
        outcome = caller(_unpickled(source).rows(start, stop))
        parts = [(first, count, host(validated(raw, count))) for first, count, raw in outcome.parts]
        return replace(outcome, parts=parts, error=_failure(outcome.error, start, stop))
    except Exception as error:
        return Outcome([], error=_failure(error, start, stop))


def _failure(error: Exception | None, start: int, stop: int) -> Failure | None:
    """Return an error as text."""
    if error is None:
        return None
    for kind in (AnswerError, ModelRaised):
        if isinstance(error, kind):
            return Failure(kind, str(error), error.code)
    return Failure(
        ModelRaised, _message(f"The model raised an error for rows {start} … {stop - 1}", error), "model-raised"
    )


def _opened(model: PickledModel) -> Caller:
    key = model.key
    with _lock:
        if key not in _models:
            _models[key] = Caller(pickle.loads(model.model), model.limits, model.batch)
        return _models[key]


def _unpickled(source: bytes) -> Source:
    with _lock:
        if source not in _sources:
            _sources[source] = _with_cache(pickle.loads(source))
            while len(_sources) > PLANS:
                _sources.popitem(last=False)
        return _sources[source]


def _with_cache(source: Source) -> Source:
    """Return the source, a plan with the draws of its latest chunks: the jobs of a worker are parts of chunks."""
    return replace(source, cache=LatestDraws()) if isinstance(source, Plan) else source


def _message(text: str, error: Exception) -> str:
    return f"{text}, on a worker on {socket.gethostname()}: {type(error).__name__}: {error}"
