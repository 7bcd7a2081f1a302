"""A journal never explains a model by the answers of another one."""

import json
import subprocess
import sys

import numpy as np
import pytest

import geex
from geex import errors
from tests.helpers import explained, raises
from tests.unit.query.test_session import METHOD, Counted, X, model, same

NOISE = 0.05
ONCE = geex.Limits(twice=False)


def shifted(z):
    return model(z) + np.array([0.0, 1e-3, 0.0])


def other_at_zero(z):
    return model(z) + 1e-3 * (np.abs(z).max(axis=(1, 2)) == 0)[:, None]


def noisy(seed):
    """A model whose answers have noise."""
    rng = np.random.default_rng(seed)
    return lambda z: model(z) + NOISE * rng.normal(size=(len(z), 3))


def voting(seed):
    """A model that answers a random class."""
    rng = np.random.default_rng(seed)
    return lambda z: (rng.random(len(z)) < 1 / (1 + np.exp(-z.sum(axis=(1, 2))))).astype(float)


@pytest.mark.parametrize("other", [shifted, other_at_zero])
@pytest.mark.parametrize("queries", [300, 600])
@pytest.mark.parametrize("twice", [False, True])
def test_another_model_is_stopped_before_a_query_of_the_plan(tmp_path, other, queries, twice):
    path, limits = tmp_path / "run.geex", geex.Limits(twice=twice)
    first = explained(model, X, METHOD, 300, journal=path, limits=limits)
    counted = Counted(lambda call, z: other(z))
    with raises(errors.JournalError, "journal-other-model") as caught:
        explained(counted, X, METHOD, queries, journal=path, limits=limits)
    assert counted.calls == 2, "two points together, and one of them again"
    assert str(path) in str(caught.value)
    same(geex.estimate(path), first)
    same(explained(model, X, METHOD, 300, journal=path, limits=limits), first)


def test_two_closures_are_two_models(tmp_path):
    def scaled(factor):
        return lambda z: factor * z.sum(axis=(1, 2))

    explained(scaled(1.0), X, METHOD, 100, journal=tmp_path / "run.geex", limits=ONCE)
    with raises(errors.JournalError, "journal-other-model"):
        explained(scaled(2.0), X, METHOD, 100, journal=tmp_path / "run.geex", limits=ONCE)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_same_model_is_asked_two_rows_and_no_more(tmp_path, concurrency):
    path, limits = tmp_path / "run.geex", geex.Limits(concurrency=concurrency)
    plain = explained(model, X, METHOD, 700, journal=path, limits=limits)
    again, longer = Counted(), Counted()
    same(explained(again, X, METHOD, 700, journal=path, limits=limits), plain)
    assert again.rows == 2
    found = explained(longer, X, METHOD, 1400, journal=path, limits=limits)
    assert longer.rows == found.queries - plain.queries + 2 <= 1400
    alone = Counted()
    limits = geex.Limits(concurrency=concurrency, compare=False)
    same(explained(alone, X, METHOD, 1400, journal=path, limits=limits), found)
    assert alone.rows == 0


def test_a_batch_is_compared_once(tmp_path):
    settings = {"method": METHOD, "queries": 100, "journal": tmp_path / "run.geex", "progress": False}
    xs = [X, X + 1, X + 2]
    geex.explain_batch(model, xs[:2], **settings)
    counted = Counted()
    geex.explain_batch(counted, xs, **settings)
    assert counted.rows == 2 + 99


def test_rounding_is_no_other_model(tmp_path):
    explained(model, X, METHOD, 100, journal=tmp_path / "run.geex", limits=ONCE)
    explained(lambda z: model(z).astype(np.float32), X, METHOD, 100, journal=tmp_path / "run.geex", limits=ONCE)


@pytest.mark.filterwarnings("ignore::geex.errors.UnsteadyModel", "ignore::geex.errors.LittleToExplain")
@pytest.mark.parametrize("kind", [noisy, voting])
@pytest.mark.parametrize("twice", [False, True])
def test_noise_is_no_other_model(tmp_path, kind, twice):
    """At most one of 30 reopenings is stopped: of a voting model with p near 0.9, one in fifty."""
    stopped = 0
    for seed in range(30):
        path, limits = tmp_path / f"{seed}.geex", geex.Limits(twice=twice)
        explained(kind(seed), X / 5, METHOD, 40, journal=path, limits=limits)
        try:
            explained(kind(seed + 1000), X / 5, METHOD, 40, journal=path, limits=limits)
        except errors.JournalError:
            stopped += 1
    assert stopped <= 1


