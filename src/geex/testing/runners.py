"""Checks of a runner."""

import tempfile
from pathlib import Path

from geex._protocols import Runner
from geex.errors import ModelRaised
from geex.methods.gradient import GEEX
from geex.methods.rise import RISE
from geex.methods.shapley import Shapley
from geex.testing import examples
from geex.testing.checking import alike, require, run, step


def check_runner(runner: Runner) -> None:
    """Check that a run has the same bytes on a runner as it has without one.

    Parameters
    ----------
    runner
        The runner. It is opened and closed several times. Its workers must be able to import geex.

    Raises
    ------
    CheckFailed
        A check failed. Its `code` is the name of the check: "same-bytes", "journal", "errors" or "reopens".

    Examples
    --------
    >>> import geex
    >>> geex.testing.check_runner(geex.run.processes(2))
    """
    require(isinstance(runner, Runner), "runner", runner, "must be a geex.Runner.")
    x = examples.picture()
    for method in (GEEX(0.5), RISE(cells=3), Shapley()):
        with step("same-bytes", runner):
            plain, found = (run(examples.curved, x, method=method, queries=600, run=one) for one in (None, runner))
            require(alike(plain, found), "same-bytes", runner, f"gives other bytes for {method}.")
    with step("journal", runner), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.geex"
        found = run(examples.curved, x, method=GEEX(0.5), queries=600, run=runner, journal=path)
        counted = examples.Counted(examples.curved)
        again = run(counted, x, method=GEEX(0.5), queries=600, journal=path)
        require(alike(found, again) and not counted.rows, "journal", runner, "leaves a journal that lacks answers.")
    _check_errors(runner)
    with step("reopens", runner):
        run(examples.curved, x, method=GEEX(0.5), queries=100, run=runner)


def _check_errors(runner: Runner) -> None:
    """An error of the model ends the run and says what it was."""
    with step("errors", runner):
        try:
            run(examples.broken, examples.picture(), method=GEEX(0.5), queries=100, run=runner)
        except ModelRaised as error:
            require("broken on purpose" in str(error), "errors", runner, f"lost the text of an error: {error}")
            return
        require(False, "errors", runner, "lost an error of the model.")
