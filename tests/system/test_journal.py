"""No answer is lost or paid for twice: journals, and what befalls them."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import geex
from geex import errors
from geex._journal.journal import MINE, STORED, THEIRS, Journal, without
from geex.methods import RISE
from tests.helpers import explained, raises
from tests.unit.query.test_session import METHOD, Counted, X, model, same

SECRET = "hunter2-secret-token"
MOST_93 = geex.Limits(rows=64, most_sent=93, twice=False)


class Withheld:
    """A model with a secret."""

    def __init__(self):
        self.headers = {"Authorization": SECRET}
        self.counted = Counted()

    def __call__(self, z):
        return self.counted(z)

    def __repr__(self):
        return f"Withheld({self.headers})"


def test_spans():
    assert without((0, 10), []) == [(0, 10)]
    assert without((0, 10), [(0, 3), (5, 6)]) == [(3, 5), (6, 10)]
    assert without((2, 8), [(0, 3), (3, 4), (7, 12)]) == [(4, 7)]
    assert without((2, 8), [(0, 9)]) == []


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("method", [METHOD, geex.Regression(), RISE(cells=3)], ids=str)
def test_a_finished_run_is_not_asked_again(tmp_path, method, concurrency):
    path = tmp_path / "run.geex"
    limits = geex.Limits(concurrency=concurrency, compare=False)
    plain = explained(model, X, method, 700, limits=limits)
    first, second, more = Counted(), Counted(), Counted()
    one = explained(first, X, method, 700, limits=limits, journal=path, batch=64)
    same(one, plain)
    assert first.rows == plain.queries
    same(explained(second, X, method, 700, limits=limits, journal=path), plain)
    assert second.calls == 0
    longer = explained(more, X, method, 1400, limits=limits, journal=path)
    same(longer, explained(model, X, method, 1400, limits=limits))
    assert more.rows == longer.queries - plain.queries


@pytest.mark.parametrize("changed", [{"x": X + 1e-9}, {"baseline": 0.1}, {"seed": 1}, {"method": geex.GEEX(0.6)}])
def test_another_question_is_asked_anew(tmp_path, changed):
    settings = {"x": X, "method": METHOD, "queries": 100, "journal": tmp_path / "run.geex"}
    explained(model, **settings)
    counted = Counted()
    other = explained(counted, **settings | changed)
    assert counted.rows >= 98, "all of the plan, if not its ends"
    same(other, explained(model, **settings | changed | {"journal": None}))
    again = Counted()
    explained(again, **settings)
    assert again.rows == 0, "the first one is still there"


def test_an_error_keeps_what_is_in_and_says_so(tmp_path):
    path = tmp_path / "run.geex"

    def fails(call, z):
        if call == 8:
            raise ValueError("broken")

    first, second = Counted(fails), Counted()
    with raises(errors.ModelRaised, "model-raised") as caught:
        explained(first, X, METHOD, 1002, batch=50, journal=path)
    assert any(str(path) in note for note in caught.value.__notes__)
    same(explained(second, X, METHOD, 1002, journal=path), explained(model, X, METHOD, 1002))
    assert first.rows + second.rows == 1002


def test_ctrl_c_goes_on(tmp_path):
    path = tmp_path / "run.geex"

    def interrupted(call, z):
        if call == 8:
            raise KeyboardInterrupt

    first, second = Counted(interrupted), Counted()
    with pytest.warns(errors.PartialRun, match=f"journal='{path}'"):
        part = explained(first, X, METHOD, 1002, batch=50, journal=path)
    assert part.partial
    again = geex.estimate(path)
    assert again.partial
    same(again, part)
    same(explained(second, X, METHOD, 1002, journal=path), explained(model, X, METHOD, 1002))
    assert first.rows + second.rows == 1002


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_stored_answers_answer_other_questions(tmp_path, library):
    path = tmp_path / "run.geex"
    x, network = X, model
    if library == "torch":
        torch = pytest.importorskip("torch")
        x, network = torch.from_numpy(X).float(), lambda z: torch.from_numpy(model(z.numpy()))
    method = geex.Presence(alpha=0.5)
    kept = explained(network, x, method, 1003, journal=path, limits=None, bounds=(-9, 9), baseline=[0.0, 1.0])
    again = geex.estimate(path)
    assert again.numpy().values.tobytes() == kept.numpy().values.tobytes()
    assert (again.queries, again.noise, again.partial) == (kept.queries, 0.0, False)
    settings = {"target": "all", "score": "softmax"}
    both = geex.estimate(path, **settings), geex.estimate(kept, **settings)
    assert both[0].numpy().values.tobytes() == both[1].numpy().values.tobytes()
    regression = geex.Regression(method)
    fit = explained(network, x, regression, 1003, limits=None, bounds=(-9, 9), baseline=[0.0, 1.0])
    for source in (path, kept):
        other = geex.estimate(source, method=regression)
        assert other.numpy().values.tobytes() == fit.numpy().values.tobytes()
        assert other.settings == fit.settings
    with raises(errors.JournalError, "journal-lacks-answers"):
        geex.estimate(path, method=geex.GEEX(0.5))
    with raises(errors.MethodError, "method-of-other-queries"):
        geex.estimate(kept, method=geex.GEEX(0.5))


def test_runs_of_a_journal(tmp_path):
    path = tmp_path / "run.geex"
    groups = geex.Groups(np.arange(30).reshape(6, 5) // 4)
    found = geex.explain_batch(model, [X, X + 1], method=METHOD, features=groups, queries=300, journal=path)
    for which, explanation in enumerate(found):
        assert geex.estimate(path, which=which).values.tobytes() == explanation.values.tobytes()
    assert geex.estimate(path).values.tobytes() == found[-1].values.tobytes()
    with raises(errors.JournalError, "which-not-a-run"):
        geex.estimate(path, which=2)


def test_what_is_the_users_own_is_named_and_given_again(tmp_path):
    path = tmp_path / "run.geex"

    def doubled(answers):
        return 2 * answers

    kept = explained(model, X, METHOD, 300, journal=path, score=doubled)
    with pytest.raises(errors.JournalError) as found:
        geex.estimate(path)
    assert found.value.code == "journal-unknown-name"
    assert "doubled" in str(found.value)
    assert geex.estimate(path, score=doubled).values.tobytes() == kept.values.tobytes()
    assert geex.estimate(path, score="answer").output == pytest.approx(kept.output / 2)


def test_secrets_are_in_no_journal(tmp_path):
    path = tmp_path / "run.geex"
    explanation = explained(Withheld(), X, METHOD, 300, journal=path)
    saved = explanation.save(tmp_path / "saved.npz")
    assert SECRET.encode() not in path.read_bytes()
    assert SECRET not in repr(explanation.settings)
    assert SECRET.encode() not in saved.read_bytes()


# what is no journal


def test_foreign_files_are_refused_and_left_alone(tmp_path):
    text, database, future = tmp_path / "notes.txt", tmp_path / "other.db", tmp_path / "future.geex"
    text.write_text("dear diary, " * 500)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE answers (question, answer)")
    connection.close()
    explained(model, X, METHOD, 100, journal=future)
    with sqlite3.connect(future) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    codes = {text: "journal-other-file", database: "journal-other-database", future: "journal-format"}
    for path, code in codes.items():
        before, counted = path.read_bytes(), Counted()
        with raises(errors.JournalError, code):
            explained(counted, X, METHOD, 100, journal=path)
        with raises(errors.JournalError, code):
            geex.estimate(path)
        assert counted.calls == 0, "nothing is asked that cannot be kept"
        assert path.read_bytes() == before


def test_a_folder_and_nothing(tmp_path):
    with raises(errors.JournalError, "journal-is-a-folder"):
        explained(model, X, METHOD, 100, journal=tmp_path)
    with raises(errors.JournalError, "journal-missing"):
        geex.estimate(tmp_path / "none.geex")
    with raises(errors.JournalError, "journal-not-writable"):
        explained(model, X, METHOD, 100, journal=tmp_path / "none" / "run.geex")
    assert not (tmp_path / "none.geex").exists()


def test_an_empty_file_is_a_new_journal(tmp_path):
    path = tmp_path / "run.geex"
    path.touch()
    same(explained(model, X, METHOD, 100, journal=path), explained(model, X, METHOD, 100))


@pytest.mark.parametrize("left", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_refused(tmp_path, left):
    path = tmp_path / "run.geex"
    explained(model, X, METHOD, 5000, journal=path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(left * len(whole))])
    counted = Counted()
    with pytest.raises(errors.JournalError) as caught:
        explained(counted, X, METHOD, 5000, journal=path)
    assert caught.value.code in ("journal-damaged", "journal-cut-short")
    assert counted.calls == 0
    assert path.read_bytes() == whole[: int(left * len(whole))]


def test_a_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "run.geex"
    explanation = explained(model, X, METHOD, 5000, journal=path)
    whole = bytearray(path.read_bytes())
    place = bytes(whole).index(explanation.record.answers[0][900].tobytes())
    whole[place] ^= 1
    path.write_bytes(whole)
    with raises(errors.JournalError, "journal-damaged-answers"):
        geex.estimate(path)


@contextmanager
def small_disk(folder, options):
    """A tmpfs over `folder`, which takes root."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a tmpfs takes root on Linux")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_read_only_folder(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    counted = Counted()
    with small_disk(folder, "size=1m"):
        explained(model, X, METHOD, 300, journal=folder / "run.geex")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        for name in ("run.geex", "new.geex"):
            with raises(errors.JournalError, "journal-not-writable"):
                explained(counted, X, METHOD, 1000, journal=folder / name)
        assert not geex.estimate(folder / "run.geex").partial, "reading is still possible"
    assert counted.calls == 0


def test_a_folder_that_may_not_be_written_to(tmp_path):
    if os.name != "posix" or not os.geteuid():
        pytest.skip("root may write anywhere; the read-only tmpfs is tested instead")
    tmp_path.chmod(0o500)
    with raises(errors.JournalError, "journal-not-writable"):
        explained(model, X, METHOD, 300, journal=tmp_path / "run.geex")


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_full_disk_loses_nothing_that_was_committed(tmp_path, concurrency):
    folder = tmp_path / "disk"
    folder.mkdir()
    limits = geex.Limits(concurrency=concurrency, compare=False)
    whole = explained(model, X, METHOD, 20000, limits=limits)
    with small_disk(folder, "size=1m"):
        path = folder / "run.geex"
        first, second = Counted(), Counted()
        with raises(errors.JournalError, "journal-disk-full"):
            explained(first, X, METHOD, 20000, batch=100, journal=path, limits=limits)
        kept = committed(path)
        # it may be a claim that found no room: then all that was asked is in
        assert 1000 < kept <= first.rows <= kept + 100 * 2 * concurrency
        subprocess.run(["mount", "-o", "remount,size=16m", str(folder)], check=True)
        same(explained(second, X, METHOD, 20000, batch=100, journal=path, limits=limits), whole)
        assert second.rows == whole.queries - kept


def committed(path):
    """How many rows are in a journal."""
    with Journal(path, write=False) as journal:
        found = journal.database.connection.execute("SELECT coalesce(sum(stop - start), 0) FROM answers")
        return found.fetchone()[0]


# several processes


def test_another_model_on_the_same_journal(tmp_path):
    """Its answers have another width: it is refused, and the journal stays good."""
    path = tmp_path / "run.geex"
    first = explained(lambda z: z.sum((1, 2)), X, METHOD, 100, journal=path)
    with raises(errors.AnswerError, "answer-width-of-journal"):
        explained(lambda z: np.stack([z.sum((1, 2))] * 2, axis=1), X, METHOD, 200, journal=path)
    again = explained(lambda z: z.sum((1, 2)), X, METHOD, 100, journal=path)
    assert again.values.tobytes() == first.values.tobytes()


def test_claims(tmp_path):
    path = tmp_path / "run.geex"
    with Journal(path) as one, Journal(path) as other:
        one.store("plan", 0, np.ones((4, 2)))
        assert one.claim("plan", 0, 10) == [(0, 4, STORED), (4, 10, MINE)]
        assert other.claim("plan", 2, 12) == [(2, 4, STORED), (4, 10, THEIRS), (10, 12, MINE)]
        one.store("plan", 4, np.full((3, 2), 2.0))
        assert other.claim("plan", 2, 10) == [(2, 7, STORED), (7, 10, THEIRS)]
        one.release("plan", 8, 9)
        assert other.claim("plan", 7, 10) == [(7, 8, THEIRS), (8, 9, MINE), (9, 10, THEIRS)]
        assert other.read("plan", 3, 6).tolist() == [[1, 1], [2, 2], [2, 2]]


def test_the_first_answer_stays(tmp_path):
    with Journal(tmp_path / "run.geex") as journal:
        journal.store("plan", 2, np.ones((3, 1)))
        journal.store("plan", 0, np.zeros((9, 1)))
        assert journal.read("plan", 0, 9).ravel().tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0]


