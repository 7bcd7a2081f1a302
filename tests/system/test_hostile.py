"""A server that does what no server should: nothing is silently wrong, nothing waits for ever, nothing is unbounded."""

import json
import resource
import signal
import threading
import time
from collections import Counter

import numpy as np
import pytest

import geex
from geex import errors
from tests.helpers import raises
from tests.hostile_server import LIMITS, HostileServer
from tests.servers import Reply

pytest.importorskip("httpx")

X = np.linspace(-0.6, 0.9, 12)
ROWS = np.linspace(-1, 1, 36).reshape(3, 12)
SETTINGS = {"method": geex.GEEX(sigma=0.4), "target": 0, "progress": False}
# Far longer than any deadline in these tests, and far shorter than the faults last.
LONG = 20.0
STUCK = ["drip headers", "endless 1xx", "drip body", "silence", "gzip of nothing", "gzip of empty blocks"]


def codes(error):
    """The codes of an error and of its causes."""
    found = []
    while error is not None:
        found.append(getattr(error, "code", ""))
        error = error.__cause__
    return found


def limits(**changed):
    settings = {"attempts": 6, "backoff": 0.001, "longest": 0.01, "twice": False, "compare": False, **changed}
    return geex.Limits(**settings)


def explained(server, queries=200, protocol=None, **settings):
    limited = settings.pop("limits", LIMITS)
    model = server.model(limits=limited, **({} if protocol is None else {"protocol": protocol}))
    return geex.explain(model, X, queries=queries, **{**SETTINGS, **settings})


def same(one, other):
    assert one.values.tobytes() == other.values.tobytes()
    assert one.stderr.tobytes() == other.stderr.tobytes()


@pytest.fixture(scope="module")
def plain():
    with HostileServer() as server:
        return explained(server)


def in_time(call):
    """Run the call in a thread; fail if it hangs."""
    found = []

    def run():
        try:
            found.append(call())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive(), "it hangs"
    return found[0]


@pytest.mark.parametrize("protocol", [None, "v2"])
@pytest.mark.parametrize("fault", STUCK)
def test_a_timeout_is_a_deadline_for_everything(fault, protocol):
    with HostileServer(fault) as server:
        model = server.model(timeout=0.3, **({} if protocol is None else {"protocol": protocol}))
        error = in_time(lambda: model(ROWS))
    assert isinstance(error, errors.TransientError)
    assert error.code == "service-timeout"


def test_a_deadline_ends_a_name_lookup_that_hangs(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: release.wait(60))
    model = geex.models.http("http://models.example/score", protocol="json", timeout=0.3)
    error = in_time(lambda: model(ROWS))
    release.set()
    assert isinstance(error, errors.TransientError)
    assert error.code == "service-timeout"


@pytest.mark.parametrize("fault", ["gzip bomb", "endless body"])
def test_bytes_are_limited_raw_and_decoded(fault):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with HostileServer(fault) as server:
        error = in_time(lambda: server.model(timeout=LONG)(ROWS))
    assert isinstance(error, errors.TooLarge)
    assert error.code == "reply-too-large"
    # kilobytes: the limit, a copy of it, and the 16 MB from which the server makes its bomb
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("fault", STUCK)
def test_ctrl_c_ends_it(fault, concurrency, tmp_path):
    """The answers before it are explained and stored, though every later request hangs for 30 s."""
    path = tmp_path / "run.geex"

    def plan(number, request):
        if number < 12:
            return None
        if number == 12:
            threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        return fault

    with HostileServer(plan) as server:
        begun = time.monotonic()
        with pytest.warns(errors.PartialRun):
            found = explained(
                server, batch=8, limits=limits(concurrency=concurrency, attempts=2), journal=path, queries=1000
            )
        assert time.monotonic() - begun < LONG
    assert found.partial
    # with threads, any of the first rows may be in a request that the server counts as a later one
    assert found.queries >= (2 + 8 * 4 if concurrency == 1 else 3)
    same(geex.estimate(path), found)


