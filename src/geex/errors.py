"""Everything geex raises.

GeexError
├── InputError(ValueError)        what was handed to explain
│   ├── ExplicandError            x
│   ├── BaselineError             the baseline
│   ├── TargetError               the target
│   ├── BoundsError               the bounds
│   ├── FeaturesError             the features
│   └── BudgetError               queries, batch
├── MethodError(ValueError)       a method's own settings
├── ModelError(RuntimeError)      what the model did
│   ├── ModelRaised               it raised; its own error is the cause
│   │   └── Refused               a service refused the request, and would refuse it again
│   │       └── TooLarge(MemoryError)   it would take fewer rows
│   ├── AnswerError               it answered something that cannot be used
│   └── TransientError            it failed in a way that may be over at the next attempt
│       ├── Unreachable           nobody is there
│       └── Unreadable            it answered in another form than was agreed on
├── FileError(ValueError)         a saved explanation that cannot be read
├── JournalError(RuntimeError)    a journal that cannot be read or written
├── RunError(RuntimeError)        workers that went away
└── MissingPackage(ImportError)   an optional package is not installed

BatchOfOne(UserWarning)           x may have a batch axis
ManyChannels(UserWarning)         the axis that was named as an image's channels may be one of its sides
LittleToExplain(UserWarning)      f(x) is hardly different from f(x̊)
UnevenScales(UserWarning)         one default σ for columns of very different scales
UnsteadyModel(UserWarning)        the model answered the same query differently
PartialRun(UserWarning)           the run was stopped, and explains what is in
NoAnswerYet(UserWarning)          the model has failed several times and never answered
"""

from typing import Any


class GeexError(Exception):
    """Base of every error that geex raises on purpose.

    Parameters
    ----------
    message
        What is wrong, and one way to mend it.
    code
        A stable name of the mistake, such as "sigma-not-positive". Programs and tests compare this, not the message.
    fix
        The way to mend it in Python, as a sentence of its own after the message. The command line has its own instead.

    Attributes
    ----------
    problem
        The message without `fix`.
    """

    def __init__(self, message: str = "", *, code: str = "", fix: str = "") -> None:
        super().__init__(f"{message} {fix}" if fix else message)
        self.code, self.problem = code, message


class InputError(GeexError, ValueError):
    """Something handed to `explain` cannot be used."""


class ExplicandError(InputError):
    """The input to be explained cannot be used."""


class BaselineError(InputError):
    """The baseline does not go with the explicand."""


class TargetError(InputError):
    """The target names no output of the model."""


class BoundsError(InputError):
    """The bounds are no range, or the explicand lies outside them."""


class FeaturesError(InputError):
    """The features do not go with the explicand."""


class BudgetError(InputError):
    """The queries or the batch are too few or no whole number."""


class MethodError(GeexError, ValueError):
    """A method's settings do not go together, or not with this explicand."""


class ModelError(GeexError, RuntimeError):
    """The model did something that stops the run."""


class ModelRaised(ModelError):
    """The model raised an error of its own, which is this one's cause."""


class Refused(ModelRaised):
    """A service refused the request and would refuse it again. `status` is its HTTP status, where it sent one."""

    def __init__(self, message: str = "", status: int | None = None, *, code: str = "", fix: str = "") -> None:
        super().__init__(message, code=code, fix=fix)
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status), {"code": self.code, "problem": self.problem}


class TooLarge(Refused, MemoryError):
    """A request is too large for a service, which may take its halves: the engine asks them, as for lack of memory."""


class AnswerError(ModelError):
    """The model answered something that cannot be used. `query` is the row that caused it, where one did."""

    def __init__(self, message: str = "", query: Any = None, *, code: str = "", fix: str = "") -> None:
        super().__init__(message, code=code, fix=fix)
        self.query = query


class TransientError(ModelError):
    """A call failed in a way that may be over if it is made again: a timeout, a reset, an overloaded server.

    retry_after: how many seconds the server asked to be left alone, where it did.
    """

    def __init__(self, message: str = "", retry_after: float | None = None, *, code: str = "", fix: str = "") -> None:
        super().__init__(message, code=code, fix=fix)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.retry_after), {"code": self.code, "problem": self.problem}


class Unreachable(TransientError):
    """No connection to a service was made: it is down for a moment, or its address is wrong."""


class Unreadable(TransientError):
    """A service answered in another form than was agreed on: cut off on its way, or never as it was described."""


class FileError(GeexError, ValueError):
    """A file is not a saved explanation."""


class JournalError(GeexError, RuntimeError):
    """A journal cannot be read or written, or is not one. What was committed to it is still there."""


class RunError(GeexError, RuntimeError):
    """The workers that answer went away, and the run cannot go on without them."""


class MissingPackage(GeexError, ImportError):
    """What was asked for needs a package that is not installed; the message has the command that installs it."""


class BatchOfOne(UserWarning):
    """x is one row with an axis before it, which may be a batch."""


class ManyChannels(UserWarning):
    """The channel axis that was named is long, and x looks like an image that has its channels elsewhere, or none."""


class LittleToExplain(UserWarning):
    """f(x) ≈ f(x̊): the shares divide up next to nothing."""


class UnevenScales(UserWarning):
    """Columns of a row differ from the baseline by very different amounts, and one default σ cannot suit them all."""


class UnsteadyModel(UserWarning):
    """The model was asked for x twice and answered differently: its answers hold noise of their own."""


class PartialRun(UserWarning):
    """The run was stopped before it was through, and the explanation is made of what is in."""


class NoAnswerYet(UserWarning):
    """The model, or the service, has failed several times in a row and never answered; it is asked again."""
