"""Calls of the model: repeated after a transient failure, in halves when memory is too small."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

from geex._arrays.arrays import Array, gradient_free, namespace, owned
from geex._query.answers import validated
from geex._query.limits import Limits
from geex._query.rate_limit import RateLimiter, Stopped
from geex.errors import AnswerError, NoAnswerYet, TransientError, Unreachable, Unreadable

Model = Callable[[Array], Any]

# Attempts at a service that never gave a usable answer: its address or its form is probably wrong.
MISTAKEN = 3
# Errors after which a call is made again.
TRANSIENT = (TransientError, TimeoutError, ConnectionError)


class Caller:
    """Call a model within its limits, from any thread: retries, rate limits, and smaller batches if memory is short.

    Parameters
    ----------
    model
        The model, a callable.
    limits
        How the model may be called.
    batch
        The most rows of a call. It shrinks if memory is too small.
    stop
        An event that ends the waits between attempts. None: they are not ended.
    """

    def __init__(self, model: Model, limits: Limits, batch: int, stop: threading.Event | None = None) -> None:
        self.model = model
        self.limits = limits
        self.batch = batch if limits.rows is None else min(batch, limits.rows)
        self.rates = RateLimiter(limits, stop)
        self.failures = 0
        self.width: tuple[int, ...] | None = None

    def __call__(self, queries: Array) -> Any:
        """Return the model's answer to queries (n, *shape). The answer of the last attempt is not checked here."""
        count = int(queries.shape[0])
        if count > self.batch:
            return self._in_parts(queries)
        try:
            return self._attempts(queries, count)
        except Exception as error:
            if count == 1 or not out_of_memory(error):
                raise
        self.batch = min(self.batch, count // 2)
        return self._in_parts(queries)

    def _in_parts(self, queries: Array) -> Array:
        """Call the model with at most `batch` rows at a time, which may shrink on the way."""
        parts, start, count = [], 0, int(queries.shape[0])
        while start < count:
            part = queries[start : start + self.batch, ...]
            parts.append(owned(validated(self(part), int(part.shape[0]))))
            start += int(part.shape[0])
        return namespace(parts[0]).concat(parts, axis=0)

    def _attempts(self, queries: Array, count: int) -> Any:
        attempt = 1
        while True:
            self.rates.wait_for_turn(count)
            try:
                with gradient_free(queries):
                    answer = self.model(queries)
                return answer if attempt == self.limits.attempts else self._validated(answer, count)
            except (*TRANSIENT, AnswerError) as error:
                self._check_attempts(error, attempt)
                self.failures += 1
                self._warn_without_answer(error, attempt)
                try:
                    self.rates.back_off(attempt, _retry_after(error))
                except Stopped:
                    raise error from None
            attempt += 1

    def _check_attempts(self, error: Exception, attempt: int) -> None:
        """Raise the error if no attempt is left."""
        if attempt < self._most_attempts(error):
            return
        if attempt > 1 and isinstance(error, TRANSIENT):
            raise _exhausted(error, attempt) from error
        raise error

    def _warn_without_answer(self, error: Exception, attempt: int) -> None:
        if attempt == MISTAKEN and self.width is None:
            warnings.warn(
                f"The model has not answered after {attempt} attempts: {error} geex makes up to "
                f"{self._most_attempts(error)} attempts, with growing waits. Set limits=geex.Limits(attempts=…) to "
                "change this.",
                NoAnswerYet,
                stacklevel=2,
            )

    def _most_attempts(self, error: Exception) -> int:
        """Return how many attempts are made. Before the first usable answer, a service that cannot be reached or read
        is probably a mistake in its address or form, and gets few."""
        mistaken = isinstance(error, Unreachable | Unreadable) and self.width is None
        return min(self.limits.attempts, MISTAKEN) if mistaken else self.limits.attempts

    def _validated(self, answer: Any, count: int) -> Array:
        """Return a usable answer. Raise AnswerError for another, so that the call is made again."""
        array = validated(answer, count, finite=True)
        width = tuple(array.shape)[1:]
        if self.width not in (None, width):
            raise AnswerError(
                f"Every answer must have rows of one shape; this one has rows of shape {width} and earlier ones "
                f"{self.width}.",
                code="answer-width-changed",
            )
        self.width = width
        return array


def _exhausted(error: Exception, attempts: int) -> TransientError:
    """Return the last attempt's error with the number of attempts."""
    kind = "" if isinstance(error, TransientError) else f"{type(error).__name__}: "
    return TransientError(
        f"{kind}{error} ({attempts} attempts were made)", _retry_after(error), code="attempts-exhausted"
    )


def _retry_after(error: Exception) -> float | None:
    """Return how many seconds the server asks to wait; None where it gives no time."""
    return error.retry_after if isinstance(error, TransientError) else None


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory is too small, in whichever library it was raised."""
    # libraries have no common class: PyTorch raises RuntimeError on the CPU, others a class of this name
    if isinstance(error, MemoryError) or any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
        return True
    words = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in words or "can't allocate memory" in words)
