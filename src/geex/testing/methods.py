"""Checks of a method."""

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geex._arrays.arrays import host
from geex._explain.estimate import estimate
from geex._problem.estimand import Estimand, Unit
from geex._protocols import Features, Method
from geex._query.limits import Limits
from geex._results.explanation import Explanation
from geex.errors import MethodError, ModelRaised
from geex.testing import examples
from geex.testing.checking import ERRORS, alike, check_stable, require, run, step

# Another batch size than that of the first run.
OTHER_BATCH = 16
# The relative difference up to which numbers are equal.
CLOSE = 1e-6
MORE_QUERIES = 20  # times the budget, for a linear model: errors are to be small beside the values


@dataclass(frozen=True, eq=False)
class Case:
    """A method and what it is checked on."""

    method: Method
    x: Any
    features: Features | None
    queries: int

    def run(self, model: Any = examples.curved, **settings: Any) -> Explanation:
        """Explain as the case says."""
        plain = {"method": self.method, "features": self.features, "queries": self.queries, "target": 0}
        return run(model, self.x, **{**plain, **settings})


def check_method(
    method: Method, x: Any = None, *, features: Features | None = None, queries: int = 400, bias: float = 0.02
) -> None:
    """Check a method, on a linear and on a curved model of two outputs.

    Parameters
    ----------
    method
        The method, with its settings.
    x
        The input; the baseline is 0. Default: an array (6, 5), one element of which equals the baseline.
    features
        What is a feature. Default: every element.
    queries
        The budget of a run.
    bias
        How far values of a linear model may be from slope · (x − x̊), beside their errors, as a share of the largest.

    Raises
    ------
    CheckFailed
        A check failed. Its `code` is the name of the check: "stable-values", "same-seed", "batch", "threads", "budget",
        "journal", "saving", "region", "several-outputs", "unit" or "missingness".

    Examples
    --------
    >>> import geex
    >>> geex.testing.check_method(geex.Presence())
    """
    require(isinstance(method, Method), "method", method, "must be a geex.Method.")
    case = Case(method, examples.picture() if x is None else x, features, queries)
    check_stable(method)
    with step("same-seed", method):
        found = case.run()
    for check in (_same_seed, _batch, _threads, _budget, _journal, _saving, _region, _several_outputs):
        with step(check.__name__.strip("_").replace("_", "-"), method):
            check(case, found)
    _check_linear(case, found.estimand, bias)


def _same_seed(case: Case, found: Explanation) -> None:
    require(alike(case.run(), found), "same-seed", case.method, "gives other bytes for the same seed.")


def _batch(case: Case, found: Explanation) -> None:
    require(alike(case.run(batch=7), found), "batch", case.method, "gives other bytes in batches of 7.")


def _threads(case: Case, found: Explanation) -> None:
    limits = Limits(concurrency=2, twice=False, compare=False)
    same = alike(case.run(limits=limits, batch=OTHER_BATCH), found)
    require(same, "threads", case.method, "gives other bytes in 2 threads.")


def _budget(case: Case, found: Explanation) -> None:
    counted = examples.Counted(examples.curved)
    used = case.run(counted).queries
    require(
        counted.rows == used <= case.queries,
        "budget",
        case.method,
        f"made {counted.rows} queries, reported {used}; the budget was {case.queries}.",
    )


def _journal(case: Case, found: Explanation) -> None:
    """A run that is cut off continues, and makes the missing queries only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.geex"
        first = examples.Counted(examples.curved, found.queries // 2)
        with suppress(ModelRaised):  # as it has to
            case.run(first, journal=path, batch=OTHER_BATCH)
        second = examples.Counted(examples.curved)
        again = case.run(second, journal=path, batch=OTHER_BATCH)
        require(alike(again, found), "journal", case.method, "gives other bytes when it goes on from a journal.")
        asked = first.rows + second.rows
        message = f"made {asked} queries in two runs, not {found.queries}."
        require(asked == found.queries, "journal", case.method, message)
        require(alike(estimate(path), found), "journal", case.method, "gives other bytes from the journal alone.")


def _saving(case: Case, found: Explanation) -> None:
    with tempfile.TemporaryDirectory() as folder:
        loaded = Explanation.load(found.save(Path(folder) / "found.npz"))
    require(alike(loaded, found), "saving", case.method, "has other bytes when it is loaded.")
    same = (loaded.estimand, loaded.settings) == (found.estimand, found.settings)
    require(same, "saving", case.method, "has other settings or another estimand when it is loaded.")


def _region(case: Case, found: Explanation) -> None:
    """Sums over regions have joint errors, or the method has none at all."""
    values = np.asarray(host(found.values))
    mask = np.arange(values.size).reshape(values.shape) < values.size // 3
    try:
        region = found.region(mask)
    except MethodError as error:
        require(error.code == "no-joint-errors", "region", case.method, f"raised {error}")
        return
    expected, size = values[mask].sum(), np.abs(values).sum()
    close = abs(region.value - expected) <= CLOSE * size
    require(close, "region", case.method, f"sums to {region.value}, not {expected}.")


def _several_outputs(case: Case, found: Explanation) -> None:
    """Values of two outputs are those of each; where answers decide what is asked, both have a part in it."""
    both = case.run(target=[0, 1])
    require(len(both.values) == 2, "several-outputs", case.method, "gives no values for each of two outputs.")
    if found.estimand.adaptive:
        return
    for output, single in enumerate((found, case.run(target=1))):
        own, values = (np.asarray(host(array)) for array in (single.values, both.values[output]))
        close = np.allclose(values, own, rtol=CLOSE, atol=CLOSE * np.abs(own).max())
        require(close, "several-outputs", case.method, f"gives other values of output {output} beside another one.")


def _check_linear(case: Case, estimand: Estimand, bias: float) -> None:
    """Values that add up, in the unit of the score, are slope · (x − x̊) on a linear model."""
    if not estimand.adds_up or estimand.unit is not Unit.SCORE:
        return
    with step("unit", case.method):
        found = case.run(examples.linear, queries=MORE_QUERIES * case.queries)
    x = np.asarray(host(case.x), dtype=np.float64)
    shares = (x.ravel() * examples.slopes(x.size)[:, 0]).reshape(1, *x.shape)
    used = found.features
    assert used is not None
    truth, differs = used.total(shares)[0], used.total(np.abs(x)[None, ...])[0] > 0
    values, errors = (np.nan_to_num(np.asarray(host(array)).ravel()) for array in (found.values, found.stderr))
    allowed = ERRORS * errors + bias * np.abs(truth).max()
    off = np.abs(values - truth)
    worst = int(np.argmax(off - allowed))
    message = f"gives {values[worst]:.4g} for a feature of a linear model that is worth {truth[worst]:.4g}."
    require((off <= allowed)[differs].all(), "unit", case.method, message)
    message = "gives values to features that equal the baseline."
    require((off <= allowed)[~differs].all(), "missingness", case.method, message)
    _check_scale(case, truth, values, errors, bias)


def _check_scale(case: Case, truth: np.ndarray, values: np.ndarray, errors: np.ndarray, bias: float) -> None:
    """All values together are as large as they are in truth, which is a sharper check than each of them."""
    size = float(truth @ truth)
    error = float(np.linalg.norm(errors * truth)) / size
    scale = float(values @ truth) / size
    message = f"gives {scale:.3g} ± {error:.2g} times the values of a linear model."
    require(abs(scale - 1) <= ERRORS * error + bias, "unit", case.method, message)
