"""Calls of the model: repeated after a transient failure, in halves when memory is too small.

A row that has a usable answer is not sent again: of a batch, the rows that failed are.
"""

import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, gradient_free
from geex._query.answers import validated
from geex._query.calls.allowance import Allowance
from geex._query.calls.answer_width import FirstAnswerWrong, Widths
from geex._query.calls.answered_rows import Rows, usable_rows
from geex._query.calls.call_context import one_call
from geex._query.calls.outage import Outage
from geex._query.calls.outcome import Outcome
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
        self.batch = batch
        self.rates = RateLimiter(limits, stop)
        self.outage = Outage(limits.concurrency, self.rates.stop)
        self.allowance = Allowance(limits.most_sent)
        self.widths = Widths()

    def __call__(self, queries: Array) -> Outcome:
        """Return the outcome for queries (n, *shape). Answers of last attempts are not checked here."""
        rows = Rows(queries)
        begun = time.monotonic()
        error: Exception | None = None
        try:
            while rows.left:
                self._answer(rows, rows.pending()[: self.batch])
        except (Stopped, Exception) as reason:
            error = reason
        except KeyboardInterrupt:  # answers that are paid for are kept
            self.rates.stop.set()
            error = Stopped()
        return Outcome(rows.parts, rows.sent, rows.failed, time.monotonic() - begun, error)

    def _answer(self, rows: Rows, pending: np.ndarray) -> None:
        """Answer pending rows, or some of them if memory is too small for all."""
        try:
            with one_call(self.rates.stop):
                self._attempts(rows, pending)
        except Exception as error:
            if len(pending) == 1 or not out_of_memory(error):
                raise
            self.batch = min(self.batch, len(pending) // 2)

    def _attempts(self, rows: Rows, pending: np.ndarray) -> None:
        """Call the model until all rows have usable answers. Rows that have one are not sent again."""
        attempt = 1
        try:
            while len(pending):
                self.outage.wait(rows)
                self.rates.wait_for_turn(len(pending))
                error: Exception | None
                try:
                    pending, error = self._called(rows, pending, attempt)
                except (*TRANSIENT, AnswerError) as reason:
                    error = reason
                if error is not None:
                    self._after_failure(rows, error, attempt)
                attempt += 1
        finally:
            self.outage.given_up(rows)

    def _called(self, rows: Rows, pending: np.ndarray, attempt: int) -> tuple[np.ndarray, AnswerError | None]:
        """Call the model once. Return the rows without a usable answer, and why they have none.

        All answers of the last attempt are kept: they are checked where they are used.
        """
        pending = pending[: self.allowance.take(len(pending))]
        part = rows.queries_of(pending)
        rows.sent += len(pending)
        with gradient_free(part):
            answer = self.model(part)
        self.outage.succeeded()
        if attempt == self.limits.attempts:
            rows.keep(pending, answer)
            return pending[:0], None
        array = validated(answer, len(pending))
        self.widths.check(tuple(array.shape)[1:])
        usable = usable_rows(array)
        if usable.all():
            rows.keep(pending, array)
            return pending[:0], None
        rows.keep_some(pending, array, usable)
        return pending[~usable], AnswerError(
            f"Answers must be finite numbers; {int(np.sum(~usable))} of {len(usable)} rows hold NaN or infinity.",
            code="answer-not-finite",
        )

    def _after_failure(self, rows: Rows, error: Exception, attempt: int) -> None:
        """Count a failed call, and wait before the next one. Raise the error if no attempt is left."""
        rows.failed += 1
        if isinstance(error, TRANSIENT):
            self.outage.failed()
        self._check_attempts(error, attempt)
        self._warn_without_answer(error, attempt)
        try:
            self.rates.back_off(attempt, _retry_after(error))
        except Stopped:
            raise error from None

    def _check_attempts(self, error: Exception, attempt: int) -> None:
        """Raise the error if no attempt is left, or if the server asks to wait for longer than is allowed."""
        wait = _retry_after(error)
        if wait is not None and wait > self.limits.longest_retry_after and attempt < self.limits.attempts:
            too_long = _too_long(error, wait, self.limits.longest_retry_after)
            self.outage.ended_by(too_long)
            raise too_long from error
        if attempt < self._most_attempts(error) and not isinstance(error, FirstAnswerWrong):
            return
        if isinstance(error, TRANSIENT):
            last = _exhausted(error, attempt) if attempt > 1 else error
            self.outage.ended_by(last)
            raise last from (None if last is error else error)
        raise error

    def _warn_without_answer(self, error: Exception, attempt: int) -> None:
        if attempt == MISTAKEN and not self.widths.found:
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
        mistaken = isinstance(error, Unreachable | Unreadable) and not self.widths.found
        return min(self.limits.attempts, MISTAKEN) if mistaken else self.limits.attempts


def _exhausted(error: Exception, attempts: int) -> TransientError:
    """Return the last attempt's error with the number of attempts."""
    kind = "" if isinstance(error, TransientError) else f"{type(error).__name__}: "
    return TransientError(
        f"{kind}{error} ({attempts} attempts were made)", _retry_after(error), code="attempts-exhausted"
    )


def _too_long(error: Exception, wait: float, longest: float) -> TransientError:
    """Return the error for a server that asks to wait for longer than the limits allow."""
    return TransientError(
        f"{error} The server asks to wait {wait:,.0f} s before the next request; longest_retry_after allows "
        f"{longest:,.0f} s.",
        wait,
        code="retry-after-too-long",
        fix="Make the same call later, or pass limits=geex.Limits(longest_retry_after=…).",
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
