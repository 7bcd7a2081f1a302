"""Tokens and passwords are sent to the service and shown nowhere else."""

import base64
import json
import logging
import pickle
import traceback

import numpy as np
import pytest

import geex
from geex.errors import GeexError, InputError
from geex.models import env, http
from tests.helpers import raises
from tests.servers import FaultServer, Loopback, Reply

pytest.importorskip("httpx")

TOKEN = "s3cr3t-t0ken/with+signs=="
PASSWORD = "pa:ss w@rd"
KEY = "k3y-in-the-query"
ROWS = np.zeros((2, 3))
BASIC = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
PATIENT = geex.Limits(rows=16, attempts=12, backoff=0.01)
SECRETS = (TOKEN, PASSWORD, KEY, "pa%3Ass%20w%40rd", BASIC, "s3cr3t-t0ken%2Fwith%2Bsigns%3D%3D")


def adapters(server, monkeypatch, **settings):
    """The same secrets from the environment and from the caller, and in the address."""
    monkeypatch.setenv("SERVICE_TOKEN", TOKEN)
    settings.setdefault("limits", geex.Limits(attempts=2, backoff=0.01))
    url = f"http://user:pa%3Ass%20w%40rd@{server.address}/score?key={KEY}&v=2"
    yield http(url, headers={"X-Token": env("SERVICE_TOKEN", "Bearer {}")}, protocol="json", **settings)
    yield http(url, headers={"X-Token": f"Bearer {TOKEN}"}, protocol="json", **settings)


def told(error):
    """Everything that a person or a log may see of an error, its causes included."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))


def assert_silent(text):
    for secret in SECRETS:
        assert secret not in text


def echo(status):
    """A service that repeats whatever it was told, as debugging services do."""
    return lambda request: Reply(f"{PASSWORD} {TOKEN} {request.path} {request.headers}".encode(), status)


@pytest.mark.parametrize("status", [200, 302, 400, 401, 429, 500])
def test_errors_and_logs_are_silent(status, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    with Loopback(echo(status)) as server:
        for model in adapters(server, monkeypatch):
            with pytest.raises(GeexError) as caught:
                model(ROWS)
            assert_silent(told(caught.value))
            assert f"http://***@{server.address}/score?***" in str(caught.value)
            with pytest.raises(GeexError) as caught:
                geex.explain(model, np.ones(3), queries=50, progress=False, method=geex.GEEX(0.5))
            assert_silent(told(caught.value))
    assert len(server.requests) >= 2
    for request in server.requests:  # they did arrive
        assert KEY in request.path
        assert request.headers["X-Token"] == f"Bearer {TOKEN}"
        assert request.headers["Authorization"] == f"Basic {BASIC}"
    assert "HTTP Request: POST" in caplog.text  # httpx did log
    assert_silent(caplog.text)


@pytest.mark.parametrize("before", range(270, 305))
def test_no_half_of_a_secret_at_the_end_of_what_is_told(before, monkeypatch):
    with Loopback(lambda request: Reply(b"x" * before + TOKEN.encode(), 400)) as server:
        for model in adapters(server, monkeypatch):
            with pytest.raises(GeexError) as caught:
                model(ROWS)
            assert TOKEN[:4] not in told(caught.value)


def test_a_token_in_the_body(monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", TOKEN)
    request = {"rows": "{rows}", "auth": [{"key": env("SERVICE_TOKEN")}]}
    with Loopback(lambda heard: Reply(heard.body, 400)) as server:
        model = http(server.url, request=request)
        with pytest.raises(GeexError) as caught:
            model(ROWS)
    assert json.loads(server.requests[0].body) == {"rows": ROWS.tolist(), "auth": [{"key": TOKEN}]}
    assert "***" in str(caught.value)
    assert_silent(told(caught.value) + repr(model) + str(pickle.dumps(model)))


def test_unreachable_and_impossible_requests_are_silent(monkeypatch):
    with Loopback(echo(200)) as server:
        gone = list(adapters(server, monkeypatch))
    for model in gone:
        with pytest.raises(GeexError) as caught:
            model(ROWS)
        assert_silent(told(caught.value))
    broken = http(
        f"http://{server.address}", headers={"X-Token": f"{TOKEN}\r\nX: 1"}
    )  # no header may hold a line's end
    with pytest.raises(GeexError) as caught:
        broken(ROWS)
    assert_silent(told(caught.value))
    with pytest.raises(InputError) as caught:
        http(f"ftp://user:{PASSWORD}@host/?key={KEY}")
    assert_silent(told(caught.value))


def test_an_adapter_shows_none(monkeypatch):
    with Loopback(echo(200)) as server:
        for model in adapters(server, monkeypatch):
            for wrapped in (model, geex.models.top(model, ["a", "b"]), geex.models.text(model, "a b")):
                assert_silent(repr(wrapped) + str(wrapped) + str(vars(wrapped)))
            assert "***" in repr(model)


def test_a_pickle_holds_the_name_of_a_variable_and_not_its_value(monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", TOKEN)
    model = http("http://127.0.0.1:9", headers={"X-Token": env("SERVICE_TOKEN")})
    packed = pickle.dumps(model)
    assert TOKEN.encode() not in packed
    assert b"SERVICE_TOKEN" in packed


def test_the_environment_is_read_at_every_request(monkeypatch):
    with Loopback(lambda request: Reply(b"[1.0, 2.0]")) as server:
        model = http(server.url, protocol="json", headers={"X-Token": env("LATER")})
        with raises(InputError, "variable-not-set"):
            model(ROWS)
        for value in ("first", "second"):
            monkeypatch.setenv("LATER", value)
            model(ROWS)
    assert [request.headers["X-Token"] for request in server.requests] == ["first", "second"]


def test_a_saved_explanation_holds_none(monkeypatch, tmp_path):
    with FaultServer(share=0.0) as server:
        for number, model in enumerate(adapters(server, monkeypatch, request={"rows": "{rows}"}, response="scores")):
            found = geex.explain(model, np.ones(6), queries=60, progress=False, method=geex.GEEX(0.5))
            saved = found.save(tmp_path / f"{number}.npz")
            with np.load(saved) as content:
                assert_silent(str({name: content[name] for name in content.files}) + repr(found) + str(found.settings))


@pytest.mark.slow
def test_a_journal_holds_none(monkeypatch, tmp_path):
    with FaultServer(share=0.3) as server:
        settings = {"request": {"rows": "{rows}"}, "response": "scores", "timeout": 1.0, "limits": PATIENT}
        for number, model in enumerate(adapters(server, monkeypatch, **settings)):
            folder = tmp_path / str(number)
            folder.mkdir()
            asked = {"queries": 200, "progress": False, "method": geex.GEEX(0.5)}
            geex.explain(model, np.ones(6), journal=folder / "run.geex", **asked)
            written = b"".join(path.read_bytes() for path in folder.iterdir())
            assert len(written) > 1000
            assert_silent(written.decode("latin-1"))


@pytest.mark.parametrize(
    ("name", "form", "code"),
    [
        ("", "{}", "variable-name-not-text"),
        ("A", "Bearer", "form-without-braces"),
        (3, "{}", "variable-name-not-text"),
    ],
)
def test_what_names_no_variable(name, form, code):
    with raises(InputError, code):
        env(name, form)
