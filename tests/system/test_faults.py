"""A service that fails in 30% of its requests, in every way that services fail: the result is the same to the bit."""

import json
import socket
from collections import Counter
from contextlib import suppress
from threading import Lock

import numpy as np
import pytest

import geex
from geex.errors import TransientError
from geex.models import http
from tests.servers import FAULTS, FaultServer, Loopback, Reply, planted

pytest.importorskip("httpx")

X = np.linspace(-0.6, 0.9, 24)
SETTINGS = {"method": geex.GEEX(sigma=0.4), "queries": 800, "target": 0, "progress": False}


def model(server, **limits):
    return http(
        server.url,
        request={"rows": "{rows}"},
        response="scores",
        timeout=1.0,
        # x is not asked a second time: here every row that is asked again is a fault
        limits=geex.Limits(**{"concurrency": 8, "rows": 16, "attempts": 12, "backoff": 0.01, "twice": False, **limits}),
    )


class Arrivals:
    """A model that keeps count of the rows whose answer arrived, and of those of them that are asked again."""

    def __init__(self, adapter):
        self.adapter, self.limits = adapter, adapter.limits
        self.lock, self.arrived, self.again = Lock(), set(), Counter()

    def __call__(self, queries):
        rows = [row.tobytes() for row in queries]
        with self.lock:
            self.again.update(self.arrived.intersection(rows))
        answer = self.adapter(queries)
        with self.lock:
            self.arrived.update(rows)
        return answer


def patiently(adapter):
    """Asks again for as long as it may pass."""

    def ask(queries):
        for _ in range(12):
            with suppress(TransientError):
                return adapter(queries)
        raise AssertionError("twelve faults in a row")

    ask.limits = geex.Limits(twice=False)
    return ask


def without_faults():
    with FaultServer(share=0.0) as server:
        found = geex.explain(model(server), X, batch=16, **SETTINGS)
    assert not server.faults
    return found


def codes(error):
    """The codes of an error and of its causes."""
    found = []
    while error is not None:
        found.append(getattr(error, "code", ""))
        error = error.__cause__
    return found


def assert_same(one, other):
    for name in ("values", "stderr", "output", "base_value", "gap", "gap_stderr"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.slow
def test_every_fault_is_transient_and_the_same_request_again_has_the_same_answer():
    with FaultServer(seed=1) as server:
        found = geex.explain(patiently(model(server)), X, batch=16, **SETTINGS)
    assert set(server.faults) == set(FAULTS)
    assert 0.15 < server.faults.total() / server.bodies.total() < 0.45
    assert_same(found, without_faults())


@pytest.mark.parametrize("seed", [2, 3])
def test_the_engine_gives_the_same_bits_and_asks_no_answered_row_again(seed):
    with FaultServer(seed=seed) as server:
        counting = Arrivals(model(server))
        found = geex.explain(counting, X, **SETTINGS)
    assert set(server.faults) == set(FAULTS)
    assert 0.15 < server.faults.total() / server.bodies.total() < 0.45
    assert not counting.again
    assert len(counting.arrived) == found.queries
    assert_same(found, without_faults())


def test_faults_without_end_are_an_error_that_says_so():
    with FaultServer(seed=2, share=1.0) as server:
        with pytest.raises(geex.errors.ModelError) as caught:
            geex.explain(model(server, attempts=3), X, **SETTINGS)
        assert server.address in str(caught.value)
    assert max(server.bodies.values()) <= 3


def test_what_would_be_refused_again_is_asked_once():
    with Loopback(lambda request: Reply(b"no such model", 404)) as server:
        wrong = http(server.url, limits=geex.Limits(attempts=5, backoff=0.01))
        with pytest.raises(geex.errors.ModelError) as caught:
            geex.explain(wrong, X, **SETTINGS)
    assert "url-not-a-model" in codes(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("good", "calls"), [(0, 3), (1, 1 + 5)])
def test_a_form_that_was_never_right_is_a_mistake(good, calls):
    """What is wrong from the start is asked three times; what was right once is asked as often as any failure."""
    asked = []

    def respond(request):
        asked.append(request)
        score = "scores" if len(asked) <= good else "score"
        return Reply(json.dumps({score: [planted(row) for row in json.loads(request.body)["rows"]]}).encode())

    told = f"{calls - good} attempts were made"
    with Loopback(respond) as server, pytest.raises(geex.errors.ModelRaised, match=told):
        geex.explain(model(server, attempts=5, concurrency=1, backoff=0.001), X, **SETTINGS)
    assert len(asked) == calls


def test_a_service_that_was_never_there_is_soon_given_up():
    with socket.socket() as taken:  # and not listened to: nobody else can come and answer
        taken.bind(("127.0.0.1", 0))
        nobody = http(f"http://127.0.0.1:{taken.getsockname()[1]}", limits=geex.Limits(attempts=8, backoff=0.001))
        with pytest.raises(geex.errors.ModelError) as caught:
            geex.explain(nobody, X, **SETTINGS)
    assert "3 attempts" in str(caught.value)
    assert "service-unreachable" in codes(caught.value)
