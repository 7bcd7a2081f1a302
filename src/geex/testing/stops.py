"""Checks of a rule that ends a run."""

import tempfile
from pathlib import Path
from typing import Any

from geex._protocols import Stop
from geex.methods.gradient import GEEX
from geex.testing import examples
from geex.testing.checking import alike, check_stable, require, run, step


def check_stop(stop: Stop) -> None:
    """Check that a rule can end a run, and that the run goes on from a journal to the same end.

    Parameters
    ----------
    stop
        The rule, with its settings.

    Raises
    ------
    CheckFailed
        A check failed. Its `code` is the name of the check: "stable-values", "met" or "journal".

    Examples
    --------
    >>> import geex
    >>> geex.testing.check_stop(geex.Precise(0.1))
    """
    require(isinstance(stop, Stop), "stop", stop, "must be a geex.Stop.")
    check_stable(stop)
    settings: dict[str, Any] = {"method": GEEX(0.5), "queries": 3000, "stop": stop}
    with step("met", stop):
        found = run(examples.linear, examples.picture(), **settings)
    require(isinstance(found.ended, str), "met", stop, "must return why it is enough, in words, or None.")
    early = found.queries < 2900
    require(not early or found.ended, "met", stop, "ended the run and gave no reason.")
    with step("journal", stop), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.geex"
        first = run(examples.linear, examples.picture(), journal=path, **settings)
        counted = examples.Counted(examples.linear)
        again = run(counted, examples.picture(), journal=path, **settings)
        same = alike(first, again) and alike(first, found) and not counted.rows
        require(same, "journal", stop, "ends elsewhere when it goes on from a journal.")