class Voting:
    """A model that answers 1 for x, and 0 for the baseline but for the first time; it votes at random on all else."""

    def __init__(self, rare):
        self.turn, self.rare = 0, rare

    def __call__(self, z):
        self.turn += 1
        rng, empty = np.random.default_rng(self.turn), (z == 0).all(axis=1)
        votes = np.where((z == 1).all(axis=1), 1.0, rng.random(len(z)) < 0.5)
        rare, self.rare = self.rare and empty.any(), self.rare and not empty.any()
        return np.where(empty, float(rare), votes)


@pytest.mark.filterwarnings("ignore::geex.errors.UnsteadyModel", "ignore::geex.errors.LittleToExplain")
def test_a_rare_vote_is_no_other_model_where_the_journal_has_repeats(tmp_path):
    settings = {"queries": 200, "journal": tmp_path / "run.geex", "progress": False}
    found = geex.explain(Voting(True), np.ones(10), **settings)
    assert min(found.end_queries) > 2
    same(geex.explain(Voting(False), np.ones(10), **settings), found)


@pytest.mark.filterwarnings("ignore::geex.errors.UnsteadyModel")
@pytest.mark.parametrize("twice", [False, True])
def test_a_shift_beyond_the_noise_is_another_model(tmp_path, twice):
    limits = geex.Limits(twice=twice)
    for seed in range(10):
        path = tmp_path / f"{seed}.geex"
        explained(noisy(seed), X, METHOD, 40, journal=path, limits=limits)

        def other(z, seed=seed):
            return noisy(seed + 1000)(z) + 40 * NOISE

        with raises(errors.JournalError, "journal-other-model"):
            explained(other, X, METHOD, 40, journal=path, limits=limits)


MODULE = """
import geex
def model(rows):  # {comment}
    return {factor} * rows.sum(axis=1)

def other(rows):
    return rows.prod(axis=1)

adapted = geex.models.link(model, "percent")
"""


def test_a_module_that_was_edited_is_another_model_for_the_command_line(tmp_path):
    """The old answers stay in the journal, and come back with the old source; a comment changes nothing."""
    np.save(tmp_path / "o.npy", np.arange(1.0, 5.0))

    def value(function, **edited):
        (tmp_path / "ed.py").write_text(MODULE.format(**edited))
        words = ["explain", f"ed:{function}", "o.npy", "--journal", "j.geex", "-q", "20", "--json"]
        command = [sys.executable, "-B", "-m", "geex", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["output"]

    assert value("model", factor=1.0, comment="a sum") == 10
    assert value("model", factor=3.0, comment="a sum") == 30
    assert value("other", factor=3.0, comment="a sum") == 24
    assert value("adapted", factor=1.0, comment="an adapter") == pytest.approx(0.1)
    assert value("adapted", factor=2.0, comment="an adapter") == pytest.approx(0.2)
    assert value("model", factor=1.0, comment="the same sum") == 10


def test_what_a_module_imports_from_its_folder_counts_too(tmp_path):
    """Both answer alike for x and the baseline, so that the comparison finds nothing."""
    np.save(tmp_path / "o.npy", np.array([1.0, 1.0, 2.0]))
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "__init__.py").write_text("from . import product\n")
    (tmp_path / "ed.py").write_text("import part\ndef model(rows):\n    return part.product.of(rows)\n")

    def value(column):
        (tmp_path / "part" / "product.py").write_text(f"def of(rows):\n    return rows[:, {column}] * rows[:, 2]\n")
        words = ["explain", "ed:model", "o.npy", "--journal", "j.geex", "-q", "20", "--json", "--baseline", "2"]
        command = [sys.executable, "-B", "-m", "geex", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return {entry["feature"]: entry["value"] for entry in json.loads(done.stdout)["largest"]}

    assert value(0)["feature 0"] != 0
    assert value(1)["feature 0"] == 0
    assert value(0)["feature 0"] != 0
