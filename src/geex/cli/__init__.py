"""The command line: `geex explain MODEL INPUT` and its neighbours.

Exit codes: 0 done, 1 the run failed, 2 wrong use. Errors are a line or two; --debug shows where they come from.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from geex.errors import FileError, GeexError, InputError, MethodError

WRONG_USE = (InputError, MethodError, FileError, FileNotFoundError, IsADirectoryError, PermissionError)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: runs, tells what went wrong, and exits."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = run([word for word in given if word != "--debug"])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _failed("stopped.", 1)
    except BrokenPipeError:  # whoever read our output has gone; nothing is left to say to them
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        if debug:
            traceback.print_exc()
        code = _failed(*_told(error))
    sys.exit(code)


def run(given: list[str]) -> int:
    """Runs one command and gives its exit code; errors pass through."""
    try:
        from geex.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "typer":
            raise
        return _failed("the command line needs typer: pip install 'geex[app]'", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _Notes()
        return int(app(given, prog_name="geex", standalone_mode=False, obj=given) or 0)


class _Notes:
    """Tells each warning once: a model may give the same one for every batch, from wherever it comes."""

    def __init__(self) -> None:
        self.told: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in self.told:
            self.told.add(str(message))
            print(f"geex: note: {message}", file=sys.stderr)


def _told(error: Exception) -> tuple[str, int]:
    """What is said of an error, and its exit code."""
    if hasattr(error, "format_message"):  # typer's own: an unknown option, a missing argument
        context = getattr(error, "ctx", None)
        hint = f"\nTry: {context.command_path} --help" if context is not None else ""
        return f"{error.format_message()}{hint}", 2
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", 2 if isinstance(error, WRONG_USE) else 1
    if isinstance(error, GeexError):
        return str(error), 2 if isinstance(error, WRONG_USE) else 1
    return f"{type(error).__name__}: {error}\nThis was not foreseen; --debug shows where it happened.", 1


def _failed(message: str, code: int) -> int:
    print(f"geex: {message}", file=sys.stderr)
    return code
