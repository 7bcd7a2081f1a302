"""Every error and warning of geex.

GeexError
├── InputError(ValueError)        an argument of `explain` cannot be used
│   ├── ExplicandError            x
│   ├── BaselineError             the baseline
│   ├── TargetError               the target
│   ├── BoundsError               the bounds
│   ├── FeaturesError             the features
│   └── BudgetError               queries, batch
├── MethodError(ValueError)       the settings of a method
├── ModelError(RuntimeError)      a failure of the model
│   ├── ModelRaised               the model raised an error, which is the cause of this one
│   │   └── Refused               a service refused the request for good
│   │       └── TooLarge(MemoryError)   a service takes fewer rows in a request
│   ├── AnswerError               the answer cannot be used
│   └── TransientError            a failure that another attempt may get past
│       ├── Unreachable           no connection to the service
│       └── Unreadable            an answer in an unexpected form
├── FileError(ValueError)         a saved explanation cannot be read
├── JournalError(RuntimeError)    a journal cannot be read or written
├── RunError(RuntimeError)        the workers have gone
├── CheckFailed(AssertionError)   an extension failed a check of geex.testing
└── MissingPackage(ImportError)   an optional package is not installed

BatchOfOne(UserWarning)           x may have a batch axis
ManyChannels(UserWarning)         the named channel axis may be a side of the image
LittleToExplain(UserWarning)      f(x) is close to f(x̊)
UnevenScales(UserWarning)         one default σ for columns of very different scales
UnsteadyModel(UserWarning)        the model answered the same query differently
PartialRun(UserWarning)           the run was stopped early
NoAnswerYet(UserWarning)          the model has failed several times and never answered
FailedRows(UserWarning)           the model failed on some rows of a table
RepeatedIndex(UserWarning)        the index of a table has labels that repeat
"""

from typing import Any

from geex._plain_text import harmless


class GeexError(Exception):
    """Base class of all errors that geex raises on purpose.

    Parameters
    ----------
    message
        What is wrong, and one way to mend it.
    code
        A stable name of the mistake, such as "sigma-not-positive". Compare this in programs and tests, not the message.
    fix
        The way to mend it in Python, as a sentence of its own after the message. The command line has its own instead.

    Attributes
    ----------
    code
        The stable name of the mistake.
    problem
        The message without `fix`.

    Examples
    --------
    >>> import geex
    >>> try:
    ...     geex.GEEX(sigma=-1)
    ... except geex.errors.GeexError as error:
    ...     error.code
    'sigma-not-positive'
    """

    def __init__(self, message: str = "", *, code: str = "", fix: str = "") -> None:
        problem = harmless(str(message))
        super().__init__(f"{problem} {harmless(fix)}" if fix else problem)
        self.code, self.problem = code, problem


class InputError(GeexError, ValueError):
    """An argument of `explain`, or of another function, cannot be used."""


class ExplicandError(InputError):
    """The input x cannot be explained as it is."""


class BaselineError(InputError):
    """The baseline cannot be used, or does not match x."""


class TargetError(InputError):
    """The target names no output of the model."""


class BoundsError(InputError):
    """The bounds are not a range, or x lies outside them."""


class FeaturesError(InputError):
    """The features cannot be used, or do not match x."""


class BudgetError(InputError):
    """The number of queries or the batch is too small, or not a whole number."""


class MethodError(GeexError, ValueError):
    """The settings of a method contradict each other, or do not suit x."""


class ModelError(GeexError, RuntimeError):
    """The model failed, and the run cannot continue."""


class ModelRaised(ModelError):
    """The model raised an error, which is the `__cause__` of this one."""


class Refused(ModelRaised):
    """A service refused the request, and would refuse it again.

    Attributes
    ----------
    status
        The HTTP status of the answer; None where there was no answer.
    """

    def __init__(self, message: str = "", status: int | None = None, *, code: str = "", fix: str = "") -> None:
        super().__init__(message, code=code, fix=fix)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status), {"code": self.code, "problem": self.problem}


class TooLarge(Refused, MemoryError):
    """A request has too many rows for a service; geex sends it again in halves."""


class AnswerError(ModelError):
    """The answer of the model cannot be used.

    Attributes
    ----------
    query
        The query with the first unusable answer; None where no single query is at fault.
    """

    def __init__(self, message: str = "", query: Any = None, *, code: str = "", fix: str = "") -> None:
        super().__init__(message, code=code, fix=fix)
        self.query = query

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.query), {"code": self.code, "problem": self.problem}


class TransientError(ModelError):
    """A call failed in a way that another attempt may get past: a timeout, a reset, an overloaded server.

    Raise it in your own model to have the call made again, up to `Limits(attempts=…)` times.

    Attributes
    ----------
    retry_after
        How many seconds the server asks to wait; None where it gives no time.
    """

    def __init__(self, message: str = "", retry_after: float | None = None, *, code: str = "", fix: str = "") -> None:
        super().__init__(message, code=code, fix=fix)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.retry_after), {"code": self.code, "problem": self.problem}


class Unreachable(TransientError):
    """No connection to a service could be made."""


class Unreadable(TransientError):
    """The answer of a service is cut off, or not in the expected form."""


class FileError(GeexError, ValueError):
    """A file is not a saved explanation, or cannot be read by this version."""


class JournalError(GeexError, RuntimeError):
    """A journal cannot be read or written; the answers that were committed to it stay in it."""


class RunError(GeexError, RuntimeError):
    """The workers have gone, and the run cannot continue without them."""


class CheckFailed(GeexError, AssertionError):
    """An extension failed a check of `geex.testing`; `code` is the name of the check."""


class MissingPackage(GeexError, ImportError):
    """An optional package is not installed; the message has the command that installs it."""


class BatchOfOne(UserWarning):
    """The first axis of x has length 1 and may be a batch axis."""


class ManyChannels(UserWarning):
    """The named channel axis is long, and may be a side of the image instead."""


class LittleToExplain(UserWarning):
    """f(x) and f(x̊) are almost equal, so there is little to attribute."""


class UnevenScales(UserWarning):
    """Columns differ from the baseline by very different amounts, and one default σ cannot suit all of them."""


class UnsteadyModel(UserWarning):
    """The model answered x differently the second time: its answers are noisy."""


class PartialRun(UserWarning):
    """The run was stopped early, and the explanation is made from the answers so far."""


class NoAnswerYet(UserWarning):
    """The model, or the service, has failed several times in a row and never answered; geex tries again."""


class FailedRows(UserWarning):
    """The model failed on some rows of a table, which are left out of the result."""


class RepeatedIndex(UserWarning):
    """The index of a table has labels that repeat; all rows are kept."""
