"""What may come of an attempt: a right result, or an error of geex. Anything else is counted as wrong or hung."""

import io
import os
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from geex import cli
from geex.errors import GeexError

# Seconds after which an attempt counts as hung.
PATIENCE = 60
# Examples of what went wrong that are kept.
KEPT = 20
# Texts that the command line never prints: a foreign error, and sequences that a terminal obeys.
NEVER = ("Unexpected error.", "Traceback", "\x1b", "\x07")


class Hung(BaseException):
    """An attempt did not end. No code of geex catches it."""


@dataclass
class Outcomes:
    """How many attempts ended in which way, and examples of those that went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def attempt(self, name: str, work: Callable[[], str]) -> None:
        """Count the outcome of `work`: "right", "wrong: …", or an error."""
        previous = signal.signal(signal.SIGALRM, _hang)
        signal.alarm(PATIENCE)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome = work()
        except GeexError:
            outcome = "refused"
        except Hung:
            outcome = "hung"
        except Exception as error:
            outcome = f"wrong: {type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
        kind = outcome.partition(":")[0]
        self.counts[kind] += 1
        if kind in ("wrong", "hung") and len(self.examples) < KEPT:
            self.examples.append(f"{name}: {outcome}"[:500])

    def figures(self) -> dict[str, Any]:
        """Return the counts as JSON holds them."""
        kinds = ("right", "refused", "wrong", "hung")
        return {
            "attempts": self.counts.total(),
            **{kind: self.counts[kind] for kind in kinds},
            **({"examples": self.examples} if self.examples else {}),
        }


def command(words: list[Any]) -> tuple[int, str, str]:
    """Run a command line in this process. Return its exit code and what it printed."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    folder = os.getcwd()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            cli.main([str(word) for word in words])
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os.chdir(folder)  # geex resume enters the folder of its command
    out.flush()
    return code, out.buffer.getvalue().decode("utf-8", "replace"), err.getvalue()


def outcome_of(code: int, out: str, err: str) -> str:
    """Return the outcome of a command line."""
    found = [text for text in NEVER if text in out + err]
    if found or code not in (0, 1, 2):
        return f"wrong: exit code {code}, {found}, {err[-300:]}"
    return "right" if code == 0 else "refused"


def _hang(*_: Any) -> None:
    raise Hung
