"""Commands that somebody else wrote, secrets of commands, and files that a result must not overwrite."""

import io
import json
import os
import shutil
import stat
import sys

import numpy as np
import pytest

import geex
from geex.cli import replay
from geex.cli.consent import is_own, modules_of
from geex.models import env
from tests.servers import Loopback, Reply, planted
from tests.unit.cli.test_cli import FASHION, geex_, here, refused

pytest.importorskip("typer")
__all__ = ["here"]

BUDGET = ["-q", 31, "--quiet"]
TOKEN = "sk-abcdef0123456789"


@pytest.fixture
def run(here, capsys):
    """A journal and its command in the folder `here`."""
    assert geex_(capsys, "explain", here.row, "rows.csv", "--drop", "kind", "--journal", "run.geex", *BUDGET).code == 0
    return here


class Terminal(io.StringIO):
    """Standard input of a person."""

    def isatty(self):
        return True


def stored(path, **changes):
    """Change the stored command."""
    file = path / "run.geex.command.json"
    facts = json.loads(file.read_text())
    file.write_text(json.dumps(facts | {name: change(facts[name]) for name, change in changes.items()}))


# geex resume


def test_secrets_that_resume_is_given_are_not_shown(run, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    secrets = (
        "--header",
        f"Authorization: Bearer {TOKEN}",
        "--request",
        json.dumps({"token": TOKEN, "rows": "{rows}"}),
    )
    result = geex_(capsys, "resume", "run.geex", *secrets, "--header", "X-Key: env:HOME")
    assert "--header 'Authorization: …'" in result.err
    assert "env:HOME" in result.err
    assert TOKEN not in result.err
    assert (result.code, result.error.code) == (2, "consent-refused")


@pytest.mark.parametrize("answer", ["y", "yes", "Y", "n", "", "yesno", None])
def test_a_stored_command_is_shown_and_runs_after_a_yes(run, capsys, monkeypatch, answer):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y") if answer is None else Terminal(f"{answer}\n"))
    result = geex_(capsys, "resume", "run.geex")
    assert f"geex explain {run.row} rows.csv" in result.err
    assert str(run.path) in result.err
    if answer in ("y", "yes", "Y"):
        assert result.code == 0
    else:
        assert (result.code, result.out) == (2, "")
        assert result.error.code == ("consent-missing" if answer is None else "consent-refused")


def test_variables_and_what_acts_on_a_terminal_are_shown(run, capsys):
    header = ["--header", "X: env:HOME_TOKEN", "--labels", "a\x1b[2K\r\u202eb"]
    stored(run.path, arguments=lambda words: [*words, *header])
    result = geex_(capsys, "resume", "run.geex")
    assert "variables of your environment: HOME_TOKEN" in result.err
    assert "a\\x1b[2K\\r\\u202eb" in result.err
    assert not set("\x1b\r\u202e") & set(result.err)


FOREIGN = ["os:system", "subprocess:call", "builtins:exec", "time:sleep", "numpy:sum", "geex:explain", "os.path:join"]


@pytest.mark.parametrize("model", [*FOREIGN, "nowhere_at_all:model", "__main__:x"])
def test_a_model_outside_the_folder_is_refused(run, capsys, model):
    def other(words):
        return [model if word == run.row else word for word in words]

    stored(run.path, arguments=other, model=lambda _: model)
    refused(geex_(capsys, "resume", "run.geex", "--yes"), "module-outside-folder")
    assert geex_(capsys, "resume", "run.geex", "--yes", "--model", run.row).code == 0


@pytest.mark.parametrize("option", ["--method", "--stop"])
@pytest.mark.parametrize("text", ["os.abort", "os:abort", "GEEX(family=os.abort)", "GEEX(family=os.abort(a=1))"])
def test_a_class_outside_the_folder_is_refused(run, capsys, option, text):
    stored(run.path, arguments=lambda words: [*words, option, text])
    refused(geex_(capsys, "resume", "run.geex", "--yes"), "module-outside-folder")


def test_a_model_of_ones_own_excuses_no_other(run, capsys):
    """The command names its model twice, so that --model would replace the wrong one."""
    stored(run.path, arguments=lambda words: ["os:system" if word == run.row else word for word in words])
    stored(run.path, model=lambda _: "rows.csv")
    refused(geex_(capsys, "resume", "run.geex", "--yes", "--model", run.row), "module-outside-folder")


@pytest.mark.parametrize("command", ["demo", "resume", "evaluate", "nothing"])
def test_no_other_command_is_stored(run, capsys, command):
    stored(run.path, arguments=lambda words: [command, *words[1:]])
    refused(geex_(capsys, "resume", "run.geex", "--yes"), "command-unreadable")


def test_a_journal_that_was_copied_runs_nothing(run, capsys):
    (run.path / "copy").mkdir()
    for name in ("run.geex", "run.geex.command.json"):
        shutil.copy(name, "copy")
    refused(geex_(capsys, "resume", "copy/run.geex", "--yes"), "journal-moved")
    stored(run.path, folder=lambda folder: f"{folder}/nowhere")
    refused(geex_(capsys, "resume", "run.geex", "--yes"), "journal-moved")


def test_modules_that_are_found_and_not_imported(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("")
    (tmp_path / "mine_alone.py").write_text("raise SystemExit")
    (tmp_path / "a_package").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "linked.py").write_text("")
    (tmp_path / "inside").mkdir()
    os.symlink(outside / "linked.py", tmp_path / "inside" / "linked.py")
    assert is_own("mine_alone", tmp_path)
    assert is_own("a_package", tmp_path)
    assert not is_own("json", tmp_path)
    assert not is_own("mine_alone", outside)
    assert not is_own("linked", tmp_path / "inside")
    assert modules_of({"model": "a.b:c", "method": "d:E(f=g.h.I(2))", "stop": "Precise"}) == ["a", "d", "g"]
    assert modules_of({"model": "https://a:b@c", "method": "(((", "stop": "\0"}) == []


# secrets


def test_files_are_for_their_owner_alone(run):
    for name in ("run.geex", "run.geex.command.json"):
        assert stat.S_IMODE((run.path / name).stat().st_mode) == 0o600, name


TEMPLATES = [
    {"auth": {"user": ["me-myself"]}, "x": "{rows}"},
    {"session": {"a": [{"b": "the-secret"}]}},
    {"prompt": f"use {TOKEN} now", "rows": "{rows}"},
    {TOKEN: "{rows}"},
    {"password": 12345678},
    ["Bearer abcdefgh"],
    TOKEN,
]


@pytest.mark.parametrize("template", TEMPLATES, ids=str)
def test_secrets_of_a_template_are_in_no_file(template):
    text = json.dumps(template)
    for words in (["--request", text], [f"--request={text}"], ["--request", text[:-1]]):
        told = replay.command_line(words)
        for secret in ("me-myself", "the-secret", TOKEN, "12345678", "abcdefgh"):
            assert secret not in told
    assert "{rows}" in replay.command_line(["--request", '{"token": "{rows}"}'])
    assert "50" in replay.command_line(["--request", '{"max_tokens": 50, "rows": "{rows}"}'])


def test_a_template_names_a_variable(here, capsys, monkeypatch):
    """It is sent, stored by its name, and sent again by a resumed run."""
    monkeypatch.setenv("SERVICE_TOKEN", TOKEN)
    template = json.dumps({"rows": "{rows}", "auth": [{"key": "env:SERVICE_TOKEN"}]})
    scored = Loopback(
        lambda asked: Reply(json.dumps([planted(row) for row in json.loads(asked.body)["rows"]]).encode())
    )
    np.save("x.npy", np.ones(4))
    with scored as server:
        words = ["explain", server.url, "x.npy", "--request", template, "--journal", "run.geex", "-o", "a.html"]
        assert geex_(capsys, *words, *BUDGET).code == 0
        assert geex_(capsys, "resume", "run.geex", "--yes", "-q", 41).code == 0
        assert geex_(capsys, "resume", "run.geex", "--yes", "-q", 51, "--request", template).code == 0
    assert all(json.loads(asked.body)["auth"] == [{"key": TOKEN}] for asked in server.requests)
    for name in ("run.geex.command.json", "a.html", "run.geex"):
        content = (here.path / name).read_bytes()
        assert TOKEN.encode() not in content
        assert (b"env:SERVICE_TOKEN" in content) == (name != "run.geex")
    assert env("SERVICE_TOKEN").reveal() == TOKEN


# results and the files that are read


@pytest.fixture
def files(here, capsys):
    """Everything that a command may read, with names that a result may have."""
    shutil.copy("photo.png", "me.png")
    np.save("map.npy", np.arange(600).reshape(20, 30) // 100)
    shutil.copy("labels.txt", "labels.json")
    (here.path / "labels.json").write_text('["a", "b"]')
    words = ["explain", here.photo, "photo.png", "-q", 61, "--quiet", "--journal", "run.npz", "-o", "cat.json.npz"]
    assert geex_(capsys, *words).code == 0
    os.rename("cat.json.npz", "cat.json")
    os.symlink("me.png", "linked.png")
    os.link("me.png", "hard.png")
    os.symlink("cat.json", "cat.png")
    (here.path / "sub").mkdir()
    return here


def everything(path):
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}


EXPLAIN = ["explain", "{photo}", "me.png", "-q", 61, "--quiet"]


@pytest.mark.parametrize(
    "words",
    [
        [*EXPLAIN, "-o", "me.png"],
        [*EXPLAIN, "-o", "fine.npz", "-o", "./sub/../me.png"],
        [*EXPLAIN, "-o", "{path}/me.png"],
        [*EXPLAIN, "-o", "linked.png"],
        [*EXPLAIN, "-o", "hard.png"],
        [*EXPLAIN, "--labels", "labels.json", "-o", "labels.json"],
        [*EXPLAIN, "--journal", "run.npz", "-o", "run.npz"],
        [*EXPLAIN, "--journal", "new.npz", "-o", "sub/../new.npz"],
        [*EXPLAIN, "--journal", "run.npz", "-o", "run.npz.command.json"],
        [*EXPLAIN, "--journal", "new", "--labels", "new.command.json"],
        [*EXPLAIN[:2], "linked.png", "-o", "me.png"],
        ["compare", "{photo}", "me.png", "-m", "geex", "-m", "rise", "-q", 61, "-o", "me.png"],
        ["compare", "{photo}", "me.png", "-m", "rise", "--labels", "labels.json", "-o", "labels.json"],
        ["evaluate", "{photo}", "cat.json", "-o", "cat.json"],
        ["evaluate", "{photo}", "cat.json", "-o", "cat.png"],
        ["show", "cat.json", "-o", "cat.json"],
        ["show", "cat.json", "-o", "cat.png"],
        ["show", "cat.json", "--labels", "labels.json", "-o", "labels.json"],
        ["show", "run.npz", "-o", "run.npz"],
        ["show", "run.npz", "-o", "run.npz.command.json"],
        ["show", "run.npz", "-o", "photo.png"],
        ["resume", "run.npz", "--yes", "-o", "run.npz"],
        ["resume", "run.npz", "--yes", "-o", "photo.png"],
        ["resume", "run.npz", "--yes", "-o", "run.npz.command.json"],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_a_result_overwrites_nothing_that_is_read(files, capsys, words):
    if "new.command.json" in words:
        shutil.copy("labels.json", "new.command.json")
    before, asked = everything(files.path), list(sys.modules[files.module].asked)
    result = geex_(capsys, *(str(word).format(photo=files.photo, path=files.path) for word in words))
    refused(result, "output-is-read")
    assert everything(files.path) == before
    assert sys.modules[files.module].asked == asked, "refused before a query"


def test_a_model_and_a_baseline_are_read_too(here, capsys):
    pytest.importorskip("onnxruntime")
    shutil.copy(FASHION, "network.onnx")
    os.symlink("network.onnx", "network.png")
    np.save("array.npy", np.zeros((1, 28, 28)))
    os.symlink("array.npy", "array.json")
    shutil.copy("array.npy", "map.npy")
    os.link("map.npy", "map.json")
    for output, more in (
        ("network.png", []),
        ("array.json", ["--baseline", "array.npy"]),
        ("map.json", ["--features", "map.npy"]),
    ):
        words = ["explain", "network.onnx", "photo.png", *more, "-o", output]
        refused(geex_(capsys, *words), "output-is-read")


def test_other_files_are_overwritten_as_before(here, capsys):
    words = ["explain", here.row, "rows.csv", "--drop", "kind", *BUDGET, "-o", "a.json", "-o", "-.html"]
    assert geex_(capsys, *words).code == 0
    assert geex_(capsys, *words).code == 0
    assert isinstance(json.loads((here.path / "a.json").read_text()), dict)
    assert geex.__version__


# what acts on a terminal

CLEAR = "\x1b[2J\x1b]0;x\x07\u202e"
TABLE = f"a{CLEAR},b\n1,2\n3,5\n"


def quiet_on_a_terminal(result):
    """Neither stream holds a sequence that a terminal obeys."""
    assert result.out + result.err
    assert not set("\x1b\x07\u202e") & set(result.out + result.err)


def test_names_of_columns_outputs_and_files_act_on_no_terminal(here, capsys):
    (here.path / "t.csv").write_text(TABLE)
    (here.path / "l.txt").write_text(f"one{CLEAR}\ntwo\n")
    words = ["explain", here.row, "t.csv", "--labels", "l.txt", "-t", 0, *BUDGET]
    shown = geex_(capsys, *words, "-o", f"o{CLEAR[:4]}.npz", "-o", "o.npz")
    assert shown.code == 0
    assert "\\x1b[2J" in shown.out
    quiet_on_a_terminal(shown)
    for more in (
        ["show", "o.npz"],
        ["evaluate", here.row, f"o{CLEAR[:4]}.npz", "o.npz"],
        ["compare", here.row, "t.csv", "--labels", "l.txt", "-m", "random", "-m", "rise" + CLEAR, "-q", 31],
        ["explain", here.row, "t.csv", "--drop", f"c{CLEAR}"],
        ["explain", here.row, f"none{CLEAR}.csv"],
        ["explain", f"none{CLEAR}.onnx", "t.csv"],
        ["explain", here.row, "t.csv", f"--none{CLEAR}"],
        ["explain", here.row, "t.csv", "--seed", f"{CLEAR}"],
        [f"none{CLEAR}"],
    ):
        quiet_on_a_terminal(geex_(capsys, *more))


def test_errors_and_warnings_of_a_model_act_on_no_terminal(here, capsys):
    (here.path / "loud.py").write_text(
        "import warnings\ndef model(rows):\n    warnings.warn('w\\x1b[2J')\n    raise RuntimeError('e\\x1b[2J\\x07')\n"
    )
    sys.modules.pop("loud", None)
    result = geex_(capsys, "explain", "loud:model", "rows.csv", "--drop", "kind", *BUDGET)
    quiet_on_a_terminal(result)
    quiet_on_a_terminal(geex_(capsys, "--debug", "explain", "loud:model", "rows.csv", "--drop", "kind", *BUDGET))
    (here.path / "louder.py").write_text("raise KeyError('k\\x1b[2J')\n")
    quiet_on_a_terminal(geex_(capsys, "explain", "louder:model", "rows.csv"))
