"""All rows of a table as one job: the same as single rows, shared calls, rows that fail, bad tables."""

import signal
import warnings

import numpy as np
import pytest

import geex
from geex import errors
from geex._estimate.shapley.learnt import TEACHERS
from geex._explain.table.answered_rows import IN_A_ROW, NONE_YET
from tests.helpers import raises

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(17)
COLUMNS = ["age", "bmi", "pulse", "height", "weight", "dose"]
ROWS = RNG.normal(size=(12, 6))
WEIGHTS = np.array([1.0, -0.5, 0.3, 0.0, 0.2, 0.1])  # summed without BLAS, which rounds single rows otherwise
FRAME = pandas.DataFrame(ROWS, columns=COLUMNS, index=[f"p{number}" for number in range(12)])
QUIET = {"progress": False}
# x is queried once, and a journal is not compared
ONCE = geex.Limits(twice=False, compare=False)


def model(z):
    return np.tanh((z * WEIGHTS).sum(axis=1)) + z[:, 0] * z[:, 1] * z[:, 5]


def two(z):
    return np.stack([model(z), -model(z)], axis=1)


class Counted:
    """A model that counts its rows and calls, and raises where `fails(rows)` is."""

    def __init__(self, fails=lambda z: False, answer=model):
        self.rows = self.calls = 0
        self.fails, self.answer = fails, answer

    def __call__(self, z):
        self.rows, self.calls = self.rows + len(z), self.calls + 1
        if self.fails(z):
            raise ValueError("cannot read it")
        return self.answer(z)


