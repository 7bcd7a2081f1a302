"""The command line: `geex explain MODEL INPUT` and its neighbours.

Exit codes: 0 done, 1 the run failed, 2 wrong use. An error is a line or two; --debug adds the traceback.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from geex._plain_text import harmless
from geex.cli.errors import message_of, note_of
from geex.models.redaction import scrubbed


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command, print what went wrong, and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # tests and notebooks put other objects in their place
            stream.reconfigure(errors="replace")
    try:
        code = run([word for word in given if word != "--debug"])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _fail("stopped.", 1)
    except BrokenPipeError:  # the reader of the output has gone, as `head` does: no message would arrive
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        if debug:
            print(harmless(scrubbed(traceback.format_exc())), file=sys.stderr)
        code = _fail(*message_of(error))
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code. Errors pass through."""
    try:
        from geex.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "typer":
            raise
        return _fail("The command line needs typer. Run `pip install typer` (the extra `app`).", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _Notes()
        return int(app(arguments, prog_name="geex", standalone_mode=False, obj=arguments) or 0)


class _Notes:
    """Prints each warning once: a model may give the same warning for every batch."""

    def __init__(self) -> None:
        self.printed: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        note = note_of(message)
        if note not in self.printed:
            self.printed.add(note)
            print(harmless(f"geex: note: {scrubbed(note)}"), file=sys.stderr)


def _fail(message: str, code: int) -> int:
    print(harmless(f"geex: {message}"), file=sys.stderr)
    return code