def test_the_claims_of_the_dead_are_void(tmp_path):
    path = tmp_path / "run.geex"
    lines = ["from geex._journal.journal import Journal", f"Journal({str(path)!r}).claim('plan', 0, 5)"]
    code = "\n".join([*lines, "print(flush=True)", "input()"])
    process = start(code=code, stdin=subprocess.PIPE)
    process.stdout.readline()
    with Journal(path) as journal:
        assert journal.claim("plan", 0, 5) == [(0, 5, THEIRS)]
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert journal.claim("plan", 0, 5) == [(0, 5, MINE)], "a zombie is dead too"
    process.communicate()


SLEEPER = """
import sys, time
from geex._journal import journal, owners

journal.BEAT = 0.02
mine = journal.Journal(sys.argv[1])
for start in (0, 5):
    mine.claim("plan", start, start + 5)
    print(start, flush=True)
    input()
"""


def test_an_owner_that_stands_still_and_is_killed_blocks_nobody(tmp_path, monkeypatch):
    """Stopped, it is waited for until it is void; it wakes up, claims more rows, and is killed."""
    monkeypatch.setattr("geex._journal.owners.LEASE", 0.3)
    path = tmp_path / "run.geex"
    process = start(path, code=SLEEPER, stdin=subprocess.PIPE)
    process.stdout.readline()
    with Journal(path) as journal:
        assert journal.claim("plan", 0, 5) == [(0, 5, THEIRS)]
        process.send_signal(signal.SIGSTOP)
        until = time.monotonic() + 30
        while journal.claim("plan", 0, 5) != [(0, 5, MINE)]:
            assert time.monotonic() < until, "waited for a process that stands still"
            time.sleep(0.01)
        process.send_signal(signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        assert journal.claim("plan", 5, 10) == [(5, 10, THEIRS)]
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert journal.claim("plan", 5, 10) == [(5, 10, MINE)]
    process.communicate()


def test_many_may_open_and_close_it_at_one_moment(tmp_path):
    stored = []

    def work(path, start, i):
        start.wait()
        for _ in range(3):
            with Journal(path) as journal:
                journal.store("plan", i, np.full((1, 2), i))
        stored.append(i)

    for turn in range(20):
        path, start = tmp_path / f"{turn}.geex", threading.Barrier(4)
        threads = [threading.Thread(target=work, args=(path, start, i)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with Journal(path, write=False) as journal:
            np.testing.assert_array_equal(journal.read("plan", 0, 4)[:, 0], range(4))
    assert len(stored) == 4 * 20


def test_ctrl_c_while_another_process_asks(tmp_path, monkeypatch):
    """It comes while the journal is looked at, where it is noted and not raised; the other is not waited for."""
    path, looks = tmp_path / "run.geex", []
    plan = explained(model, X, METHOD, 502).record.plans[0]

    def looked(journal, fingerprint, start, stop):
        looks.append(start)
        if len(looks) == 20:
            signal.raise_signal(signal.SIGINT)
        if len(looks) == 200:
            other.close()  # it is waited for all the same: this ends the run, and the test
        return claim(journal, fingerprint, start, stop)

    with Journal(path) as other:
        other.claim(plan.fingerprint, 300, 400)
        claim = Journal.claim
        monkeypatch.setattr(Journal, "claim", looked)
        with pytest.warns(errors.PartialRun):
            part = explained(model, X, METHOD, 502, batch=100, journal=path)
    assert len(part.record.answers[0]) == 300


def test_a_journal_that_is_being_made_is_not_read_yet(tmp_path):
    (tmp_path / "run.geex").touch()
    with raises(errors.JournalError, "journal-empty"):
        geex.estimate(tmp_path / "run.geex")


@pytest.mark.parametrize("batches", [(50, 50), (16, 70)])
def test_two_threads_of_explaining_share_the_work(tmp_path, batches):
    path = tmp_path / "run.geex"
    asked = Counted(lambda call, z: time.sleep(0.001))
    found = {}

    def run(i):
        found[i] = explained(asked, X, METHOD, 2002, batch=batches[i], journal=path)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    plain = explained(model, X, METHOD, 2002)
    same(found[0], plain)
    same(found[1], plain)
    assert asked.rows == 2002


WRITER = """
import sys, time
import geex
from tests.unit.query.test_session import METHOD, X, model

def counted(z):
    time.sleep(0.002)
    with open(sys.argv[2], "a") as file:
        file.write(f"{len(z)}\\n")
    return model(z)

batch = int(sys.argv[3])
found = geex.explain(counted, X, method=METHOD, queries=3000, batch=batch, journal=sys.argv[1], progress=False)
print(found.values.tobytes().hex())
"""


def start(*arguments, code=WRITER, stdin=None):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), str(root / "src")])
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True, env=environment)


