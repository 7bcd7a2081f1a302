"""The width of answers: that of the first one, unless the next two agree on another."""

from geex.errors import AnswerError

# The code of the error for a first answer that had the wrong width.
CODE = "first-answer-width"


class Widths:
    """The shape of one row in the answers so far."""

    def __init__(self) -> None:
        self.width: tuple[int, ...] | None = None
        self.agreeing = 0  # answers of this width
        self.other: tuple[int, ...] | None = None  # the width of the last answer, if it differs

    @property
    def found(self) -> bool:
        """Whether there was a usable answer."""
        return self.width is not None

    def check(self, width: tuple[int, ...]) -> None:
        """Raise AnswerError for a width that differs from earlier ones; its code is CODE if the first one was wrong."""
        if self.width in (None, width):
            self.width, self.other = width, None
            self.agreeing += 1
            return
        first_was_wrong = self.other == width and self.agreeing == 1
        error = AnswerError(
            f"Every answer must have rows of one shape; this one has rows of shape {width} and earlier ones "
            f"{self.width}.",
            code=CODE if first_was_wrong else "answer-width-changed",
        )
        self.other = width
        if first_was_wrong:
            self.width, self.agreeing = width, 2
        raise error
