"""Claims of nobody are void, and no two clocks are compared."""

import threading
from types import SimpleNamespace

import pytest

from geex._journal import owners
from geex._journal.journal import MINE, THEIRS, Journal
from tests.helpers import explained
from tests.unit.query.test_session import METHOD, X, model, same


@pytest.fixture
def clock(monkeypatch):
    """The clock of this process; `clock.now` moves it."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("geex._journal.owners.time.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def pair(tmp_path):
    """A journal opened by this process and by one that looks like one of another machine."""
    with Journal(tmp_path / "run.geex") as near, Journal(tmp_path / "run.geex") as far:
        far.database.connection.execute("UPDATE owners SET host = 'elsewhere' WHERE id = ?", (far.owners.own.id,))
        yield near, far


def wait(clock, near, seconds):
    """Look at the claims once in a second."""
    for _ in range(int(seconds)):
        clock.now += 1
        near.claim("other", 0, 1)


def states(journal, start, stop):
    return [state for _, _, state in journal.claim("plan", start, stop)]


def beat(journal):
    with journal.database.commits() as database:
        journal.owners.beat(database)


def test_a_claim_without_heartbeat_is_void(pair, clock):
    near, far = pair
    far.claim("plan", 0, 5)
    assert states(near, 0, 5) == [THEIRS]
    wait(clock, near, owners.LEASE - 2)
    beat(far)
    wait(clock, near, owners.LEASE - 2)
    assert states(near, 0, 5) == [THEIRS]
    wait(clock, near, 4)
    assert states(near, 0, 5) == [MINE]


@pytest.mark.parametrize("apart", [-7200.0, 7200.0])
def test_a_clock_that_is_wrong_changes_nothing(pair, clock, apart, monkeypatch):
    near, far = pair
    monkeypatch.setattr("time.time", lambda: 1.7e9 + apart)
    beat(far)
    far.claim("plan", 0, 5)
    monkeypatch.setattr("time.time", lambda: 1.7e9)
    assert states(near, 0, 5) == [THEIRS]
    wait(clock, near, owners.LEASE + 2)
    assert states(near, 0, 5) == [MINE]


def test_a_process_that_stood_still_itself_does_not_count_that_time(pair, clock):
    near, far = pair
    far.claim("plan", 0, 5)
    assert states(near, 0, 5) == [THEIRS]
    clock.now += 10 * owners.LEASE
    assert states(near, 0, 5) == [THEIRS]


def test_an_owner_that_was_void_registers_again(pair, clock):
    near, far = pair
    far.claim("plan", 0, 5)
    states(near, 0, 5)
    wait(clock, near, owners.LEASE + 2)
    assert states(near, 0, 5) == [MINE]
    far.claim("plan", 5, 9)
    assert states(near, 5, 9) == [THEIRS]
    far.owners.own.end()  # and then it ends without a word, on this machine
    assert states(near, 5, 9) == [MINE], "nobody waits for a claim of the dead"


def test_an_owner_that_comes_back_with_the_same_count_of_beats_is_alive(pair, clock):
    near, far = pair
    beat(far)
    far.claim("plan", 0, 5)
    states(near, 0, 5)
    wait(clock, near, owners.LEASE + 2)
    assert states(near, 0, 5) == [MINE]
    beat(far)
    far.claim("plan", 5, 9)
    assert states(near, 5, 9) == [THEIRS]


def test_a_claim_of_nobody_is_void(pair):
    near, far = pair
    far.claim("plan", 0, 5)
    far.database.connection.execute("DELETE FROM owners WHERE id = ?", (far.owners.own.id,))
    assert states(near, 0, 5) == [MINE]


def test_who_is_waited_for_is_printed(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("geex._query.in_flight.NOTICE", 0.05)
    plain = explained(model, X, METHOD, 502)
    path = tmp_path / "run.geex"
    with Journal(path) as other:
        other.claim(plain.record.plans[0].fingerprint, 300, 400)
        threading.Timer(0.5, other.close).start()
        with caplog.at_level("WARNING", "geex"):
            same(explained(model, X, METHOD, 502, journal=path), plain)
    (said,) = [record.getMessage() for record in caplog.records]
    assert f"process {other.owners.own.pid}" in said