def test_a_server_that_asks_for_a_day_ends_the_run(tmp_path):
    path = tmp_path / "run.geex"
    with HostileServer([None, None, None, "come back tomorrow"]) as server:
        with pytest.raises(errors.ModelError) as caught:
            explained(server, batch=16, journal=path, limits=limits(longest_retry_after=60))
        assert "retry-after-too-long" in codes(caught.value)
        assert any(str(path) in note for note in caught.value.__notes__)
        assert len(server.requests) == 4
        found = explained(server, batch=16, journal=path, limits=limits())
        with HostileServer() as good:
            same(found, explained(good))
    assert max(server.answered.values()) == 1


def test_an_outage_does_not_multiply_calls_by_threads():
    """Eight threads with eight attempts each would make 64 calls. The outage begins with eight failures, while seven
    more calls may be in flight; then one thread makes the rest of its eight attempts."""
    with HostileServer([None] * 3 + ["503"] * 1000) as server:
        with pytest.raises(errors.ModelError) as caught:
            explained(server, batch=4, limits=limits(concurrency=8, attempts=8))
        assert "attempts-exhausted" in codes(caught.value)
        assert 8 <= server.faults["503"] <= 8 + 7 + 8


def test_an_outage_that_ends_loses_nothing(plain):
    with HostileServer([None] * 3 + ["503"] * 12) as server:
        found = explained(server, batch=4, limits=limits(concurrency=8, attempts=20))
    same(found, plain)
    assert found.failed == 12
    assert found.sent == sum(server.asked.values()) == found.queries + 12 * 4


@pytest.mark.parametrize("protocol", [None, "v2"])
@pytest.mark.parametrize("every", ["stray reply", "some nan", "503", "wrong width"])
def test_faults_change_no_byte(plain, every, protocol):
    """Every third request, from the second on, gets the fault."""
    with HostileServer(lambda number, _: every if number % 3 == 1 else None) as server:
        found = explained(server, protocol=protocol, batch=6, limits=limits(attempts=20))
        assert server.faults[every] > 5
    same(found, plain)
    assert found.sent == sum(server.asked.values())


@pytest.mark.parametrize("fault", ["reply of another request", "strings", "booleans"])
def test_what_v2_can_notice_is_noticed(plain, fault):
    with HostileServer(lambda number, _: fault if number % 3 == 1 else None) as server:
        same(explained(server, protocol="v2", batch=6, limits=limits(attempts=20)), plain)
        assert server.faults[fault] > 5


def test_a_connection_with_an_unread_reply_is_not_used_again():
    with HostileServer(["stray reply", None, None]) as server:
        model = server.model()
        answers = [model(ROWS) for _ in range(3)]
        assert np.array_equal(answers[0], answers[1])
        assert np.array_equal(answers[0], answers[2])
        assert len(server.connections) == 2, "the first connection, and one for the two requests after it"


def test_good_rows_of_a_batch_are_kept():
    """Of a batch with unusable rows, these alone are sent again."""
    with HostileServer(lambda number, _: "some nan" if number == 2 else None) as server:
        found = explained(server, batch=30)
    again = {row: count for row, count in server.asked.items() if count > 1}
    assert len(again) == 10
    assert set(again.values()) == {2}
    assert max(server.answered.values()) == 1
    assert (found.sent, found.failed) == (found.queries + 10, 1)
    assert "1 call failed, 210 rows sent" in repr(found)


def test_one_row_of_a_row_service_is_retried_by_itself():
    def plan(number, request):
        return "503" if number % 5 == 4 else None

    with HostileServer(plan) as server:
        model = server.model(request={"row": "{row}"}, limits=limits(rows=64))
        found = geex.explain(model, X, queries=100, **SETTINGS)
        assert max(server.answered.values()) == 1, "a 503 loses no other row"
        assert all(len(server.rows(request)) == 1 for request in server.requests)
    assert found.failed == server.faults["503"]
    assert found.sent == found.queries + found.failed