def same(one, other):
    for name in ("values", "stderr", "centre", "output", "base_value", "target", "queries", "noise"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def test_index_and_columns_are_kept_and_values_add_up():
    found = geex.explain_table(model, FRAME, queries=40, **QUIET)
    frame = found.to_frame()
    assert frame.index.equals(FRAME.index)
    assert list(frame.columns) == COLUMNS
    np.testing.assert_allclose(found.base_value + frame.to_numpy().sum(axis=1), model(ROWS), atol=1e-9)
    assert np.array_equal(found.data, ROWS)


def test_exact_rows_are_those_of_explain():
    found = geex.explain_table(model, ROWS, queries=200, **QUIET)
    for place, x in enumerate(ROWS):
        np.testing.assert_allclose(found.values[place], geex.explain(model, x, queries=200, **QUIET).values, atol=1e-9)


@pytest.mark.parametrize(
    "method", [geex.Shapley(), geex.Presence(), geex.Regression(geex.Presence(alpha=0.5)), geex.GEEX(0.5)], ids=repr
)
def test_methods_without_rounds(method):
    found = geex.explain_table(model, ROWS, queries=60, method=method, **QUIET)
    assert np.isfinite(found.values).all()
    assert found.settings.method.name == type(method).__name__
    assert (found.queries <= 60).all()


def test_rows_share_calls_and_the_baseline_is_queried_once():
    counted = Counted()
    found = geex.explain_table(counted, ROWS, queries=40, batch=512, **QUIET)
    assert counted.rows == found.queries.sum() + 1
    assert counted.calls == 2  # the baseline, and all rows


def test_a_background_is_queried_once_and_averaged_over():
    counted, background = Counted(), RNG.normal(size=(9, 6))
    found = geex.explain_table(counted, ROWS[:3], baseline=geex.background(background), queries=150, **QUIET)
    assert counted.rows == found.queries.sum() + 9
    np.testing.assert_allclose(found.base_value, model(background).mean())
    assert found.settings.baselines == 9


def test_masks_differ_from_row_to_row():
    seen = []

    def model(z):
        seen.append(z.copy())
        return z.sum(axis=1) + z[:, 0] * z[:, 1]

    geex.explain_table(model, np.ones((2, 12)), queries=20, limits=ONCE, **QUIET)
    first, second = np.split(np.concatenate(seen[1:]), 2)
    assert (first != second).any(axis=1).sum() > 10
    assert np.array_equal(np.sort(first.sum(axis=1)), np.sort(second.sum(axis=1)))  # of the same sizes


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_same_bytes_for_any_batch(batch):
    plain = geex.explain_table(model, ROWS, queries=30, **QUIET)
    same(geex.explain_table(model, ROWS, queries=30, batch=batch, **QUIET), plain)


def test_the_same_bytes_in_threads():
    plain = geex.explain_table(model, ROWS, queries=30, **QUIET)
    same(geex.explain_table(model, ROWS, queries=30, batch=16, limits=geex.Limits(concurrency=3), **QUIET), plain)


def test_what_is_learnt_does_not_depend_on_later_rows():
    rows = RNG.normal(size=(TEACHERS + 6, 6))
    whole, some = (geex.explain_table(model, rows[:n], queries=30, **QUIET) for n in (TEACHERS + 6, TEACHERS + 2))
    assert whole.values[: len(some)].tobytes() == some.values.tobytes()


def test_a_row_equal_to_the_baseline_has_zeros():
    rows = np.vstack([np.zeros((1, 6)), ROWS[:2]])
    found = geex.explain_table(model, rows, queries=40, **QUIET)
    assert not found.values[0].any()
    assert not found.stderr[0].any()
    assert found.queries[0] == 2  # x, and x again
    assert found.values[1].any()


def test_the_target_is_each_rows_largest_output_or_one():
    found = geex.explain_table(two, ROWS, queries=30, target="predicted", **QUIET)
    assert found.target.tolist() == [int(score < 0) for score in model(ROWS)]
    np.testing.assert_allclose(found.output, np.abs(model(ROWS)))
    named = geex.explain_table(two, ROWS, queries=30, target="no", labels=["yes", "no"], **QUIET)
    assert (named.target == 1).all()
    assert named.labels == ["yes", "no"]


def test_columns_in_the_order_of_the_model():
    shuffled = FRAME[COLUMNS[::-1]]
    named = Counted()
    named.names = COLUMNS
    found = geex.explain_table(named, shuffled, queries=200, **QUIET)
    assert found.columns == COLUMNS
    np.testing.assert_allclose(found.values, geex.explain_table(model, ROWS, queries=200, **QUIET).values)


def test_groups_of_columns():
    found = geex.explain_table(model, FRAME, features=geex.Groups(np.array([0, 0, 1, 1, 2, 2])), queries=40, **QUIET)
    assert found.columns == ["group 0", "group 1", "group 2"]
    assert found.inputs == COLUMNS
    assert found.values.shape == (12, 3)


def test_whole_numbers_and_booleans_are_numbers():
    frame = pandas.DataFrame({"a": [1, 2], "b": [True, False], "c": pandas.array([3, 4], dtype="Int64")})
    found = geex.explain_table(lambda z: z.sum(axis=1), frame, queries=20, **QUIET)
    np.testing.assert_allclose(found.values, [[1, 1, 3], [2, 0, 4]])


def broken_for(x):
    return lambda z: bool((z[:, 5] == x[5]).any())


@pytest.mark.parametrize("place", [0, 5, 11])
def test_a_row_that_fails_is_reported_and_left_out(place):
    counted, plain = Counted(broken_for(ROWS[place])), geex.explain_table(model, FRAME, queries=30, **QUIET)
    with pytest.warns(errors.FailedRows) as caught:
        found = geex.explain_table(counted, FRAME, queries=30, **QUIET)
    assert caught[0].filename == __file__
    (failed,) = found.failed
    assert (failed.number, failed.label) == (place, f"p{place}")
    assert "cannot read it" in failed.message
    assert found.index == [label for label in FRAME.index if label != f"p{place}"]
    assert not found.partial
    assert found.values[:place].tobytes() == plain.values[:place].tobytes()
    with raises(errors.InputError, "row-failed"):
        found.row(f"p{place}")


def test_answers_that_are_no_numbers_fail_one_row():
    def model(z):
        return np.where(z[:, 5] == ROWS[4, 5], np.nan, z.sum(axis=1))

    with pytest.warns(errors.FailedRows):
        found = geex.explain_table(model, ROWS, queries=30, **QUIET)
    assert [one.number for one in found.failed] == [4]


def test_a_row_that_fails_costs_few_calls():
    rows = RNG.normal(size=(60, 6))
    counted = Counted(broken_for(rows[33]))
    with pytest.warns(errors.FailedRows):
        geex.explain_table(counted, rows, queries=20, batch=200, **QUIET)
    assert counted.calls < 25


def test_a_model_that_always_fails_ends_the_run():
    calls = []

    def model(z):
        calls.append(len(z))
        if (z != 0).any():
            raise ValueError("out of order")
        return z.sum(axis=1)

    with raises(errors.ModelRaised, "model-raised"):
        geex.explain_table(model, ROWS, queries=30, **QUIET)
    assert len(calls) <= 2 + NONE_YET


def test_an_outage_is_not_the_fault_of_a_row():
    counted = Counted()

    def model(z):
        if counted.calls == 3:
            raise ConnectionError("no route")
        return counted(z)

    with raises(errors.ModelRaised, "model-raised"):
        geex.explain_table(model, ROWS, queries=30, batch=16, **QUIET)


def test_many_failing_rows_end_the_run_with_those_that_are_done():
    rows = RNG.normal(size=(IN_A_ROW + 30, 6))
    rows[3:, 5] = 99.0

    with (
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        found = geex.explain_table(Counted(lambda z: bool((z[:, 5] == 99).any())), rows, queries=30, **QUIET)
    assert {one.category for one in caught} == {errors.FailedRows, errors.PartialRun}
    assert found.partial
    assert len(found) == 3
    assert len(found.failed) == IN_A_ROW


def test_ctrl_c_returns_the_rows_that_are_done_and_the_journal_continues(tmp_path):
    path, counted = tmp_path / "table.geex", Counted()
    plain = geex.explain_table(model, ROWS, queries=30, **QUIET)

    def interrupted(z):
        if counted.rows > 150:
            signal.raise_signal(signal.SIGINT)
        return counted(z)

    with pytest.warns(errors.PartialRun):
        found = geex.explain_table(interrupted, ROWS, queries=30, batch=16, journal=path, limits=ONCE, **QUIET)
    assert found.partial
    assert 0 < len(found) < 12
    before = counted.rows
    whole = geex.explain_table(counted, ROWS, queries=30, journal=path, limits=ONCE, **QUIET)
    assert counted.rows - before <= 1 + whole.queries.sum() - 150
    np.testing.assert_allclose(whole.output, plain.output)
    assert whole.values[: len(found)].tobytes() == found.values.tobytes()
    after = counted.rows
    same(geex.explain_table(counted, ROWS, queries=30, journal=path, limits=ONCE, **QUIET), whole)
    assert counted.rows == after


def test_another_model_is_not_mixed_into_the_journal(tmp_path):
    journal = tmp_path / "table.geex"
    geex.explain_table(model, ROWS, queries=30, journal=journal, **QUIET)
    with raises(errors.JournalError, "journal-other-model"):
        geex.explain_table(lambda z: model(z) + 1, ROWS, queries=30, journal=journal, **QUIET)


def test_a_model_with_noise_is_named():
    noise = np.random.default_rng(1)
    with pytest.warns(errors.UnsteadyModel):
        found = geex.explain_table(lambda z: z.sum(axis=1) + noise.normal(size=len(z)), ROWS, queries=30, **QUIET)
    assert (found.noise > 0).all()


def test_labels_that_repeat_are_kept():
    frame = FRAME.rename(index={"p1": "p0"})
    with pytest.warns(errors.RepeatedIndex):
        found = geex.explain_table(model, frame, queries=30, **QUIET)
    assert found.index[:2] == ["p0", "p0"]


@pytest.mark.parametrize(
    ("kind", "code", "table", "settings"),
    [
        (errors.ExplicandError, "table-empty", FRAME.iloc[:0], {}),
        (errors.ExplicandError, "table-empty", FRAME[[]], {}),
        (errors.ExplicandError, "table-empty", np.zeros((0, 3)), {}),
        (errors.ExplicandError, "table-shape", np.zeros(3), {}),
        (errors.ExplicandError, "table-shape", np.zeros((2, 3, 3)), {}),
        (errors.ExplicandError, "table-not-numeric", FRAME.assign(sex="f"), {}),
        (errors.ExplicandError, "table-not-numeric", FRAME.assign(sex=pandas.Categorical(["f"] * 12)), {}),
        (errors.ExplicandError, "table-not-finite", FRAME.assign(age=np.nan), {}),
        (errors.ExplicandError, "frame-not-real", [["a", "b"]], {}),
        (errors.BaselineError, "background-columns", FRAME, {"baseline": FRAME[COLUMNS[:5]]}),
        (errors.InputError, "baseline-names", FRAME, {"baseline": FRAME[COLUMNS[:5]].iloc[0]}),
        (errors.ExplicandError, "table-baseline-rule", FRAME, {"baseline": lambda x: x / 2}),
        (errors.MethodError, "table-method-in-rounds", FRAME, {"method": geex.Guided(), "queries": 500}),
        (errors.TargetError, "table-several-targets", FRAME, {"target": [0, 1]}),
        (errors.TargetError, "table-several-targets", FRAME, {"target": "all"}),
        (errors.TargetError, "target-without-labels", FRAME, {"target": "cat"}),
        (errors.BudgetError, "queries-below-least", FRAME, {"queries": 3}),
        (errors.BoundsError, "outside-the-bounds", np.vstack([ROWS / 10, 9 * np.ones((1, 6))]), {"bounds": (-1, 1)}),
    ],
)
def test_bad_tables_are_refused_before_the_first_query(kind, code, table, settings):
    counted = Counted()
    with raises(kind, code):
        geex.explain_table(counted, table, **{**QUIET, **settings})
    assert counted.rows == 0


def test_a_target_that_the_model_lacks_costs_the_baseline_alone():
    counted = Counted()
    with raises(errors.TargetError, "target-out-of-range"):
        geex.explain_table(counted, ROWS, target=3, **QUIET)
    assert counted.rows == 1
