"""What was asked and answered, and the explanation that is made of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from geex._arrays.arrays import Array, library, like, namespace
from geex._estimate.score_function import Answered
from geex._plan.plan import Chunk, Plan
from geex._problem.declared import Unnamed, declared
from geex._problem.estimand import Estimand
from geex._problem.outputs import Score, scored
from geex._problem.task import Task
from geex._protocols import Estimate
from geex._results.explanation import ROUNDING, Explanation, completed
from geex._results.precision import reaches
from geex._results.settings import Settings
from geex._version import __version__
from geex.errors import MethodError

RARE = 1.5  # half of what 95% of as many draws would have met, in draws


@dataclass(frozen=True, eq=False)
class Record:
    """Everything that was asked and answered: enough to estimate again without the model.

    ends (1 + baselines, k) are the answers for x and the baselines, answers[b] (rows, k) those of plans[b]; again
    (1, k) is the second answer for x, where it was asked for. partial: whether it was stopped before it was through;
    ended: why a rule ended it.
    """

    task: Task
    plans: list[Plan]
    ends: Array
    answers: list[Array]
    asked: int
    again: Array | None = None
    partial: bool = False
    ended: str = ""

    def regions(self, rows: Array, targets: list[int]) -> tuple[Array, Array, Array]:
        """Sums of values over regions, rows (r, p) of 0 and 1, what their intervals are around, and their standard
        errors: (k, r) each."""
        parts: list[Estimate] = []
        for part, (plan, answers) in enumerate(zip(self.plans, self.answers, strict=True)):
            pair = pair_of(self.ends, part)
            found = self.task.method.regions(plan, stored(plan, answers), pair, targets, self.task.score, rows)
            if found is None:
                raise MethodError(
                    f"{type(self.task.method).__name__} has no joint errors, so its values cannot be summed up.",
                    code="no-joint-errors",
                )
            parts.append(found)
        parts = noisy(self, parts, targets)
        values, centre = (sum(found) / len(parts) for found in ([p.values for p in parts], _centres(parts)))
        stderr = sum(part.stderr**2 for part in parts) ** 0.5 / len(parts)
        return values, centre, stderr + _rare(self, parts, targets)[:, None]


def _centres(parts: list[Estimate]) -> list[Array]:
    """What the intervals of each part are around."""
    return [part.values if part.centre is None else part.centre for part in parts]


def estimated(task: Task, plan: Plan, answered: Answered, ends: Array, part: int, targets: list[int]) -> Estimate:
    """The estimate for one baseline."""
    found = task.method.estimate(plan, answered, pair_of(ends, part), targets, task.score)
    if not isinstance(found, Estimate):
        raise MethodError(
            f"{type(task.method).__name__}.estimate must return an estimate; got a {type(found).__name__}. For a class "
            "of your own, subclass geex.Estimate.",
            code="estimate-not-an-estimate",
        )
    return found


def pair_of(ends: Array, part: int) -> Array:
    """The answers for x and for one of the baselines (2, k)."""
    return namespace(ends).concat([ends[:1, :], ends[part + 1 : part + 2, :]], axis=0)


def stored(plan: Plan, answers: Array) -> Iterator[tuple[Chunk, Array]]:
    """Chunks of a plan, made again, with their stored answers."""
    start = 0
    for chunk in plan.chunks(answers.shape[0] // plan.search.rows):
        yield chunk, answers[start : start + chunk.rows, :]
        start += chunk.rows


def explained(record: Record, parts: list[Estimate], targets: list[int], several: bool) -> Explanation:
    """Averages the parts (one for each baseline) and says what they are."""
    task, plans = record.task, record.plans
    xp = namespace(task.explicand)
    parts, count = noisy(record, parts, targets), len(parts)
    rare = _rare(record, parts, targets)[:, None] * _differing(task)
    shape = (len(targets), *task.features.shape(tuple(task.explicand.shape)))
    values = xp.reshape(sum(part.values for part in parts) / count, shape)
    centre = xp.reshape(sum(_centres(parts)) / count, shape)
    stderr = xp.reshape(sum(part.stderr**2 for part in parts) ** 0.5 / count + rare, shape)
    gap_stderr = sum(part.sum_stderr**2 for part in parts) ** 0.5 / count
    ends = scored(record.ends, task.score)[:, targets]
    output, base_value = ends[0, :], xp.mean(ends[1:, :], axis=0)
    gap = completed(values, base_value, output)

    def one(array: Array) -> Array | float:
        return array if several else float(array[0])

    return Explanation(
        values=values if several else values[0, ...],
        stderr=stderr if several else stderr[0, ...],
        base_value=one(base_value),
        output=one(output),
        gap=one(gap),
        gap_stderr=one(gap_stderr),
        target=targets if several else targets[0],
        queries=record.asked,
        freedom=_freedom(parts),
        estimand=_estimand(task, plans, parts),
        settings=_settings(task, plans),
        explicand=task.explicand,
        features=task.features,
        baseline=sum(task.baselines[:count]) / count,
        record=record,
        centre=(centre if several else centre[0, ...]) if any(part.centre is not None for part in parts) else None,
        partial=record.partial,
        ended=record.ended,
        reach=one(_reach(parts, values)),
        noise=None if record.again is None else one(noise_of(record.ends, record.again, task.score, targets)),
    )


def noisy(record: Record, parts: list[Estimate], targets: list[int]) -> list[Estimate]:
    """Parts whose values rest on single answers are told of the model's own noise."""
    return [under_noise(part, record.ends, record.again, record.task.score, targets) for part in parts]


