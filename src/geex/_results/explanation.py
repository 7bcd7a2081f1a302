"""What a run found: a share for every feature, how sure it is, and what the shares estimate."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geex._arrays.arrays import Array, dtype_of, host, like, namespace
from geex._arrays.validation import file_path, is_number, truth, whole
from geex._arrays.validation import shown as shown_value
from geex._estimate.shapley.pairs import HasInteractions
from geex._problem.estimand import Estimand
from geex._problem.features import neighbouring
from geex._problem.outputs import checked_labels
from geex._problem.table.cells import Cells
from geex._protocols import Features
from geex._results.conversions import as_frame, as_shap
from geex._results.end_answers import REPEATED, STEADY
from geex._results.loaded_checks import check_loaded
from geex._results.precision import needed
from geex._results.region import Region, region_row, summed, widest
from geex._results.saved_file import read_file, readable, write_file
from geex._results.settings import Settings
from geex._results.significance.findings import Findings, TopFeatures, check_level, inside, quantile, resolution
from geex._results.significance.nothing_found import nothing_found
from geex._results.summary import advised, described
from geex._results.target_axis import is_single, numbers, numbers_from_file, with_axis
from geex.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from geex._query.retrying_call import Model
    from geex._results.record import Record

# From this multiple of f(x) − f(x̊) on, an error leads to no advice.
MOST_ERROR_SHARE = 1e3


@dataclass(frozen=True, eq=False)
class Explanation(HasInteractions):
    """Values of the features of one decision, with standard errors, in the array library and on the device of x.

    `explain`, `estimate` and `load` make explanations. `print(explanation)` shows a summary.

    Attributes
    ----------
    values : array, (*features) or (targets, *features)
        A value for each feature.
    stderr : array, like values
        The standard error of each value, over independent units: mirrored pairs, or orthogonal blocks.
    base_value, output : float or array, (targets,)
        f(x̊) and f(x); the mean over baselines if there are several.
    gap, gap_stderr : float or array, (targets,)
        f(x) − f(x̊) − Σ values, and the standard error of Σ values. If values add up for the blurred model, a gap of
        many standard errors is the difference between the models. If values do not add up, the gap has no meaning.
    target : int or list of int
        The explained output or outputs.
    queries : int
        The number of queries.
    freedom : float
        Degrees of freedom of the standard errors; infinite if they do not come from a sample.
    estimand : Estimand
        What the values estimate, and whether they add up. `str(explanation.estimand)` states it in words.
    settings : Settings
        The settings of the run.
    explicand, baseline : array or None
        x and the baseline; the mean if there are several baselines.
    features : Features or None
        The features.
    labels, names : list of str or None
        Names of the outputs and of the features.
    seconds : float or None
        The duration of the run and of the estimate.
    record : Record or None
        The plan and the answers, from which `geex.estimate` makes other explanations. `save` does not store it.
    partial : bool
        Whether the run was interrupted.
    noise : float or array, (targets,), or None
        The standard deviation of one answer for x, from all answers for x. None: x was queried once.
    noise_stderr : array, like values, or None
        The part of `stderr` that is the model's noise. The rest, in squares, is due to the sample of queries:
        stderr² = noise_stderr² + sampling². None: the model answers the same each time, or the part is not known.
    end_queries : tuple of int
        How often x and each baseline were queried. `output` and `base_value` are means if the model has noise.
    ended : str
        Why a stop rule ended the run; "" if none did.
    reach : float or array, (targets,), or None
        Half the width of the 95% interval of the sum over the top tenth of features.
    centre : array, like values, or None
        The centre of the intervals, if it differs from the values. For a regression these are unbiased values, which do
        not depend on the prior and have more noise. `stderr` belongs to them.
    cells : Cells or None
        The cells of a row with words, categories or missing values, for which `explicand` has codes: `names`, `values`,
        and `absent`, the cells of the baseline.
    sent : int or None
        The number of rows that the run sent to the model, those of failed calls included. Answers that the journal held
        were not sent. None: not known.
    failed : int
        The number of calls of the model that failed in the run.

    Examples
    --------
    >>> import numpy as np
    >>> import geex
    >>> explanation = geex.explain(lambda z: z @ [1.0, 2.0], np.ones(2), progress=False)
    >>> explanation.output, explanation.base_value, explanation.adds_up
    (3.0, 0.0, True)
    >>> explanation.region([True, True]).value
    3.0
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
    noise_stderr: Array | None = field(default=None, repr=False)
    end_queries: tuple[int, ...] = ()
    ended: str = ""
    reach: Array | float | None = None
    centre: Array | None = field(default=None, repr=False)
    cells: Cells | None = field(default=None, repr=False)
    sent: int | None = None
    failed: int = 0

    def needed(self, tolerance: float = 0.05) -> int | None:
        """Return about how many queries give the sum over the top tenth of features to ± `tolerance`, at 95%.

        Parameters
        ----------
        tolerance
            Half the width of the interval, as a share of f(x) − f(x̊).

        Returns
        -------
        int or None
            The number of queries. None: it cannot be estimated.

        Raises
        ------
        InputError
            `tolerance` is not a positive number.
        """
        if not is_number(tolerance) or tolerance <= 0:
            raise InputError(
                f"`tolerance` must be a positive share of f(x) − f(x̊), such as 0.05; got {shown_value(tolerance)}.",
                code="tolerance-not-positive",
            )
        if self.reach is None:
            return None
        share = self.error_share()
        if share == 0 and np.isfinite(self.freedom) and not np.any(host(self.values)):
            return None  # nothing that was asked made a difference: no error is known
        if not np.isfinite(share) or share >= MOST_ERROR_SHARE:
            return None
        wanted = needed(self.queries, share, tolerance)
        searches = [] if self.record is None else [plan.search for plan in self.record.plans]
        counts = [search.rows * search.all_draws for search in searches if search.all_draws is not None]
        if not searches or len(counts) < len(searches):
            return wanted
        return min(wanted, 1 + len(searches) + sum(counts))

    def error_share(self) -> float:
        """Return `reach` as a share of f(x) − f(x̊); the largest over targets."""
        error, output, base = (numbers(shown) for shown in (self.reach, self.output, self.base_value))
        with np.errstate(over="ignore"):
            return float(np.max(error / np.maximum(np.abs(output - base), np.finfo(float).tiny)))

    def advice(self, tolerance: float = 0.05) -> str:
        """Return in a sentence how precise the top tenth of features is, and how many queries ± `tolerance` needs."""
        return advised(self, self.needed(tolerance), tolerance)

    @property
    def unsteady(self) -> bool:
        """Whether the model's own noise is larger than rounding, and than a hundred-thousandth of f(x) − f(x̊)."""
        if self.noise is None:
            return False
        if self.noise_stderr is not None:
            return True
        noise, output, base = (numbers(shown) for shown in (self.noise, self.output, self.base_value))
        rounding = REPEATED * np.maximum(np.abs(output), np.abs(base))
        return bool(np.any((noise > STEADY * np.abs(output - base)) & (noise > rounding)))

    @property
    def targets(self) -> list[int]:
        """The explained outputs as a list."""
        return [self.target] if isinstance(self.target, int) else self.target

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of the features."""
        return tuple(with_axis(self.values, self.target).shape)[1:]

    @property
    def adds_up(self) -> bool:
        """Whether the values add up to f(x) − f(x̊), exactly, within error, or for the blurred model."""
        return self.estimand.adds_up

    def numpy(self) -> "Explanation":
        """Return the same explanation with NumPy arrays and without the record."""
        arrays: dict[str, Any] = {}
        for name in (*_ARRAYS, *_EXTRA, *_NUMBERS):
            value = getattr(self, name)
            arrays[name] = value if value is None or isinstance(value, float) else host(value)
        return replace(self, **arrays, record=None)

    def named(self, labels: Sequence[str] | None = None, names: Sequence[str] | None = None) -> "Explanation":
        """Return the same explanation with names.

        Parameters
        ----------
        labels
            Names of the outputs, one for each. None: as they are.
        names
            Names of the features, one for each. None: as they are.

        Raises
        ------
        InputError
            The number of names is wrong.
        """
        labels, names = checked_labels(labels), checked_labels(names, "names", "feature")
        size = int(np.prod(self._shape))
        if names is not None and len(names) != size:
            raise InputError(
                f"`names` must have one entry for each of the {size} features; got {len(names)}.", code="names-count"
            )
        known = max(self.targets) + 1 if self.record is None else int(self.record.ends.shape[1])
        if labels is not None and len(labels) < known:
            raise InputError(
                f"`labels` must have one entry for each output of the model, {known} or more; got {len(labels)}.",
                code="labels-count",
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
        """Draw the explanation as a matplotlib Figure, which needs no display. Save it with `.savefig(path)`.

        Parameters
        ----------
        kind
            "signed" (for and against, over the input), "positive", "top" (the strongest share `top` of the pixels),
            "sure" (pixels that may be noise are grey), "outputs" (the same, for the five largest outputs side by side),
            "bars", "convergence" (values and gap against queries), or a function of yours from an Explanation to a
            figure. None: "sure" for images, "bars" for features without a place in an image.
        image
            What is shown under the values, (h, w) or (h, w, 3): the input before its preprocessing. None: x.
        percentile
            The percentile of absolute values from which on colours are full.
        opacity
            The opacity of full colours.
        top
            The share of pixels that "top" shows.
        level
            The level of the intervals. What may be noise has a family-wise error of 1 − `level`.

        Raises
        ------
        InputError
            A setting is wrong, or the explanation has no such picture.
        MissingPackage
            matplotlib is not installed.
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
        """Write a report: one HTML file that opens in any browser, without a network.

        Parameters
        ----------
        path
            The file, which ends in .html.
        image
            What is shown, (h, w) or (h, w, 3): the input before its preprocessing. None: x.
        model
            The model, to add a deletion curve for about 50 more queries. None: no curve.
        curves
            Curves of `geex.evaluate` to add.
        title
            The title of the page.
        call
            The command that made the explanation. None: the call of `geex.explain`.
        input_name, model_name
            What the page calls the input and the model.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        InputError
            `path` does not end in .html, or another argument cannot be used.
        """
        from geex.report import Extras, write

        if Path(path).suffix.lower() not in ("", ".htm", ".html"):
            raise InputError(f"`path` must end in .html; got {str(path)!r}.", code="path-not-html")
        return write(self, Path(path), Extras(image, model, curves, title, call, input_name, model_name))

    def to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame with a row for each feature.

        Parameters
        ----------
        level
            The level of the intervals, a probability.

        Returns
        -------
        pandas.DataFrame
            The columns `feature`, `value`, `stderr`, `low`, `high`, and `data` and `baseline`, what x and the baseline
            have there. With several targets, a first column `output`, and a row for each output and feature. Features
            that are groups of elements have no `data` and `baseline`.

        Raises
        ------
        InputError
            `level` is not a probability.
        MissingPackage
            pandas is not installed.
        """
        return as_frame(self, level)

    def to_shap(self, level: float = 0.95) -> Any:
        """Return a shap.Explanation of this input, for shap's plots.

        Parameters
        ----------
        level
            The level of the intervals, a probability.

        Returns
        -------
        shap.Explanation
            `values`, (*features) or (*features, targets), `base_values`, `data`, the names of features and outputs,
            `error_std`, and the ends of the intervals as `lower_bounds` and `upper_bounds`.

        Raises
        ------
        InputError
            `level` is not a probability.
        MissingPackage
            shap is not installed.
        """
        return as_shap(self, level)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> tuple[Array, Array]:
        """Return the lower and upper ends of an interval for each value, from Student's t with `freedom` degrees.

        Parameters
        ----------
        level
            The level of the intervals, a probability.
        simultaneous
            False: each interval contains its value with probability `level`. True: all intervals of an output do so
            together (Bonferroni).

        Returns
        -------
        low, high : array, like values
            The ends, around `centre`.

        Raises
        ------
        InputError
            `level` is not a probability, or `simultaneous` is not True or False.
        """
        level = check_level(level)
        if truth("simultaneous", simultaneous, InputError):
            widths = self.findings.simultaneous(level)
            shape = (-1, *(1 for _ in self._shape))
            reach = like(widths.reshape(shape) if not is_single(self.target) else widths[0], self.stderr) * self.stderr
        else:
            reach = quantile(level, self.freedom) * self.stderr
        centre = self._around
        return centre - reach, centre + reach

    def values_in_interval(self, level: float = 0.95, simultaneous: bool = False) -> Array:
        """Return the values, each moved to the nearest end of its interval if it lies outside.

        Intervals lie around `centre`, so a smoothed value may lie outside its own interval. What is printed or drawn
        beside an interval is this. It is at least as close to the true value as the value is, if the interval contains
        the true value.

        Parameters
        ----------
        level, simultaneous
            Which intervals, as in `interval`. Lists and pictures use simultaneous ones.

        Returns
        -------
        array, like values
            The values. They need not sum to the sum of `values`.

        Raises
        ------
        InputError
            `level` is not a probability.
        """
        low, high = (host(end) for end in self.interval(level, simultaneous))
        return like(inside(host(self.values), low, high), self.values)

    def significant(self, level: float = 0.95) -> Array:
        """Return which features differ from 0; the probability of one or more mistakes is at most 1 − `level`.

        Parameters
        ----------
        level
            The probability that all features of an output that are named differ from 0.

        Returns
        -------
        array of bool, like values
            True: the value is not 0. False: it may be noise, or no error is known.

        Raises
        ------
        InputError
            `level` is not a probability.

        Notes
        -----
        Holm's method on two-sided p-values of |centre| / stderr, from Student's t with `freedom` degrees. The features
        of one output are one family. Features without an error, such as those that equal the baseline, are not counted.
        The control holds for any dependence between errors, as far as the standard errors are right.

        References
        ----------
        Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, 1979.

        Examples
        --------
        >>> import numpy as np
        >>> import geex
        >>> found = geex.explain(lambda z: z[:, 0] + 2 * z[:, 1], np.ones(3), progress=False)
        >>> found.significant().tolist()
        [True, True, False]
        """
        return self._as_found(self.findings.signs(check_level(level)) != 0, "bool")

    def signs(self, level: float = 0.95) -> Array:
        """Return the signs of the features that differ from 0; with probability `level`, all of them are right.

        Parameters
        ----------
        level
            The probability that all signs of an output are right.

        Returns
        -------
        array of int, like values
            1 above 0, −1 below 0, 0 undecided. `significant` returns where it is not 0.

        Raises
        ------
        InputError
            `level` is not a probability.
        """
        return self._as_found(self.findings.signs(check_level(level)), "int8")

    @property
    def nothing_found(self) -> str:
        """What to do where no feature of any output differs from 0 at 95%, in a sentence; "" where one does."""
        size = int(np.prod(self._shape))
        return nothing_found(self, size) if bool(self.findings.quiet.all()) else ""

    def top(self, k: int, level: float = 0.95) -> TopFeatures:
        """Return which features are among the `k` largest in absolute value, which are not, and which are undecided.

        Parameters
        ----------
        k
            The number of largest features.
        level
            The probability that all statements about an output are true, signs included.

        Returns
        -------
        TopFeatures
            `inside`, `outside` and `undecided`, each True or False for every feature, and `signs`.

        Raises
        ------
        InputError
            `k` is not a whole number above 0, or `level` is not a probability.

        Notes
        -----
        Made of the simultaneous intervals of the absolute values. A feature is inside if fewer than k others may be as
        large, and outside if at least k others must be larger. Features of equal size stay undecided at the border.

        Examples
        --------
        >>> import numpy as np
        >>> import geex
        >>> found = geex.explain(lambda z: z @ [3.0, 1.0, -2.0], np.ones(3), progress=False).top(2)
        >>> found.inside.tolist(), found.signs.tolist()
        ([True, False, True], [1, 1, -1])
        """
        k, level = whole("k", k, 1, InputError), check_level(level)
        within, outside, signs = self.findings.top(k, level)
        found = [self._as_found(one, "bool") for one in (within, outside, ~within & ~outside)]
        return TopFeatures(k, level, found[0], found[1], found[2], self._as_found(signs, "int8"), self.names)

    @property
    def _around(self) -> Array:
        """What intervals are around."""
        return self.values if self.centre is None else self.centre

    @property
    def findings(self) -> Findings:
        """Centres and standard errors of all outputs, as (targets, features) in NumPy."""
        rows = (host(with_axis(array, self.target)).astype(np.float64) for array in (self._around, self.stderr))
        centre, stderr = (array.reshape(len(self.targets), -1) for array in rows)
        smallest = resolution(numbers(self.output), numbers(self.base_value), self.explicand)
        return Findings(centre, stderr, self.freedom, smallest, self._has_neighbours)

    @property
    def _has_neighbours(self) -> bool:
        """Whether features have neighbours, as pixels do."""
        if self.features is None or self.explicand is None:
            return False
        return len(neighbouring(self.features, tuple(self.explicand.shape))) > 0

    def _as_found(self, rows: np.ndarray, kind: str) -> Array:
        """Rows (targets, features) in the shape, library and device of the values."""
        shaped = rows.reshape(len(self.targets), *self._shape)
        return like(shaped[0] if is_single(self.target) else shaped, self.values, dtype_of(kind, self.values))

    def region(self, mask: Any, level: float = 0.95) -> Region:
        """Return the sum over some features with its joint interval.

        Errors of neighbours depend on each other, so the intervals of single features cannot be added up.

        Parameters
        ----------
        mask
            True or False for each feature, in the shape of the features; or the names of some features.
        level
            The level of the interval, a probability.

        Returns
        -------
        Region
            Value, standard error, interval and share of f(x) − f(x̊).

        Raises
        ------
        InputError
            The mask does not match the features, or `level` is not a probability.
        MethodError
            The method has no errors of sums.

        Notes
        -----
        After `load` or `numpy()` there are no answers. The interval is then the widest that a joint one can be, and
        `joint` is False. If the run had a journal, `geex.estimate(journal).region(mask)` has the joint interval.
        """
        level = check_level(level)
        row = region_row(mask, self._shape, self.names)
        if self.record is not None:
            found = self.record.regions(like(row, self.record.task.explicand))
        else:
            arrays = (self.values, self._around, self.stderr)
            found = widest(row, *(with_axis(array, self.target) for array in arrays))
        width = quantile(level, self.freedom)
        change = (numbers(self.output) - numbers(self.base_value)) * (1 if self.adds_up else np.nan)
        return summed(found, width, change, is_single(self.target), self.record is not None)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all but the record to an .npz file, which contains no pickle.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Path
            The path of the file.
        """
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
        """Return the explanation that `save` wrote, with NumPy arrays.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        FileError
            The file is not a saved explanation, or holds names that this process does not have.
        """
        place = file_path("path", path, FileError)
        facts, arrays, features = read_file(place, (*_FACTS, *_ARRAYS))
        with readable(place):
            single = is_single(facts["target"])
            fields: dict[str, Any] = {name: np.asarray(arrays[name], np.float64) for name in _OF_FEATURES}
            fields |= {name: numbers_from_file(arrays[name], single) for name in _ENDS}
            fields |= {name: facts[name] for name in (*_FACTS, *_OPTIONAL) if name in facts}
            fields |= {name: numbers_from_file(facts[name], single) for name in _NUMBERS if facts.get(name) is not None}
            fields |= {name: arrays[name] for name in _EXTRA if name in arrays}
            found = cls(**fields, features=features)
            check_loaded(found)
        return found

    def __repr__(self) -> str:
        return described(self)

    def _repr_html_(self) -> str:
        """Return the same for notebooks, with bars, and with the picture of an image."""
        from geex.report import shown

        return shown(self)


# Fields as a saved file holds them: some may be missing, some have an array for each feature or each end.
_OPTIONAL = ("labels", "names", "seconds", "partial", "ended", "end_queries", "sent", "failed", "cells")
_FACTS = ("target", "queries", "freedom", "estimand", "settings")
_EXTRA, _NUMBERS = ("explicand", "baseline", "centre", "noise_stderr"), ("noise", "reach")
_OF_FEATURES, _ENDS = ("values", "stderr"), ("base_value", "output", "gap", "gap_stderr")
_ARRAYS = (*_OF_FEATURES, *_ENDS)


def completed(values: Array, base_value: Array, output: Array) -> Array:
    """The gap f(x) − f(x̊) − Σ values, for every target (k,)."""
    xp = namespace(values)
    return output - base_value - xp.sum(xp.reshape(values, (values.shape[0], -1)), axis=1)
