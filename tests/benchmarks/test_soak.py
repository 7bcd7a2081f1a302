"""The soak finds what it looks for: a small one of each part, and attempts that go wrong on purpose."""

import json
import os

import pytest
from benchmarks.soak import outcomes, page
from benchmarks.soak.__main__ import failures
from benchmarks.soak.calls import fuzzed_calls
from benchmarks.soak.commands import fuzzed_commands
from benchmarks.soak.files import damaged_files, make_files
from benchmarks.soak.skew import skewed_hour

from geex.errors import InputError

pytest.importorskip("typer")
pytest.importorskip("PIL.Image")
pytest.importorskip("pyarrow")
pytest.importorskip("onnxruntime")

CLEAN = {"attempts": 3, "right": 1, "refused": 2, "wrong": 0, "hung": 0}
KILLED = {"kills": 2, "wrong": 0, "hung": 0, "left_running": 0, "repeated_rows": 4, "rows_in_flight": 5}


def figures(**changed):
    skew = {"processes": 4, "stopped": 1, "killed": 1, "rows": 9, "rows_asked_of_two_living_processes": 0}
    skew["longest_wait_for_a_silent_process_s"] = 61.0
    found = {"seed": 1, "seconds": 60.0, "skew": skew, "kills": {"HTTP": KILLED}}
    return {**found, "calls": CLEAN, "commands": CLEAN, "files": CLEAN, **changed}


def raise_(error):
    raise error


def test_every_outcome_is_counted(monkeypatch):
    monkeypatch.setattr(outcomes, "PATIENCE", 1)
    found = outcomes.Outcomes()
    works = [lambda: "right", lambda: raise_(InputError("x")), lambda: raise_(KeyError("x")), lambda: "wrong: bytes"]
    for work in (*works, lambda: [None for _ in iter(int, 1)]):
        found.attempt("an attempt", work)
    counted = found.figures()
    assert counted | {"examples": 3} == {"attempts": 5, "right": 1, "refused": 1, "wrong": 2, "hung": 1, "examples": 3}
    assert len(counted["examples"]) == 3


@pytest.mark.parametrize("text", outcomes.NEVER)
def test_foreign_errors_and_escapes_of_commands_are_wrong(text):
    assert outcomes.outcome_of(1, "", f"geex: {text}").startswith("wrong")
    assert outcomes.outcome_of(3, "", "").startswith("wrong")
    assert (outcomes.outcome_of(0, "", ""), outcomes.outcome_of(2, "", "")) == ("right", "refused")


@pytest.mark.parametrize(
    "wrong",
    [
        {"calls": CLEAN | {"wrong": 1}},
        {"files": CLEAN | {"hung": 1}},
        {"kills": {"Dask": KILLED | {"repeated_rows": 6}}},
        {"kills": {"processes": KILLED | {"left_running": 1}}},
    ],
    ids=str,
)
def test_what_fails_a_soak(wrong):
    assert failures(figures()) == 0
    assert failures(figures(**wrong)) == 1


def test_figures_stand_between_their_marks(tmp_path):
    path = tmp_path / "trust.md"
    path.write_text(f"before\n{page.START}\nold\n{page.END}\nafter\n")
    for _ in range(2):
        page.write(figures(), path)
    text = path.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert text.count("| 3 command lines | 1 | 2 | 0 | 0 |") == 1


@pytest.mark.slow
def test_a_small_soak_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    make_files(tmp_path)
    for part in (fuzzed_calls(60, 4), damaged_files(24, 4), fuzzed_commands(30, 4)):
        assert part["wrong"] == part["hung"] == 0, json.dumps(part, indent=1)
        assert part["right"] > 0
        assert part["refused"] > 0
    skew = skewed_hour(4, tmp_path)
    assert skew["rows_asked_of_two_living_processes"] == 0
    assert skew["rows"] > 300
    assert os.getcwd() == str(tmp_path)
