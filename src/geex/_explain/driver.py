"""The driver: make the plans of a task, query them chunk by chunk, and estimate as answers arrive."""

import time
from dataclasses import replace

from geex._arrays.arrays import Array, namespace
from geex._estimate.zeros import are_equal
from geex._explain.repeats import Repeating
from geex._explain.rounds import PlanResult, first_draws, in_rounds, query_at_once, query_in_rounds
from geex._explain.same_model import check_same_model
from geex._explain.warnings import little_to_explain, stopped_early, uneven_scales, unsteady_model
from geex._journal.stored_task import StoredModel
from geex._plan.plan import DrawCache, Ends, Plan, seed_of
from geex._problem.estimand import Estimand
from geex._problem.outputs import check_label_count, resolved_score, scored, target_indices
from geex._problem.task import Task
from geex._protocols import Search
from geex._query.ordered_answers import default_batch, nothing_affordable
from geex._query.session import Engine, Session
from geex._results.end_answers import EndAnswers
from geex._results.explanation import Explanation
from geex._results.record import Record, explained, feature_names
from geex._stored_names import why_unstable
from geex.errors import BudgetError, JournalError, MethodError

BASELINE = 2  # a baseline's place in the seed's streams


def explain_tasks(asking: Engine, tasks: list[Task], cache: DrawCache) -> list[Explanation]:
    """Explains tasks one after the other, with one cache of draws and one progress bar."""
    if asking.model is not None:
        tasks = [replace(task, twice=asking.limits.twice) for task in tasks]
    planned = [_planned(task, cache) for task in tasks]
    if asking.journal is not None and asking.model is not None:
        for task, plans in planned:
            check_storable(task, plans)
    total = sum(1 + len(plans) + task.twice + sum(plan.search.rows * n for plan, n in plans) for task, plans in planned)
    explanations: list[Explanation] = []
    batch = min(default_batch(task.explicand) if task.batch is None else task.batch for task in tasks)
    fixed = any(task.batch is not None for task in tasks)
    with asking.opened(batch, total, tasks[0].progress, fixed) as session:
        session.log_cost(total, [plan for _, plans in planned for plan, _ in plans])
        for task, plans in planned:
            explanation = explain_task(session, task, plans)
            if explanation is None and not explanations:
                raise _nothing(session)
            explanations += [] if explanation is None else [_named(explanation, asking.stored_model)]
            if session.stopped:
                break
    if session.stopped:
        path = None if session.journal is None else session.journal.path
        queries = sum(explanation.queries for explanation in explanations)
        stopped_early(path, queries, total, session.spending.sent if session.spending.spent else None)
    return explanations


def explain_task(session: Session, task: Task, plans: list[tuple[Plan, int]]) -> Explanation | None:
    """None where the run was stopped before there was anything to explain."""
    start = time.perf_counter()
    xp = namespace(task.explicand)
    querier = session.querier(task)
    sent, failed = session.spending.sent, session.spending.failed
    points = Ends(xp.astype(xp.stack([task.explicand, *task.baselines, task.explicand]), task.dtype))
    count = 1 + len(task.baselines)
    ends = querier.ends(points, 0, count)
    session.log_duration(time.perf_counter() - start, task.queries - count)
    stored = count - querier.own
    again = querier.ends(points, count, count + 1) if task.twice and ends is not None else None
    if ends is None:
        return None
    check_same_model(session, task, points, ends, again if count - querier.own == stored else None, stored)
    task = replace(task, score=resolved_score(task.score, ends))
    output = scored(ends, task.score)
    check_label_count(task.labels, int(output.shape[1]))
    targets, _ = target_indices(task.target, output[0, :])
    answered = EndAnswers(ends, targets, task.score, again, background=task.background)
    if task.method.compares:
        little_to_explain(output, targets)
    repeating = Repeating(querier, task, points.points, answered, task.queries - count - task.twice)
    if plans and not querier.incomplete:
        repeating.begin(plans[0][0], first_draws(task, *plans[0]))
    asked: list[PlanResult] = []
    for part, (plan, draws) in enumerate(plans):
        if draws and in_rounds(task):
            found = query_in_rounds(querier, task, plan, draws, repeating, part)
        else:
            found = query_at_once(querier, task, plan, draws, repeating, part)
        if found is None:
            break
        asked.append(found)
    if not asked:
        return None
    if not task.background:  # the run may have ended before the last baselines
        ends = ends[: 1 + len(asked), :]
        task = replace(task, baselines=task.baselines[: len(asked)])
    used = count + (again is not None) + repeating.used + sum(int(found.answers.shape[0]) for found in asked)
    record = Record(
        task,
        [found.plan.without_cache() for found in asked],
        ends,
        [found.answers for found in asked],
        used if querier.incomplete else querier.queried,
        targets,
        again,
        querier.incomplete,
        " and ".join(dict.fromkeys(found.ended for found in asked if found.ended)),
        session.spending.sent - sent,
        session.spending.failed - failed,
        repeating.ends.repeats,
    )
    explanation = explained(record, [found.estimate for found in asked])
    unsteady_model(explanation)
    return replace(explanation, seconds=time.perf_counter() - start)