def test_two_processes_on_one_journal(tmp_path):
    """Neither is told of the other; one is killed half way, and a third takes over what it had claimed."""
    path, log = tmp_path / "run.geex", tmp_path / "asked"
    plain = geex.explain(model, X, method=METHOD, queries=3000, progress=False)
    writers = [start(path, log, batch) for batch in (40, 25)]
    while not log.exists() or log.read_text().count("\n") < 20:
        time.sleep(0.01)
    writers[0].send_signal(signal.SIGKILL)
    writers.append(start(path, log, 60))
    for writer in writers[1:]:
        assert writer.communicate(timeout=60)[0].strip() == plain.values.tobytes().hex()
    writers[0].communicate()
    asked = sum(map(int, log.read_text().split()))
    assert plain.queries <= asked <= plain.queries + 40, "one batch was in flight when its process was killed"


STANDING = """
import sys, time
import geex
from geex._journal import journal, owners

journal.BEAT = 0.05
owners.LEASE = 1.0
from tests.unit.query.test_session import METHOD, X, model

def slow(z):
    with open(sys.argv[2], "a") as file:
        file.write(f"{len(z)}\\n")
    time.sleep(0.01)
    return model(z)

found = geex.explain(slow, X, method=METHOD, queries=1000, batch=20, journal=sys.argv[1], progress=False)
print(found.values.tobytes().hex())
"""


