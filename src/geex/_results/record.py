"""What was asked and answered, and the explanation that is made of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod

import numpy as np

from geex._arrays.arrays import Array, host, library, like, namespace
from geex._estimate.answers import Answers
from geex._estimate.rescaled import rescaling
from geex._estimate.shapley.interactions import mean_pairs
from geex._estimate.shapley.pairs import Interactions
from geex._estimate.zeros import Zeros, are_equal
from geex._plan.plan import Chunk, Plan
from geex._problem.declared import Unnamed, declared
from geex._problem.estimand import Additive, Estimand
from geex._problem.task import Task
from geex._protocols import Estimate, Method, RoundsMethod
from geex._results.end_answers import EndAnswers, Repeats
from geex._results.explanation import Explanation, completed
from geex._results.precision import reaches
from geex._results.settings import Settings
from geex._results.significance.patches import patch_index
from geex._results.target_axis import is_single, squeezed, without_axis
from geex._version import __version__
from geex.errors import MethodError

# Errors beyond have squares that float64 does not hold, or nearly.
SMALL_ERROR, LARGE_ERROR = 1e-140, 1e140
RARE = 1.5  # half of what 95% of as many draws would have met, in draws


@dataclass(frozen=True, eq=False)
class Record:
    """Everything that was asked and answered: enough to estimate again without the model.

    ends (1 + baselines, K): the raw answers for x and the baselines. answers[b] (rows, K): those of plans[b].
    targets: the k outputs that are explained. again (1, K): the second answer for x; None if x was queried once.
    partial: whether the run was interrupted. ended: why a rule ended it. repeats: answers to repeated queries.
    sent, failed: how many rows the run sent, those of failed calls included, and how many calls failed.
    """

    task: Task
    plans: list[Plan]
    ends: Array
    answers: list[Array]
    asked: int
    targets: list[int]
    again: Array | None = None
    partial: bool = False
    ended: str = ""
    sent: int | None = None
    failed: int = 0
    repeats: Repeats | None = None

    @property
    def end_answers(self) -> EndAnswers:
        """The answers for x and the baselines, with the targets and the score."""
        return EndAnswers(self.ends, self.targets, self.task.score, self.again, self.repeats, self.task.background)

    def method_answers(self) -> list[Answers]:
        """Return the answers as the method gets them, for each baseline."""
        pairs = zip(self.plans, self.answers, strict=True)
        return [self.end_answers.answers(plan, stored(plan, raw), part) for part, (plan, raw) in enumerate(pairs)]

    @cached_property
    def patch_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The patch of every pixel (p,), and centres and standard errors of sums over patches (k, m).

        None if there is no picture, or the method has no errors of sums.
        """
        index = patch_index(tuple(self.task.features.shape(tuple(self.task.explicand.shape))))
        if index is None:
            return None
        rows = np.asarray(index == np.arange(index.max() + 1)[:, None], float)
        try:
            _, centre, stderr = self.regions(like(rows, self.task.explicand))
        except MethodError:
            return None
        return index, np.asarray(host(centre), np.float64), np.asarray(host(stderr), np.float64)

    def regions(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the sums of values over regions, rows (r, p) of 0 and 1, the centres of their intervals, and their
        standard errors: (k, r) each."""
        parts: list[Estimate] = []
        for answers in self.method_answers():
            alike = self.task.method.compares and are_equal(answers.plan.explicand, answers.plan.baseline)
            regions = partial(self.task.method.regions, rows=rows)
            found = Zeros(answers.span, rows.shape[0]) if alike else rescaling(regions, answers)
            if found is None:
                raise MethodError(
                    f"{type(self.task.method).__name__} has no joint errors, so its values cannot be summed up.",
                    code="no-joint-errors",
                )
            parts.append(found)
        ends = self.end_answers
        parts = [ends.with_model_noise(part, place) for place, part in enumerate(parts)]
        values, centre = (sum(found) / len(parts) for found in ([p.values for p in parts], _centres(parts)))
        stderr = _together([part.stderr for part in parts])
        return values, centre, stderr + _rare(self, parts)[:, None]

    def interactions(self) -> list[Interactions]:
        """Return the interactions of pairs of features, the mean over baselines, for every output."""
        twice = self.end_answers.noise
        noise = None if twice is None else host(twice)
        parts = []
        for answers in self.method_answers():
            found = self.task.method.interactions(answers, noise)
            if found is None:
                raise MethodError(
                    f"{type(self.task.method).__name__} has no interactions for these features and this baseline. Use "
                    "geex.Shapley() with at most 1024 columns or words, and a baseline of one row.",
                    code="no-interactions",
                )
            parts.append(found)
        return [mean_pairs(list(own)) for own in zip(*parts, strict=True)]


def _centres(parts: list[Estimate]) -> list[Array]:
    """What the intervals of each part are around."""
    return [part.values if part.centre is None else part.centre for part in parts]


def estimated(method: Method, answers: Answers) -> Estimate:
    """Return the estimate for one baseline. Where x equals it, nothing differs: the values are 0."""
    plan = answers.plan
    if method.compares and are_equal(plan.explicand, plan.baseline):
        return Zeros(answers.span, prod(plan.features.shape(tuple(plan.explicand.shape))))
    found = rescaling(method.estimate, answers)
    if not isinstance(found, Estimate):
        raise MethodError(
            f"{type(method).__name__}.estimate must return an estimate; got a {type(found).__name__}. For a class "
            "of your own, subclass geex.Estimate.",
            code="estimate-not-an-estimate",
        )
    return found


def feature_names(task: Task, names: Sequence[str] | None) -> list[str] | None:
    """Return the names of the features, given those of the elements of x; None where there is not one for each."""
    own = None if task.features.elementwise else task.features.names()
    found = names if own is None else own
    count = prod(task.features.shape(tuple(task.explicand.shape)))
    return list(found) if found is not None and len(found) == count else None


def stored(plan: Plan, answers: Array) -> Iterator[tuple[Chunk, Array]]:
    """Chunks of a plan, made again, with their stored answers."""
    start = 0
    for chunk in plan.chunks(answers.shape[0] // plan.search.rows):
        yield chunk, answers[start : start + chunk.rows, :]
        start += chunk.rows


def explained(record: Record, parts: list[Estimate], brief: bool = False) -> Explanation:
    """Averages the parts (one for each baseline) and says what they are.

    brief: leave out `reach` and the fingerprints of the plans, which cost as much as all the rest.
    """
    task, plans, ends = record.task, record.plans, record.end_answers
    xp = namespace(task.explicand)
    parts, count = [ends.with_model_noise(part, place) for place, part in enumerate(parts)], len(parts)
    rare = _rare(record, parts)[:, None] * _differing(task)
    shape = (len(record.targets), *task.features.shape(tuple(task.explicand.shape)))
    values = xp.reshape(sum(part.values for part in parts) / count, shape)
    centre = xp.reshape(sum(_centres(parts)) / count, shape)
    stderr = xp.reshape(_together([part.stderr for part in parts]) + rare, shape)
    gap_stderr = _gap_stderr(ends, parts, _estimand(task, plans, parts).additive is Additive.EXACTLY)
    gap = completed(values, ends.base_value, ends.output)
    single = is_single(task.target)
    return Explanation(
        values=without_axis(values, single),
        stderr=without_axis(stderr, single),
        base_value=squeezed(ends.base_value, single),
        output=squeezed(ends.output, single),
        gap=squeezed(gap, single),
        gap_stderr=squeezed(gap_stderr, single),
        target=record.targets[0] if single else record.targets,
        queries=record.asked,
        freedom=_freedom(parts),
        estimand=_estimand(task, plans, parts),
        settings=_settings(task, plans, brief),
        explicand=task.explicand,
        features=task.features,
        baseline=sum(task.baselines) / len(task.baselines),
        cells=task.cells,
        record=record,
        centre=without_axis(centre, single) if any(part.centre is not None for part in parts) else None,
        partial=record.partial,
        sent=record.sent,
        failed=record.failed,
        ended=record.ended,
        reach=squeezed(_reach(parts, values), single) if not brief else None,
        noise=None if ends.noise is None else squeezed(ends.noise, single),
        noise_stderr=_noise_stderr(parts, stderr, single) if ends.noisy else None,
        end_queries=ends.counts,
    )


def _gap_stderr(ends: EndAnswers, parts: list[Estimate], exactly: bool) -> Array:
    """Return the standard error of f(x) − f(x̊) − Σ values (k,): noise of the ends and error of the sum.

    exactly: whether values are made to add up. Then the error of their sum is that noise already.
    """
    errors = [part.sum_stderr for part in parts]
    if ends.noisy and not exactly:
        found = [ends.model_noise(part) for part in range(len(parts))]
        errors += [noise.ends for noise in found if noise is not None]
    return _together(errors, len(parts))


def _together(errors: list[Array], count: int | None = None) -> Array:
    """Return the standard error of the mean of `count` independent numbers, which is that of as many as there are
    errors if it is None."""
    xp, count = namespace(errors[0]), count or len(errors)
    size = max(float(xp.max(xp.abs(one))) if prod(one.shape) else 0.0 for one in errors)
    if not 0 < size < np.inf or SMALL_ERROR < size < LARGE_ERROR:
        return sum(one**2 for one in errors) ** 0.5 / count
    return size * (sum((one / size) ** 2 for one in errors) ** 0.5 / count)


def _noise_stderr(parts: list[Estimate], stderr: Array, single: bool) -> Array | None:
    """Return the part of the standard errors that is the model's noise, in their shape; None where it is not known."""
    xp, found = namespace(stderr), [part.noise_stderr for part in parts]
    known = [one**2 for one in found if one is not None]
    if len(known) < len(found):
        return None
    whole = xp.reshape(sum(known) ** 0.5 / len(parts), tuple(stderr.shape))
    return without_axis(xp.minimum(whole, stderr), single)


def _rare(record: Record, parts: list[Estimate]) -> Array:
    """An error for outputs (k,) of which no query but the ends was different, though these are: of n draws without what
    happens with probability 3/n one in twenty is so, and as much as f(x) − f(x̊) may hang on it. Else 0."""
    ends, xp = record.end_answers, namespace(record.ends)
    span = xp.abs(ends.output - ends.base_value)
    met = sum(xp.sum(xp.abs(part.values) + part.stderr, axis=1) for part in parts)
    sampled = np.isfinite(_freedom(parts)) and record.task.method.compares
    draws = max(1, sum(int(answers.shape[0]) for answers in record.answers) // 2)
    return xp.where((met == 0) & (span > 0), sampled * RARE / draws * span, xp.zeros_like(span))


def _differing(task: Task) -> Array:
    """1 for features that differ from a baseline, 0 for others (p,): of these it is known that they do nothing."""
    xp = namespace(task.explicand)
    apart = sum(xp.astype(task.explicand != baseline, xp.float64) for baseline in task.baselines)
    return xp.astype(task.features.total(apart[None, ...])[0, :] > 0, xp.float64)


def _freedom(parts: list[Estimate]) -> float:
    """Degrees of freedom of the parts that have errors; infinite where all are exact."""
    known = [float(part.freedom) for part in parts]
    return sum(one for one in known if np.isfinite(one)) or np.inf


def _reach(parts: list[Estimate], values: Array) -> Array:
    """Half the width of the 95% interval of the sum over the top tenth of features (k,), in float64 beside `values`."""
    squares = sum(reaches(part) ** 2 for part in parts)
    return like(squares**0.5 / len(parts), values, namespace(values).float64)


def _estimand(task: Task, plans: list[Plan], parts: list[Estimate]) -> Estimand:
    """What the method declares, and what the run adds to it."""
    found = task.method.estimand(plans[0].search)
    return replace(
        found,
        adaptive=found.adaptive or (isinstance(task.method, RoundsMethod) and any(plan.before for plan in plans)),
        clipped=task.bounds is not None and plans[0].search.sigma is not None,
        baselines=len(task.baselines),
        notes=tuple(dict.fromkeys([*found.notes, *(note for part in parts for note in part.notes)])),
    )


def _settings(task: Task, plans: list[Plan], brief: bool) -> Settings:
    """What made the explanation."""
    bounds = None if task.bounds is None else (float(task.bounds[0].min()), float(task.bounds[1].max()))
    return Settings(
        method=declared(task.method),
        features=declared(task.features),
        score=Unnamed(repr(task.score), "score") if callable(task.score) else task.score,
        baseline=task.baseline,
        baselines=len(task.baselines),
        stop=declared(task.stop),
        queries=task.queries,
        twice=task.twice,
        bounds=bounds,
        seed=task.seed,
        sigma=tuple(plan.search.sigma for plan in plans),
        fingerprints=() if brief else tuple(plan.fingerprint for plan in plans),
        library=library(task.explicand),
        version=__version__,
    )