def _named(explanation: Explanation, model: StoredModel) -> Explanation:
    """Return the explanation with the names of outputs and features that the model and x have, if there are as many."""
    record = explanation.record
    assert record is not None
    task = record.task
    labels = model.labels if task.labels is None else task.labels
    outputs = int(scored(record.ends[:1, :], task.score).shape[1])
    if model.absence is not None and task.baseline == 0.0:
        explanation = replace(explanation, settings=replace(explanation.settings, absence=model.absence))
    return explanation.named(
        labels if labels is not None and len(labels) == outputs else None,
        feature_names(task, model.names if task.names is None else task.names),
    )


def _planned(task: Task, cache: DrawCache) -> tuple[Task, list[tuple[Plan, int]]]:
    """Return the task and its plans, without the second query for x if the budget is then just enough."""
    for baseline in task.baselines:
        uneven_scales(task, baseline)
    once = replace(task, twice=False)
    try:
        found = plans_of(task, cache)
    except BudgetError:
        return once, plans_of(once, cache)
    spared = plans_of(once, cache)
    everything = [[draws == plan.search.all_draws for plan, draws in plans] for plans in (found, spared)]
    return (task, found) if everything[0] == everything[1] else (once, spared)


def plans_of(task: Task, cache: DrawCache) -> list[tuple[Plan, int]]:
    """Return a plan for each baseline, and how many of its draws are queried; each baseline has its own seed."""
    xp, ends = namespace(task.explicand), 1 + len(task.baselines)
    absent = [xp.stack(task.baselines)] if task.background else task.baselines
    count = len(absent)
    rows = (task.queries - ends - task.twice) // count
    plans = []
    for part, baseline in enumerate(absent):
        search = searched(task, baseline, max(rows, 0))
        equal = task.method.compares and are_equal(task.explicand, baseline)
        if rows < search.least and not equal:
            raise BudgetError(
                f"`queries` must be at least {ends + count * search.least} for this method: one for f(x), {ends - 1} "
                f"for f(x̊), and {search.least} for {'the background' if task.background else 'each baseline'}; got "
                f"{task.queries}. Hundreds are usual.",
                code="queries-below-least",
            )
        seed = task.seed if part == 0 else seed_of(task.seed, BASELINE, part)
        plan = Plan(task.explicand, baseline, search, task.features, seed, task.bounds, task.dtype, cache)
        plans.append((plan, 0 if equal else search.afford(rows)))
    return plans


def check_storable(task: Task, plans: list[tuple[Plan, int]]) -> None:
    """Raise JournalError if a setting has no stable form: a new process would query the answers again."""
    parts = {"method": task.method, "features": task.features, "stop": task.stop}
    for name, part in [*parts.items(), *(("method", plan.search) for plan, _ in plans)]:
        if reason := why_unstable(part):
            raise JournalError(
                f"`{name}` cannot be kept in a journal: {reason}. Make it a frozen dataclass whose fields are numbers, "
                "texts, arrays or such dataclasses; or leave out journal=.",
                code="journal-unstable-values",
            )


def searched(task: Task, baseline: Array, rows: int) -> Search:
    """Return the search of a task's method. Raise MethodError if the method declares no search or estimand."""
    name = type(task.method).__name__
    search = task.method.search(task.explicand, baseline, task.features, rows)
    if not isinstance(search, Search):
        raise MethodError(
            f"{name}.search must return a search; got a {type(search).__name__}. For a class of your own, subclass "
            "geex.Search.",
            code="search-not-a-search",
        )
    if search.sigma is not None and task.columns is not None and not task.columns.of_numbers:
        raise MethodError(
            f"`method` must show and hide features where x or the baseline has words, categories or missing values; "
            f"{name} adds noise.",
            code="method-adds-noise",
            fix="Use geex.Shapley(), or fill in missing values first.",
        )
    estimand = task.method.estimand(search)
    if not isinstance(estimand, Estimand):
        raise MethodError(
            f"{name}.estimand must return a geex.Estimand; got a {type(estimand).__name__}. Return for example "
            "geex.Estimand(geex.Quantity.OWN, text='…').",
            code="estimand-not-an-estimand",
        )
    return search


def _nothing(session: Session) -> BaseException:
    if session.spending.spent:
        return nothing_affordable()
    if session.stopped or session.journal is None:
        return KeyboardInterrupt()
    return JournalError(
        f"{session.journal.path} lacks answers that this method needs. Call geex.explain(…, "
        f"journal={str(session.journal.path)!r}).",
        code="journal-lacks-answers",
    )
