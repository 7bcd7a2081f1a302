"""The width of answers: that of the first one, unless the next two agree on another."""

from geex.errors import AnswerError

Width = tuple[int, ...]


class FirstAnswerWrong(AnswerError):
    """The first answer had another width than the next two, which agree. columns: the columns of these."""

    columns = 0


class Widths:
    """The shape of one row in the answers so far."""

    def __init__(self) -> None:
        self.width: Width | None = None
        self.agreeing = 0  # answers of this width
        self.other: Width | None = None  # the width of the last answer, if it differs

    @property
    def found(self) -> bool:
        """Whether there was a usable answer."""
        return self.width is not None

    def check(self, width: Width) -> None:
        """Raise AnswerError for a width that differs from earlier ones; FirstAnswerWrong if the first one was wrong."""
        if self.width in (None, width):
            self.width, self.other = width, None
            self.agreeing += 1
            return
        assert self.width is not None
        if self.other == width and self.agreeing == 1:
            raise _first_wrong(self.width, width)
        self.other = width
        raise AnswerError(
            f"Every answer must have rows of one shape; this one has rows of shape {width} and earlier ones "
            f"{self.width}.",
            code="answer-width-changed",
        )


def _first_wrong(first: Width, width: Width) -> FirstAnswerWrong:
    error = FirstAnswerWrong(
        f"The model's first answer had rows of shape {first}, and the next two have rows of shape {width}: the first "
        "one was wrong. It is not kept. Make the same call again.",
        code="first-answer-width",
    )
    error.columns = width[0] if width else 1
    return error
