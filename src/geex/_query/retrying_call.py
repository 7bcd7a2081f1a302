"""One call of the model: again when it fails for a moment, in halves when memory is too small for it."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

from geex._arrays.arrays import Array, gradient_free, namespace, owned
from geex._query.answers import usable
from geex._query.limits import Limits
from geex._query.rate_limit import Pace, Stopped
from geex.errors import AnswerError, NoAnswerYet, TransientError, Unreachable, Unreadable

Model = Callable[[Array], Any]

MISTAKEN = 3  # attempts at a service that never yet answered, or never in the form that was agreed on
TRANSIENT = (TransientError, TimeoutError, ConnectionError)


class Caller:
    """Calls a model within its limits, from any thread. `batch` is the most rows of a call, and only ever shrinks."""

    def __init__(self, model: Model, limits: Limits, batch: int, stop: threading.Event | None = None) -> None:
        self.model = model
        self.limits = limits
        self.batch = batch if limits.rows is None else min(batch, limits.rows)
        self.pace = Pace(limits, stop)
        self.failures = 0
        self.width: tuple[int, ...] | None = None

    def __call__(self, queries: Array) -> Any:
        """What the model answers to queries (n, *shape). The last attempt's answer is not checked here."""
        count = int(queries.shape[0])
        if count > self.batch:
            return self._parts(queries)
        try:
            return self._attempts(queries, count)
        except Exception as error:
            if count == 1 or not out_of_memory(error):
                raise
        self.batch = min(self.batch, count // 2)
        return self._parts(queries)

    def _parts(self, queries: Array) -> Array:
        """Answers in calls of at most `batch` rows, which may shrink on the way."""
        parts, start, count = [], 0, int(queries.shape[0])
        while start < count:
            part = queries[start : start + self.batch, ...]
            parts.append(owned(usable(self(part), int(part.shape[0]))))
            start += int(part.shape[0])
        return namespace(parts[0]).concat(parts, axis=0)

    def _attempts(self, queries: Array, count: int) -> Any:
        attempt = 1
        while True:
            self.pace.start(count)
            try:
                with gradient_free(queries):
                    answer = self.model(queries)
                return answer if attempt == self.limits.attempts else self._usable(answer, count)
            except (*TRANSIENT, AnswerError) as error:
                if attempt >= self._most(error):
                    if attempt > 1 and isinstance(error, TRANSIENT):
                        raise _given_up(error, attempt) from error
                    raise
                self.failures += 1
                if attempt == MISTAKEN and self.width is None:
                    warnings.warn(
                        f"no answer yet after {attempt} attempts: {error} Up to {self._most(error)} are made, with "
                        "growing waits; limits=geex.Limits(attempts=…) says how many.",
                        NoAnswerYet,
                        stacklevel=2,
                    )
                try:
                    self.pace.failed(attempt, _retry_after(error))
                except Stopped:
                    raise error from None
            attempt += 1

    def _most(self, error: Exception) -> int:
        """How often it is asked. Where no answer was ever usable, one that cannot be read is a mistake and not a fault,
        and so is nobody there."""
        mistaken = isinstance(error, Unreachable | Unreadable) and self.width is None
        return min(self.limits.attempts, MISTAKEN) if mistaken else self.limits.attempts

    def _usable(self, answer: Any, count: int) -> Array:
        """The answer, where it is one: else AnswerError, and the model is asked again."""
        array = usable(answer, count, finite=True)
        width = tuple(array.shape)[1:]
        if self.width not in (None, width):
            raise AnswerError(f"the model answered rows of shape {width}, and {self.width} before.")
        self.width = width
        return array


def _given_up(error: Exception, attempts: int) -> TransientError:
    """The last attempt's error, which says how many there were."""
    kind = "" if isinstance(error, TransientError) else f"{type(error).__name__}: "
    return TransientError(f"{kind}{error} ({attempts} attempts were made)", _retry_after(error))


def _retry_after(error: Exception) -> float | None:
    """How many seconds the server asked to be left alone, where it did."""
    return error.retry_after if isinstance(error, TransientError) else None


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory was too small, in the words of whichever library raised it."""
    if isinstance(error, MemoryError) or any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
        return True
    words = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in words or "can't allocate memory" in words)
