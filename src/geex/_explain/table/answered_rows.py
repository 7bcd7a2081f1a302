"""The answers to the rows of a table, in order, and the errors of rows that have none.

A model may fail on some rows alone: one value that it cannot read, one input that a service refuses. A call holds
several rows, so after an error the rows are queried one by one until the one that fails is found. It is left out, and
the others go on in shared calls.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import closing

from geex._arrays.arrays import Array
from geex._explain.table.source import RowPlan, TableSource
from geex._query.jobs import Piece
from geex._query.ordered_answers import Querier
from geex._query.session import Session
from geex.errors import AnswerError, ModelError, ModelRaised

# Rows that fail before any has answers: the model is at fault, not the rows.
NONE_YET = 3
# Rows that fail one after the other: the model is at fault, and the run ends.
IN_A_ROW = 20
# Rows that are queried one by one without an error, after which they share calls again.
CAREFUL = 64

# What the model raises if it cannot be reached, whatever the row.
OUTAGES = (TimeoutError, ConnectionError)

Answered = tuple[int, RowPlan, Array | ModelError]


class AnsweredRows:
    """Iterate over (row, plan, answers), or (row, plan, error) of a row that failed.

    ended_by: the error that ended the iteration, if too many rows failed one after the other.
    """

    def __init__(self, session: Session, source: TableSource, width: int) -> None:
        self.session, self.source, self.width = session, source, width
        self.ended_by: ModelError | None = None
        self._careful = 0  # how many rows are still queried one by one
        self._failing = 0  # how many rows have failed one after the other
        self._answered = False

    def __iter__(self) -> Iterator[Answered]:
        row, count = 0, len(self.source)
        while row < count and not self.session.stopped and self.ended_by is None:
            alone = self._careful > 0
            try:
                for answered in self._stream(row, row + 1 if alone else count):
                    self._count(answered)
                    yield answered
                    row += 1
            except (ModelRaised, AnswerError) as error:
                if isinstance(error.__cause__, OUTAGES):
                    raise
                if not alone:
                    self._careful = CAREFUL
                    continue
                answered = row, self.source.plan(row), error
                self._count(answered)
                yield answered
                row += 1

    def _count(self, answered: Answered) -> None:
        """Count rows that fail one after the other, and rows that are still queried one by one."""
        error = answered[2]
        if isinstance(error, ModelError):
            self._failing, self._careful = self._failing + 1, 1  # the next one alone: rows that fail may be neighbours
            if self._failing >= (IN_A_ROW if self._answered else NONE_YET):
                self.ended_by = error
            return
        self._answered, self._failing, self._careful = True, 0, max(0, self._careful - 1)

    def _stream(self, first: int, stop: int) -> Iterator[Answered]:
        """Yield the answers to rows `first` … `stop` − 1, as far as they come."""
        waiting: deque[tuple[int, RowPlan]] = deque()

        def pieces() -> Iterator[Piece]:
            for row in range(first, stop):
                waiting.append((row, self.source.plan(row)))
                yield Piece(self.source, *self.source.span(row), waiting[-1][1])

        dispatcher = self.session.dispatcher(self.source.task.explicand)  # a new one: one that failed starts no job
        dispatcher.answers.width, dispatcher.answers.lazy = self.width, False
        start, end = self.source.span(first)[0], self.source.span(stop - 1)[1]
        with closing(Querier(dispatcher, end - start).pieces(self.source, pieces())) as answers:
            for answer in answers:
                yield *waiting.popleft(), answer
