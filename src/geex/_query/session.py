"""All that stands between a run and its model, opened once: limits, workers, journal, Ctrl-C, progress."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array
from geex._arrays.validation import file_path, is_number
from geex._journal.journal import Journal
from geex._journal.stored_task import Known, written
from geex._plan.plan import Plan
from geex._problem.foreign_model import Carried, strings
from geex._problem.model_identity import identity
from geex._problem.task import Task
from geex._protocols import Runner
from geex._query.in_flight import Desk
from geex._query.interrupt import Interrupt
from geex._query.jobs import Inline, Pool
from geex._query.limits import Limits, limits_of
from geex._query.ordered_answers import Asker
from geex._query.progress import WORTH_SAYING, Progress, cost, duration
from geex._query.retrying_call import Model
from geex._query.runners.threads import threads
from geex.errors import GeexError, InputError

NOBODY = Known()


@dataclass(frozen=True, eq=False)
class Engine:
    """How a model is asked. With no model, the journal alone answers, with what the one that is `known` said to it."""

    model: Model | None
    limits: Limits
    run: Runner | None = None
    journal: Any = None
    price: float | None = None
    known: Known = NOBODY

    @contextmanager
    def opened(self, batch: int, total: int, progress: bool = False) -> Iterator["Session"]:
        """A session that asks `total` rows at most, `batch` in a call."""
        with ExitStack() as stack:
            journal = None
            if self.journal is not None:
                journal = stack.enter_context(Journal(self.journal, self.model is not None, self.known.identity))
            bar = stack.enter_context(Progress(total, progress, self.price))
            interrupt = stack.enter_context(Interrupt())
            pool = None
            if self.model is not None:
                pool = stack.enter_context(closing(self._pool(self.model, batch, interrupt.stop)))
            try:
                yield Session(pool, journal, interrupt, bar, self.known)
            except BaseException as error:
                interrupt.stop.set()  # nobody waits for the next attempt of what is under way
                if journal is not None and pool is not None and isinstance(error, GeexError):
                    error.add_note(f"The answers so far are in {journal.path}: the same call goes on from there.")
                raise

    def _pool(self, model: Model, batch: int, stop: threading.Event) -> Pool:
        if self.run is not None:
            return self.run.open(model, self.limits, batch, stop)
        if self.limits.concurrency > 1:
            return threads(self.limits.concurrency).open(model, self.limits, batch, stop)
        return Inline(model, self.limits, batch, stop)


def engine(
    model: Any, limits: Limits | None = None, run: Any = None, journal: Any = None, price: float | None = None
) -> Engine:
    """The engine that the arguments of `explain` describe."""
    if not callable(model):
        way = " geex.models.sklearn(model) makes one of it." if Carried(model).estimator else ""
        raise InputError(f"model is {model!r}; wanted a callable from a batch (n, *shape) to (n,) or (n, k).{way}")
    if journal is not None:
        file_path("journal", journal, InputError)
    if run is not None and not isinstance(run, Runner):
        raise InputError(
            f"`run` must be a runner of geex.run, or of your own class, or None; got {run!r}. For a class of your own, "
            "subclass geex.Runner.",
            code="run-not-a-runner",
        )
    if price is not None and (not is_number(price) or price < 0):
        raise InputError(f"price is {price!r}; wanted what one query costs, 0 or more, or None.")
    carried = Carried(model)
    own = "" if journal is None else identity(model)
    known = Known(own, strings(carried.labels), strings(carried.names), carried.absence)
    return Engine(model, limits_of(model, limits), run, journal, price, known)


@dataclass(frozen=True, eq=False)
class Session:
    """An engine that is running."""

    pool: Pool | None
    journal: Journal | None
    interrupt: Interrupt
    bar: Progress
    known: Known

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C has ended the asking."""
        return self.interrupt.stop.is_set()

    def forecast(self, total: int, plans: list[Plan]) -> None:
        """Says what is to come, before anything is asked."""
        stored = 0
        if self.journal is not None:
            spans = [span for plan in plans for span in self.journal.stored(plan.fingerprint)]
            stored = min(total, sum(stop - start for start, stop in spans))
        self.bar.say(cost(total, stored, self.bar.price), self.bar.price is not None)

    def timed(self, seconds: float, rows: int) -> None:
        """Says how long `rows` rows will take, a first call having taken `seconds`."""
        if self.pool is not None:
            calls, at_a_time = -(-rows // self.pool.batch), max(1, self.pool.window // 2)
            self.bar.say(duration(seconds, calls, at_a_time), seconds * calls / at_a_time > WORTH_SAYING)

    def desk(self, explicand: Array) -> Desk:
        """Where inputs like `explicand` are asked about."""
        return Desk(self.pool, explicand, self.bar, self.interrupt, self.journal)

    def asker(self, task: Task) -> Asker:
        """Asks for one task, which the journal remembers."""
        if self.journal is not None and self.pool is not None:
            self.journal.remember(*written(task, self.known))
        return Asker(self.desk(task.explicand), task.queries)