def test_a_row_service_loses_no_paid_answer_to_a_402(tmp_path):
    path = tmp_path / "run.geex"

    def plan(number, request):
        return (lambda *_: Reply(b"no money", 402)) if number == 77 else None

    with HostileServer(plan) as server:
        model = server.model(request={"row": "{row}"})
        with pytest.raises(errors.ModelError):
            geex.explain(model, X, queries=100, journal=path, **SETTINGS)
        geex.explain(model, X, queries=100, journal=path, **SETTINGS)
        assert max(server.answered.values()) <= 2, "f(x) and f(x̊) are compared when the journal is opened again"
        assert sum(server.answered.values()) == 100 + 2


def test_the_first_answer_of_a_wrong_width_ends_the_run_and_is_not_kept(tmp_path, plain):
    path = tmp_path / "run.geex"
    with HostileServer(["wrong width"]) as server:
        with pytest.raises(errors.AnswerError) as caught:
            explained(server, batch=16, journal=path)
        assert caught.value.code == "first-answer-width"
        same(explained(server, batch=16, journal=path), plain)


@pytest.mark.parametrize(("budget", "settings"), [(60, {"limits": 60}), (60, {"price": 0.1, "most_cost": 6.0})])
def test_a_budget_counts_failed_attempts(budget, settings):
    settings = {**settings, "limits": limits(attempts=20, most_sent=settings.get("limits"))}
    with HostileServer(lambda number, _: "503" if number % 3 == 2 else None) as server:
        with pytest.warns(errors.PartialRun):
            found = explained(server, batch=5, **settings)
        assert sum(server.asked.values()) == budget
    assert found.sent == budget
    assert found.queries < budget
    assert found.partial


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_budget_is_spent_to_the_last_row(concurrency):
    with HostileServer() as server:
        with pytest.warns(errors.PartialRun):
            found = explained(server, batch=7, limits=limits(concurrency=concurrency, most_sent=81))
        assert sum(server.asked.values()) == 81
    # mirrored pairs: one row of 79 has no partner
    assert found.queries == 80


def test_a_budget_too_small_for_a_result_is_an_error():
    with HostileServer() as server, raises(errors.BudgetError, "most-sent-too-small"):
        explained(server, limits=limits(most_sent=2))


@pytest.mark.parametrize("protocol", [None, "v2"])
def test_a_request_has_one_key_for_all_its_attempts(protocol):
    """x is queried twice on purpose: these are two requests, with two keys."""
    with HostileServer(lambda number, _: "503" if number % 3 == 2 else None) as server:
        settings = {} if protocol is None else {"protocol": protocol}
        model = server.model(limits=limits(attempts=20, twice=True), idempotency_key="Idempotency-Key", **settings)
        geex.explain(model, X, queries=100, batch=1, **SETTINGS)
        sent = [(request.headers["Idempotency-Key"], tuple(server.rows(request))) for request in server.requests]
    assert len({key for key, _ in sent}) == len(set(sent)), "one body for each key"
    assert len(set(sent)) == len(sent) - server.faults["503"], "a new key for each request but the repeated ones"
    repeated = Counter(rows for _, rows in set(sent))
    assert max(repeated.values()) == 2, "f(x) was queried twice"
    if protocol == "v2":
        assert all(json.loads(request.body)["id"] in dict(sent) for request in server.requests)


def test_answers_are_journalled_as_they_come(tmp_path):
    """A slow server: the first hundred rows are stored in many small steps."""
    path, stored = tmp_path / "run.geex", []

    def slow(server, request):
        time.sleep(0.05 * len(server.rows(request)))
        with geex._journal.journal.Journal(path, write=False) as journal:
            stored.append(journal.database.connection.execute("SELECT sum(stop - start) FROM answers").fetchone()[0])
        return server.good(request)

    with HostileServer(lambda number, _: slow) as server:
        explained(server, queries=60, journal=path)
        sizes = [len(server.rows(request)) for request in server.requests]
    assert max(sizes) <= 16, "20 rows a second: calls of about a second"
    assert len(stored) >= 5
    assert stored[1:] == sorted(stored[1:])
    assert stored[-1] == 60 - sizes[-1]
