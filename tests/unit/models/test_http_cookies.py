"""Cookies belong to the model whose service set them."""

import copy
import pickle
import threading

import numpy as np
import pytest

from geex.errors import GeexError
from geex.models import http
from geex.models.redaction import scrubbed
from tests.servers import Loopback, Reply

pytest.importorskip("httpx")

ROWS = np.zeros((1, 3))
SESSION = "the-session-of-a-model"


def setting(request):
    """A service that gives each new client a cookie, and scores of 1."""
    known = "Cookie" in request.headers
    headers = {} if known else {"Set-Cookie": f"id={SESSION}{request.headers['X-Model']}"}
    return Reply(b"[1.0]", 200, headers)


def model(server, name, **settings):
    return http(server.url, protocol="json", headers={"X-Model": name}, **settings)


def sent(server):
    return [request.headers.get("Cookie") for request in server.requests]


def test_each_model_has_its_own(recwarn):
    with Loopback(setting) as server:
        one, other = model(server, "1"), model(server, "2")
        for each in (one, other, one, other, copy.copy(one), pickle.loads(pickle.dumps(one))):
            each(ROWS)
    assert sent(server) == [None, None, f"id={SESSION}1", f"id={SESSION}2", None, None]
    assert SESSION.encode() not in pickle.dumps(one)
    assert SESSION not in repr(vars(one))


def test_threads_share_the_cookies_of_their_model():
    with Loopback(setting) as server:
        one = model(server, "1")
        one(ROWS)
        threads = [threading.Thread(target=one, args=(ROWS,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sent(server) == [None] + [f"id={SESSION}1"] * 4


def test_a_cookie_of_the_users_own_stays():
    with Loopback(setting) as server:
        own = http(server.url, protocol="json", headers={"X-Model": "1", "cookie": "id=mine"})
        own(ROWS)
        own(ROWS)
    assert [request.headers.get("cookie", request.headers.get("Cookie")) for request in server.requests] == [
        "id=mine"
    ] * 2


def test_a_cookie_for_another_path_or_host_is_not_sent():
    def elsewhere(request):
        return Reply(b"[1.0]", 200, {"Set-Cookie": f"id={SESSION}; Path=/other"})

    with Loopback(elsewhere) as server:
        one = model(server, "1")
        one(ROWS)
        one(ROWS)
    assert sent(server) == [None, None]


def test_a_cookie_that_is_repeated_in_an_answer_is_hidden():
    def echo(request):
        if "Cookie" in request.headers:
            return Reply(request.headers["Cookie"].encode(), 400)
        return setting(request)

    with Loopback(echo) as server:
        one = model(server, "1")
        one(ROWS)
        with pytest.raises(GeexError) as caught:
            one(ROWS)
    assert SESSION not in str(caught.value)
    assert SESSION not in scrubbed(SESSION)
