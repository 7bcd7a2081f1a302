"""Errors in the words of the command line: a flag in place of an argument of Python.

An error is found by its `code`. Its problem stays as it is, with flags in place of arguments; its fix is replaced.
"""

import re
from dataclasses import dataclass

from geex.errors import FileError, GeexError, InputError, MethodError, PartialRun
from geex.models.redaction import scrubbed

# Errors that the user of a command can mend: exit code 2.
WRONG_USE = (InputError, MethodError, FileError, FileNotFoundError, IsADirectoryError, PermissionError)


@dataclass(frozen=True)
class Message:
    """What the command line prints: a fix, and a problem if the error's own names an argument of Python."""

    fix: str = ""
    problem: str = ""


# The fix for models that the command line cannot call as they are.
WRAP = "Wrap the model in a Python function and pass it as module:function."
# What the command line calls the arguments of Python, which stand between backticks in a message.
FLAGS = {
    "x": "INPUT",
    **{name: f"--{name}" for name in ("target", "labels", "baseline", "score", "features", "queries", "seed", "batch")},
    **{name: f"--{name}" for name in ("journal", "price", "method", "stop", "protocol", "request", "response")},
    "path": "--output",
}
# What is printed for an error, by its code.
MESSAGES = {
    "answer-not-a-tensor": Message(WRAP),
    "answer-not-finite": Message(WRAP),
    "answer-not-listed-scores": Message(WRAP),
    "answer-not-probabilities": Message("Use --score answer for other numbers, or --score softmax for logits."),
    "channel-axis-unclear": Message("Use --features pixels, or --order to name the axes."),
    "features-without-neighbours": Message("Use --method shapley; for an image --features pixels."),
    "graph-input-missing": Message(f"The command line passes one input. {WRAP}"),
    "graph-input-not-chosen": Message(f"Name it with --input-name. If the others need values: {WRAP}"),
    "graph-output-not-chosen": Message("Name it with --output-name."),
    "journal-other-model": Message("Use another --journal for it; geex show prints the stored answers."),
    # geex show runs no code that a file names
    "journal-unknown-name": Message(
        "Use geex resume FILE, which imports the classes that its command names.",
        problem="The journal was written with a class of your own, which geex show does not import.",
    ),
    "journal-unstable-values": Message(
        "Make it a frozen dataclass of numbers, texts, arrays or such dataclasses; or leave out --journal.",
        problem="A class of your own in --method or --stop cannot be stored in a journal.",
    ),
    "of-regresses": Message("Use it as --method."),
    "per-channel-length": Message(problem="--baseline r,g,b needs one number for each channel of INPUT."),
    "presence-not-binary": Message("Use a method that shows and hides features, such as --method shapley."),
    "row-shape": Message("Use --size, --order or --grey, or save another array."),
    "row-shape-batch-axis": Message("The first axis is a batch: save a single input."),
    "row-shape-channel-axis": Message("The channel axis is missing: save the array as x[None]."),
    "score-not-above-zero": Message("Use another --target, or --score softmax for logits."),
    "score-needs-outputs": Message("Use --score answer."),
    "score-not-stored": Message("Name a score with --score."),
    "service-output-not-chosen": Message("Name it with --output-name."),
    "service-unauthorised": Message("Pass a token with --header 'Authorization: env:VARIABLE'."),
    "several-targets": Message(WRAP),
    "target-without-labels": Message("Pass a file of names with --labels, or the number of the output."),
    "template-for-v2": Message(problem="--request and --response need --protocol json."),
    "template-without-rows": Message(
        problem='--request must contain "{rows}" for all rows of a call, or "{row}" for a single row, and not both.'
    ),
    "x-in-a-batch-of-one": Message("Save a single input, or use --features elements if inputs have this shape."),
    "url-not-a-model": Message(
        "Pass the address of the model, …/v2/models/NAME, or --request for a service with JSON of its own."
    ),
    "url-not-an-address": Message(problem="MODEL must be a complete address, such as https://host/v2/models/NAME."),
}


# Warnings whose message names an argument of Python.
WARNING_TEXTS: dict[type, str] = {PartialRun: "The run was stopped. The result rests on the answers so far."}


def note_of(warning: Warning | str) -> str:
    """Return what to print for a warning."""
    return WARNING_TEXTS.get(type(warning), str(warning))


def message_of(error: Exception) -> tuple[str, int]:
    """Return what to print for an error, and the exit code."""
    if hasattr(error, "format_message"):  # an error of typer: an unknown option, a missing argument
        context = getattr(error, "ctx", None)
        hint = f"\nTry: {context.command_path} --help" if context is not None else ""
        return f"{error.format_message()}{hint}", 2
    code = 2 if isinstance(error, WRONG_USE) else 1
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", code
    if isinstance(error, GeexError):
        return "\n".join([_text(error), *getattr(error, "__notes__", ())]), code
    return f"{type(error).__name__}: {scrubbed(str(error))}\nUnexpected error. Run with --debug for the traceback.", 1


def _text(error: GeexError) -> str:
    """The message of an error, or of the cause that has an entry in the table."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, GeexError) and cause.code in MESSAGES:
            message = MESSAGES[cause.code]
            return _with_flags(f"{message.problem or cause.problem} {message.fix}".strip())
        cause = cause.__cause__
    return _with_flags(str(error))


def _with_flags(text: str) -> str:
    return re.sub(r"`(\w+)`", lambda found: FLAGS.get(found[1], found[0]), text)
