"""All that stands between a run and its model: limits, workers, journal, Ctrl-C, progress."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

from geex._arrays.arrays import Array
from geex._arrays.validation import file_path, is_number, shown
from geex._journal.journal import Journal
from geex._journal.stored_task import StoredModel, written
from geex._plan.plan import Ends
from geex._problem.foreign_model import Carried, strings
from geex._problem.model_identity import identity
from geex._problem.task import Task
from geex._protocols import Runner, Source
from geex._query.batch_size import BatchSize
from geex._query.dispatcher import Dispatcher
from geex._query.interrupt import Interrupt
from geex._query.jobs import Inline, Pool
from geex._query.limits import Limits, affordable, limits_of, rows_of_a_call
from geex._query.ordered_answers import Querier
from geex._query.progress import LONG_RUN, Progress, cost, duration
from geex._query.retrying_call import Model
from geex._query.runners.threads import threads
from geex._query.spending import Spending
from geex.errors import GeexError, InputError

# What is stored of a model that has neither an identity nor names.
ANONYMOUS = StoredModel()


@dataclass(frozen=True, eq=False)
class Engine:
    """How a model is queried. With no model, the journal alone answers, with the answers of `stored_model`."""

    model: Model | None
    limits: Limits
    run: Runner | None = None
    journal: Any = None
    price: float | None = None
    stored_model: StoredModel = ANONYMOUS

    @contextmanager
    def opened(self, batch: int, total: int, progress: bool = False, fixed: bool = False) -> Iterator["Session"]:
        """Open a session of at most `total` queries, at most `batch` in a call; `fixed`: no fewer at first."""
        with ExitStack() as stack:
            journal = None
            if self.journal is not None:
                journal = stack.enter_context(Journal(self.journal, self.model is not None, self.stored_model.identity))
            bar = stack.enter_context(Progress(total, progress, self.price))
            interrupt = stack.enter_context(Interrupt())
            pool = None
            if self.model is not None:
                batch = rows_of_a_call(self.model, self.limits, batch)
                pool = stack.enter_context(closing(self._pool(self.model, batch, interrupt.stop)))
            try:
                spending = Spending(BatchSize(batch, fixed), self.limits.most_sent)
                yield Session(pool, journal, interrupt, bar, spending, self.stored_model, self.limits.compare)
            except BaseException as error:
                interrupt.stop.set()  # ends the waits between attempts: their answers are not needed any more
                if journal is not None and pool is not None and isinstance(error, GeexError):
                    error.add_note(f"The answers so far are in {journal.path}. The same call continues from there.")
                raise

    def _pool(self, model: Model, batch: int, stop: threading.Event) -> Pool:
        if self.run is not None:
            return self.run.open(model, self.limits, batch, stop)
        if self.limits.concurrency > 1:
            return threads(self.limits.concurrency).open(model, self.limits, batch, stop)
        return Inline(model, self.limits, batch, stop)


def engine(
    model: Any,
    limits: Limits | None = None,
    run: Any = None,
    journal: Any = None,
    price: float | None = None,
    most_cost: float | None = None,
) -> Engine:
    """Return the engine that the arguments of `explain` describe."""
    carried = Carried(model)
    if not callable(model):
        raise InputError(
            f"`model` must be a callable from a batch (n, *shape) to (n,) or (n, k); got {shown(model)}.",
            code="model-not-callable",
        )
    if journal is not None:
        file_path("journal", journal, InputError)
    if run is not None and not isinstance(run, Runner):
        raise InputError(
            f"`run` must be a runner of geex.run, or of your own class, or None; got {shown(run)}.",
            code="run-not-a-runner",
            fix="For a class of your own, subclass geex.Runner.",
        )
    if price is not None and (not is_number(price) or price < 0):
        raise InputError(
            f"`price` must be the price of one query, 0 or more, or None; got {shown(price)}.", code="price-negative"
        )
    allowed = affordable(limits_of(model, limits), price, most_cost)
    own = "" if journal is None else identity(model)
    stored_model = StoredModel(own, strings(carried.labels), strings(carried.names), carried.absence)
    return Engine(model, allowed, run, journal, price, stored_model)


@dataclass(eq=False)
class Session:
    """An engine that is running.

    compare: whether the model is compared with the journal. compared: whether it has been.
    """

    pool: Pool | None
    journal: Journal | None
    interrupt: Interrupt
    progress: Progress
    spending: Spending
    stored_model: StoredModel
    compare: bool = True
    compared: bool = False

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C has stopped the queries, or no more may be spent."""
        return self.interrupt.stop.is_set() or self.spending.spent

    def log_cost(self, total: int, plans: Sequence[Source]) -> None:
        """Log how many queries are to come, and their cost."""
        stored = 0
        if self.journal is not None:
            stored = min(total, sum(self.journal.count(plan.fingerprint, total) for plan in plans))
        self.progress.log(cost(total, stored, self.progress.price), self.progress.price is not None)

    def log_duration(self, seconds: float, rows: int) -> None:
        """Log how long `rows` rows will take, a first call having taken `seconds`."""
        if self.pool is not None:
            calls, at_a_time = -(-rows // self.pool.batch), max(1, self.pool.window // 2)
            self.progress.log(duration(seconds, calls, at_a_time), seconds * calls / at_a_time > LONG_RUN)

    def dispatcher(self, explicand: Array) -> Dispatcher:
        """Return a dispatcher for inputs like `explicand`."""
        return self._dispatcher(explicand, self.journal)

    def _dispatcher(self, explicand: Array, journal: Journal | None) -> Dispatcher:
        return Dispatcher(self.pool, explicand, self.spending, self.progress, self.interrupt, journal)

    def unstored_answers(self, task: Task, rows: Array, width: int) -> Array | None:
        """Return the model's answers to rows, neither read from the journal nor stored; None if the run is stopped.

        width: how many outputs the answers in the journal have.
        """
        dispatcher = self._dispatcher(task.explicand, None)
        dispatcher.answers.expect_width(width)
        count = int(rows.shape[0])
        return Querier(dispatcher, count).ends(Ends(rows), 0, count)

    def querier(self, task: Task) -> Querier:
        """Return a querier for one task, and store the task in the journal."""
        if self.journal is not None and self.pool is not None:
            self.journal.store_run(*written(task, self.stored_model))
        return Querier(self.dispatcher(task.explicand), task.queries)
