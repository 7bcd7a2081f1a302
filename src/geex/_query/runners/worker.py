"""What happens in another process: the model is opened once, queries are made from the plan, answers go back.

A task is a plan, the rows of one of its chunks, and nothing else; what comes back is the answers.
"""

import hashlib
import pickle
import socket
import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._plan.plan import Plan
from geex._protocols import Source
from geex._query.answers import usable
from geex._query.jobs import Job
from geex._query.limits import Limits
from geex._query.retrying_call import Caller, Model
from geex.errors import AnswerError, InputError, ModelError, ModelRaised

PLANS = 8  # that a worker keeps at hand


@dataclass(frozen=True)
class Parcel:
    """A model on its way, and how it may be called."""

    model: bytes
    limits: Limits
    batch: int

    @property
    def key(self) -> str:
        return hashlib.sha256(self.model + repr((self.limits, self.batch)).encode()).hexdigest()


@dataclass(frozen=True)
class Failure:
    """An error on its way back, in words: errors of other libraries do not always travel."""

    kind: type[ModelError]
    message: str

    def error(self) -> ModelError:
        return self.kind(self.message)


def parcel(model: Model, limits: Limits, batch: int, workers: int) -> Parcel:
    """The model for each of `workers` processes, which share the pace."""
    requests, rows = limits.requests_per_second, limits.rows_per_second
    share = replace(
        limits,
        requests_per_second=None if requests is None else requests / workers,
        rows_per_second=None if rows is None else rows / workers,
    )
    return Parcel(packed(model, "the model"), share, batch)


def packed(thing: Any, name: str) -> bytes:
    """The thing as bytes that another process can open."""
    try:
        return pickle.dumps(thing)
    except Exception as error:
        try:
            import cloudpickle
        except ImportError:
            raise InputError(
                f"{name} cannot be sent to another process ({error}); wanted a function of a module, or an adapter of "
                "geex.models. `pip install cloudpickle` sends most others too."
            ) from error
    try:
        return bytes(cloudpickle.dumps(thing))
    except Exception as error:
        raise InputError(
            f"{name} cannot be sent to another process ({type(error).__name__}: {error}); wanted a function of a "
            "module, or an adapter of geex.models."
        ) from error


class Packed:
    """What tasks carry of the plans of a run, packed once."""

    def __init__(self) -> None:
        self.sources: dict[str, bytes] = {}

    def __call__(self, source: Source) -> bytes:
        fingerprint = source.fingerprint
        if fingerprint not in self.sources:
            bare = source.bare() if isinstance(source, Plan) else source
            self.sources[fingerprint] = packed(bare, "the plan")
        return self.sources[fingerprint]


class Coming(Future[Any]):
    """An answer to come, and the future of another library that brings it."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.now: Any = None
        self.deaths = 0

    def cancel(self) -> bool:
        """Gives it up, unless a worker is at it and cannot be stopped."""
        if self.now is not None and self.now.cancel() is False:
            return False
        return super().cancel()

    def settle(self, result: "np.ndarray | Failure") -> None:
        """Takes what a worker sent back."""
        if isinstance(result, Failure):
            self.set_exception(result.error())
        else:
            self.set_result(result)


_lock = threading.Lock()  # a worker of a cluster may have several threads
_models: dict[str, Caller] = {}
_sources: "OrderedDict[bytes, Source]" = OrderedDict()


def answer(parcel: Parcel, source: bytes, start: int, stop: int) -> "np.ndarray | Failure":
    """Answers to rows start … stop − 1, as the model gives them."""
    try:
        caller = _opened(parcel)
    except Exception as error:
        return Failure(ModelRaised, _told("the model could not be opened", error))
    try:
        queries = _unpacked(source).rows(start, stop)
        return host(usable(caller(queries), stop - start))
    except AnswerError as error:
        return Failure(AnswerError, str(error))
    except ModelRaised as error:
        return Failure(ModelRaised, str(error))
    except Exception as error:
        return Failure(ModelRaised, _told(f"the model raised an error for rows {start} … {stop - 1}", error))


def _opened(parcel: Parcel) -> Caller:
    key = parcel.key
    with _lock:
        if key not in _models:
            _models[key] = Caller(pickle.loads(parcel.model), parcel.limits, parcel.batch)
        return _models[key]


def _unpacked(source: bytes) -> Source:
    with _lock:
        if source not in _sources:
            _sources[source] = pickle.loads(source)
            while len(_sources) > PLANS:
                _sources.popitem(last=False)
        return _sources[source]


def _told(what: str, error: Exception) -> str:
    return f"{what}, on a worker on {socket.gethostname()}: {type(error).__name__}: {error}"
