"""The only step that costs anything: turns queries into answers (n, k).

The batch is how many rows the model is asked at a time. It changes neither what is asked nor in which order:
chunks are cut and joined into batches, and the answers put back to their chunks.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any

from tqdm import tqdm

from geex.answers import Answers
from geex.arrays import Array, accelerated, gradient_free, namespace
from geex.errors import BudgetError, ModelRaised
from geex.plan import Chunk

Model = Callable[[Array], Any]

BATCH_BYTES = 32 * 2**20
BATCH_BYTES_ACCELERATED = 128 * 2**20
MOST_ROWS = 512


def default_batch(explicand: Array) -> int:
    """As many rows as 32 MB hold (128 MB on an accelerator), 512 at most."""
    size = BATCH_BYTES_ACCELERATED if accelerated(explicand) else BATCH_BYTES
    return max(1, min(MOST_ROWS, int(size // (prod(explicand.shape) * explicand.itemsize))))


def progress_bar(total: int, shown: bool) -> Any:
    """A bar over `total` queries with an ETA, for what takes over two seconds and only where a person is watching."""
    return tqdm(total=total, unit=" queries", delay=2.0, disable=None if shown else True, leave=False)


class Asker:
    """Asks one model about inputs like `explicand`, at most `budget` rows in all, `batch` at a time."""

    def __init__(self, model: Model, explicand: Array, budget: int, batch: int | None, bar: Any = None) -> None:
        self.model = model
        self.explicand = explicand
        self.budget = budget
        self.batch = default_batch(explicand) if batch is None else batch
        self.asked = 0
        self.answers = Answers(explicand)
        self.bar = progress_bar(budget, False) if bar is None else bar

    def rows(self, queries: Array) -> Array:
        """Answers (m, k) in float64 to queries (m, *shape), in batches."""
        answers = list(self._answers(_cut(iter([queries]), self.batch)))
        return answers[0] if len(answers) == 1 else namespace(answers[0]).concat(answers, axis=0)

    def chunks(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Array]]:
        """Every chunk with its answers (rows, k), in order."""
        waiting: deque[Chunk] = deque()

        def queries() -> Iterator[Array]:
            for chunk in chunks:
                waiting.append(chunk)
                yield chunk.queries()

        answers = _Blocks(self._answers(_cut(queries(), self.batch)))
        while (first := answers.peek()) is not None:
            del first
            yield waiting[0], answers.take(waiting.popleft().rows)

    def _answers(self, batches: Iterator[Array]) -> Iterator[Array]:
        """Checked answers, batch by batch. The next queries are made while an accelerator answers."""
        queries = next(batches, None)
        while queries is not None:
            start = self.asked
            answer = self._asked(queries)
            upcoming = next(batches, None)
            answers = self.answers.checked(answer, start, queries)
            self.bar.update(int(queries.shape[0]))
            yield answers
            queries = upcoming
        self.answers.settle()

    def _asked(self, queries: Array) -> Any:
        count = int(queries.shape[0])
        if self.asked + count > self.budget:
            raise BudgetError(f"{self.asked + count} queries would be asked and the budget is {self.budget}.")
        start, self.asked = self.asked, self.asked + count
        try:
            with gradient_free(queries):
                return self.model(queries)
        except Exception as error:
            raise ModelRaised(self._raised(error, start, queries)) from error

    def _raised(self, error: Exception, start: int, queries: Array) -> str:
        shape = tuple(self.explicand.shape)
        hint = ""
        if len(shape) > 1 and shape[0] == 1:
            hint = (
                f" x has shape {shape}, and the model is asked rows of that shape: if its first axis is a batch, "
                "explain x[0]."
            )
        return (
            f"the model raised {type(error).__name__}: {error}\n(asked queries {start} … {self.asked - 1}, a batch of "
            f"shape {tuple(queries.shape)} and type {queries.dtype}).{hint}"
        )


class _Blocks:
    """A stream of blocks of rows, from which any number of rows is taken in order."""

    def __init__(self, blocks: Iterator[Array]) -> None:
        self.blocks = blocks
        self.left: deque[Array] = deque()

    def peek(self) -> Array | None:
        """The next block, or None at the end."""
        if not self.left:
            self.left.extend(block for block in [next(self.blocks, None)] if block is not None)
        return self.left[0] if self.left else None

    def take(self, count: int) -> Array | None:
        """The next `count` rows as one array; fewer at the end, None after it."""
        parts: list[Array] = []
        while count > 0 and (block := self.peek()) is not None:
            self.left.popleft()
            part = block[:count, ...]
            if part.shape[0] < block.shape[0]:
                self.left.append(block[count:, ...])
            parts.append(part)
            count -= int(part.shape[0])
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)


def _cut(blocks: Iterator[Array], batch: int) -> Iterator[Array]:
    """The rows of a stream of blocks in batches of `batch`, the last one shorter."""
    stream = _Blocks(blocks)
    while (rows := stream.take(batch)) is not None:
        yield rows