@pytest.mark.slow
def test_a_run_that_stands_still_and_is_killed_is_taken_over(tmp_path):
    """SIGSTOP as a closed lid; a second run takes the rows over, the first wakes up, stops again, and is killed."""
    path, log = tmp_path / "run.geex", tmp_path / "asked"
    plain = geex.explain(model, X, method=METHOD, queries=1000, progress=False)
    first = start(path, log, code=STANDING)
    while not log.exists() or log.read_text().count("\n") < 5:
        time.sleep(0.01)
    first.send_signal(signal.SIGSTOP)
    second = start(path, log, code=STANDING)
    time.sleep(2.5)  # more than a lease: its claims are void
    first.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    first.send_signal(signal.SIGSTOP)
    first.kill()
    assert second.communicate(timeout=60)[0].strip() == plain.values.tobytes().hex()
    first.communicate()
    asked = sum(map(int, log.read_text().split()))
    assert plain.queries <= asked <= plain.queries + 2 + 2 * 20, "a batch at each of its two stops, and the comparison"


def test_rows_of_another_process_do_not_take_the_place_of_rows_that_may_not_be_sent(tmp_path, monkeypatch):
    """A job is claimed around rows that another process answers meanwhile, and the budget ends before them."""
    method, x = geex.Presence(), np.linspace(0.5, 1.5, 20)
    whole, path, plans, claim = tmp_path / "whole.geex", tmp_path / "run.geex", [], Journal.claim
    settings = {"limits": geex.Limits(rows=64, twice=False), "batch": 64}

    def steep(z):
        return np.tanh(z @ x) + z[:, 0] * z[:, 1]

    def listed(journal, fingerprint, start, stop):
        plans.append(fingerprint)
        return claim(journal, fingerprint, start, stop)

    monkeypatch.setattr(Journal, "claim", listed)
    explained(steep, x, method, 300, **settings | {"journal": whole})
    with Journal(whole, write=False) as answered, Journal(path) as other:
        answers = answered.read(plans[-1], 100, 110)

        def answered_meanwhile(journal, fingerprint, start, stop):
            found = claim(journal, fingerprint, start, stop)
            if any(state == THEIRS for *_, state in found):
                other.store(fingerprint, 100, answers)
            return found

        claim(other, plans[-1], 100, 110)
        monkeypatch.setattr(Journal, "claim", answered_meanwhile)
        with pytest.warns(errors.PartialRun):
            found = explained(steep, x, method, 300, **settings | {"journal": path, "limits": MOST_93})
    with Journal(path, write=False) as journal:
        assert journal.stored(plans[-1]) == [(0, 91), (100, 110)]
    assert found.sent == 93
    same(geex.estimate(path), found)
