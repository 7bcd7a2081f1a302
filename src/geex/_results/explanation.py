"""What a run found: a share for every feature, how sure it is, and what the shares estimate."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from geex._arrays.arrays import Array, host, like, namespace
from geex._arrays.validation import file_path, is_number
from geex._problem.estimand import Estimand
from geex._problem.outputs import checked_labels
from geex._protocols import Features
from geex._results.precision import needed
from geex._results.region import Region, region_row, summed, widest
from geex._results.saved_file import read_file, write_file
from geex._results.settings import Settings
from geex._results.summary import advised, described
from geex._results.target_axis import is_single, numbers, numbers_from_file, with_axis
from geex.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from geex._query.retrying_call import Model
    from geex._results.record import Record

STEADY = 1e-3
ROUNDING = 1e-5
MOST = 1e3


@dataclass(frozen=True, eq=False)
class Explanation:
    """Shares of one decision, in the array library and on the device of the explicand.

    values: a share for every feature, in the shape of the features; a leading axis for several targets.
    stderr: the standard error of each, over independent units (mirrored pairs or orthogonal blocks).
    base_value, output: f(x̊) and f(x); the mean over baselines where there are several.
    gap: f(x) − f(x̊) − Σ values, and gap_stderr the standard error of Σ values. For values that add up, what of the gap
        is more than a few gap_stderr is no noise but the blur of the estimand; where values do not add up, the gap
        means nothing.
    queries: how many were asked.
    freedom: degrees of freedom of the standard errors; infinite where they do not come from a sample.
    estimand: what the values estimate and whether they add up; `str(explanation.estimand)` is that in words.
    settings: what it was made with.
    explicand, features: what was explained, to be shown; None in files of earlier versions.
    baseline: what it was compared with, the mean where there are several; None in files of earlier versions.
    labels, names: of the outputs and of the features, where somebody gave them (see `named`).
    seconds: how long the queries and the estimate took.
    record: plan and answers, from which `geex.estimate` answers other questions with no query; not saved.
    partial: whether the run was stopped before it was through.
    noise: the deviation of one answer of the model, a rough guess from two answers for x; None where it was asked once.
    ended: why a rule (`stop=`) ended the run before the budget did; "" where none did.
    reach: half the width of the 95% interval of the sum over the top tenth of features.
    centre: what intervals are around, where that is not the values: a regression's values with an unbiased residual on
        top, which are noisier and rest on no prior. stderr is theirs.
    """

    values: Array
    stderr: Array
    base_value: Array | float
    output: Array | float
    gap: Array | float
    gap_stderr: Array | float
    target: int | list[int]
    queries: int
    freedom: float
    estimand: Estimand
    settings: Settings
    explicand: Array | None = field(default=None, repr=False)
    features: Features | None = field(default=None, repr=False)
    baseline: Array | None = field(default=None, repr=False)
    labels: list[str] | None = field(default=None, repr=False)
    names: list[str] | None = field(default=None, repr=False)
    seconds: float | None = field(default=None, repr=False)
    record: "Record | None" = field(default=None, repr=False)
    partial: bool = False
    noise: Array | float | None = None
    ended: str = ""
    reach: Array | float | None = None
    centre: Array | None = field(default=None, repr=False)

    def needed(self, tolerance: float = 0.05) -> int | None:
        """About how many queries it takes to know what the top tenth of features carry to ± `tolerance`, as a share of
        f(x) − f(x̊), at 95%. None where that cannot be told."""
        if not is_number(tolerance) or tolerance <= 0:
            raise InputError(f"tolerance is {tolerance!r}; wanted a share of f(x) − f(x̊) such as 0.05.")
        if self.reach is None:
            return None
        share = self.error_share()
        if share == 0 and np.isfinite(self.freedom) and not np.any(host(self.values)):
            return None  # nothing that was asked made a difference: no error is known
        if not np.isfinite(share) or share >= MOST:
            return None
        wanted = needed(self.queries, share, tolerance)
        searches = [] if self.record is None else [plan.search for plan in self.record.plans]
        counts = [search.rows * search.all_draws for search in searches if search.all_draws is not None]
        if not searches or len(counts) < len(searches):
            return wanted
        return min(wanted, 1 + len(searches) + sum(counts))

    def error_share(self) -> float:
        """`reach`, as a share of f(x) − f(x̊)."""
        error, output, base = (numbers(shown) for shown in (self.reach, self.output, self.base_value))
        with np.errstate(over="ignore"):
            return float(np.max(error / np.maximum(np.abs(output - base), np.finfo(float).tiny)))

    def advice(self, tolerance: float = 0.05) -> str:
        """How sure the run is of what matters most, and how many queries it takes to be surer, in a sentence."""
        return advised(self, self.needed(tolerance), tolerance)

    @property
    def unsteady(self) -> bool:
        """Whether the model's own noise is more than rounding: over a thousandth of f(x) − f(x̊)."""
        if self.noise is None:
            return False
        noise, output, base = (numbers(shown) for shown in (self.noise, self.output, self.base_value))
        rounding = ROUNDING * np.maximum(np.abs(output), np.abs(base))
        return bool(np.any((noise > STEADY * np.abs(output - base)) & (noise > rounding)))

    @property
    def targets(self) -> list[int]:
        """The explained outputs as a list, whether `target` is one or several."""
        return [self.target] if isinstance(self.target, int) else self.target

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of the features."""
        return tuple(with_axis(self.values, self.target).shape)[1:]

    @property
    def adds_up(self) -> bool:
        """Whether the values are meant to add up."""
        return self.estimand.adds_up

    def numpy(self) -> "Explanation":
        """The same with NumPy arrays, whatever library and device made it."""
        arrays: dict[str, Any] = {}
        for name in (*_ARRAYS, *_EXTRA, *_NUMBERS):
            value = getattr(self, name)
            arrays[name] = value if value is None or isinstance(value, float) else host(value)
        return replace(self, **arrays, record=None)

    def named(self, labels: Sequence[str] | None = None, names: Sequence[str] | None = None) -> "Explanation":
        """The same with names for the model's outputs (`labels`, one for each) and for the features (`names`)."""
        labels, names = checked_labels(labels), checked_labels(names, "names", "feature")
        size = int(np.prod(self._shape))
        if names is not None and len(names) != size:
            raise InputError(f"names has {len(names)} entries and there are {size} features; wanted one for each.")
        known = max(self.targets) + 1 if self.record is None else int(self.record.ends.shape[1])
        if labels is not None and len(labels) < known:
            raise InputError(
                f"labels has {len(labels)} entries and the model has {known} outputs or more; wanted one for each."
            )
        return replace(
            self,
            labels=self.labels if labels is None else labels,
            names=self.names if names is None else names,
        )

    def plot(
        self,
        kind: "str | Callable[[Explanation], Figure] | None" = None,
        *,
        image: Any = None,
        percentile: float = 99.5,
        opacity: float = 0.85,
        top: float = 0.1,
        level: float = 0.95,
    ) -> "Figure":
        """A picture, as a matplotlib Figure; save it with .savefig(path). It needs no display.

        kind: "signed" (what spoke for and against, over the input), "positive", "top" (the strongest share `top` of
            the pixels), "sure" (pixels whose interval at `level` includes zero are grey), "outputs" (the five largest
            outputs side by side), "bars", "convergence" (values and gap as queries came in). None: "signed" for
            images, "bars" for features that have no place in one. A function of yours is called with the explanation.
        image: what to show underneath, (h, w) or (h, w, 3): the input before its preprocessing. None: x.
        percentile: of the absolute values, from which on colours are full.
        opacity: of full colours.
        """
        from geex.plot import figure

        return figure(self, kind, image, percentile, opacity, top, level)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        image: Any = None,
        model: "Model | None" = None,
        curves: Sequence[Any] = (),
        title: str | None = None,
        call: str | None = None,
        input_name: str | None = None,
        model_name: str | None = None,
    ) -> Path:
        """Write one HTML file that opens in any browser, without a network.

        image: what to show, (h, w) or (h, w, 3): the input before its preprocessing. None: x.
        model: is queried some fifty times for the deletion curve. curves: of `geex.evaluate`, to be drawn too.
        title: the page's title. call: the line that reproduces it; None: the call of geex.explain.
        input_name, model_name: what the page calls the input and the model. None: no name.
        """
        from geex.report import Extras, write

        if Path(path).suffix.lower() not in ("", ".htm", ".html"):
            raise InputError(f"`path` must end in .html; got {str(path)!r}.")
        return write(self, Path(path), Extras(image, model, curves, title, call, input_name, model_name))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper ends of an interval for every value, by Student's t with `freedom` degrees."""
        _check_level(level)
        reach = float(stdtrit(self.freedom, 0.5 + level / 2)) * self.stderr
        centre = self.values if self.centre is None else self.centre
        return centre - reach, centre + reach

    def region(self, mask: Any, level: float = 0.95) -> Region:
        """What the features in `mask` contribute together, with a joint interval: errors of neighbours are not
        independent, so their own intervals cannot be added up.

        mask: True or False for every feature, or the names of some.

        An explanation that was loaded or converted has no answers left. Its interval is the widest that a joint one
        can be (`joint` is False); the joint one is in `geex.estimate(journal).region(mask)`, if the run had a journal.
        """
        _check_level(level)
        row = region_row(mask, self._shape, self.names)
        if self.record is not None:
            found = self.record.regions(like(row, self.record.task.explicand))
        else:
            arrays = (self.values, self.values if self.centre is None else self.centre, self.stderr)
            found = widest(row, *(with_axis(array, self.target) for array in arrays))
        width = float(stdtrit(self.freedom, 0.5 + level / 2))
        change = numbers(self.output) - numbers(self.base_value)
        change = change if self.adds_up else np.nan * change
        return summed(found, width, change, is_single(self.target), self.record is not None)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes all but the record to `path`, an .npz file with no pickle in it."""
        plain = self.numpy()
        facts = {name: getattr(plain, name) for name in (*_FACTS, *_OPTIONAL)}
        for name in _NUMBERS:
            number = getattr(plain, name)
            facts[name] = None if number is None else np.asarray(number).tolist()
        arrays: dict[str, Any] = {name: np.asarray(getattr(plain, name)) for name in _ARRAYS}
        arrays |= {name: getattr(plain, name) for name in _EXTRA if getattr(plain, name) is not None}
        return write_file(Path(path), facts, arrays, self.features)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Explanation":
        """Reads what `save` wrote; the arrays are NumPy's."""
        facts, arrays, features = read_file(file_path("path", path, FileError), (*_FACTS, *_ARRAYS))
        single = is_single(facts["target"])
        fields: dict[str, Any] = {name: np.asarray(arrays[name], np.float64) for name in _OF_FEATURES}
        fields |= {name: numbers_from_file(arrays[name], single) for name in _ENDS}
        fields |= {name: facts[name] for name in (*_FACTS, *_OPTIONAL) if name in facts}
        fields |= {name: numbers_from_file(facts[name], single) for name in _NUMBERS if facts.get(name) is not None}
        fields |= {name: arrays[name] for name in _EXTRA if name in arrays}
        return cls(**fields, features=features)

    def __repr__(self) -> str:
        return described(self)

    def _repr_html_(self) -> str:
        """Return the same for notebooks, with bars, and with the picture of an image."""
        from geex.report import shown

        return shown(self)


def _check_level(level: Any) -> None:
    if not is_number(level) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; wanted a probability such as 0.95.")


_OPTIONAL = ("labels", "names", "seconds", "partial", "ended")
_FACTS = ("target", "queries", "freedom", "estimand", "settings")
_EXTRA = ("explicand", "baseline", "centre")
_NUMBERS = ("noise", "reach")
_OF_FEATURES = ("values", "stderr")
_ENDS = ("base_value", "output", "gap", "gap_stderr")
_ARRAYS = (*_OF_FEATURES, *_ENDS)


def completed(values: Array, base_value: Array, output: Array) -> Array:
    """The gap f(x) − f(x̊) − Σ values, for every target (k,)."""
    xp = namespace(values)
    return output - base_value - xp.sum(xp.reshape(values, (values.shape[0], -1)), axis=1)