def under_noise(part: Estimate, ends: Array, again: Array | None, score: Score, targets: list[int]) -> Estimate:
    """A part with the model's noise in its errors, where it is more than rounding; as it is where x was asked once."""
    if again is None:
        return part
    noise, output = noise_of(ends, again, score, targets), scored(ends, score)[0, targets]
    xp = namespace(noise)
    return part.with_model_noise(xp.where(noise > ROUNDING * xp.abs(output), noise, xp.zeros_like(noise)))


def _rare(record: Record, parts: list[Estimate], targets: list[int]) -> Array:
    """An error for outputs (k,) of which no query but the ends was different, though these are: of n draws without what
    happens with probability 3/n one in twenty is so, and as much as f(x) − f(x̊) may hang on it. Else 0."""
    ends = scored(record.ends, record.task.score)[:, targets]
    xp = namespace(ends)
    span = xp.abs(ends[0, :] - xp.mean(ends[1:, :], axis=0))
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


def noise_of(ends: Array, again: Array, score: Score, targets: list[int]) -> Array:
    """The deviation of one answer for x (k,), from two of them."""
    first, second = (scored(answers, score)[0, targets] for answers in (ends[:1, :], again))
    return namespace(first).abs(first - second) / 2**0.5


def _estimand(task: Task, plans: list[Plan], parts: list[Estimate]) -> Estimand:
    """What the method declares, and what the run adds to it."""
    found = task.method.estimand(plans[0].search)
    return replace(
        found,
        adaptive=found.adaptive or any(plan.before is not None for plan in plans),
        clipped=task.bounds is not None and plans[0].search.sigma is not None,
        baselines=len(plans),
        notes=tuple(dict.fromkeys([*found.notes, *(note for part in parts for note in part.notes)])),
    )


def _settings(task: Task, plans: list[Plan]) -> Settings:
    """What made the explanation."""
    bounds = None if task.bounds is None else (float(task.bounds[0].min()), float(task.bounds[1].max()))
    return Settings(
        method=declared(task.method),
        features=declared(task.features),
        score=Unnamed(repr(task.score), "score") if callable(task.score) else task.score,
        baseline=task.baseline,
        baselines=len(plans),
        stop=declared(task.stop),
        queries=task.queries,
        twice=task.twice,
        bounds=bounds,
        seed=task.seed,
        sigma=tuple(plan.search.sigma for plan in plans),
        fingerprints=tuple(plan.fingerprint for plan in plans),
        library=library(task.explicand),
        version=__version__,
    )
