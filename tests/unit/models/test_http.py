"""Models behind HTTP: what is sent, what is read, and the name of every failure, on a server on loopback."""

import gzip
import json
import math
import multiprocessing
import pickle
import shutil
import socket
import ssl
import subprocess
import sys
import time
from email.utils import formatdate

import numpy as np
import pytest

import geex
from geex.errors import InputError, Refused, TransientError
from geex.models import http
from tests.helpers import raises
from tests.servers import Loopback, Reply

pytest.importorskip("httpx")

ROWS = np.random.default_rng(0).normal(size=(5, 3))
WEIGHTS = np.array([[1.0, -1.0], [0.5, 2.0], [-3.0, 0.25]])
SCORES = [[float(np.dot(row, column)) for column in WEIGHTS.T] for row in ROWS]


def said(value, **more):
    return Reply(json.dumps(value).encode(), **more)


def heard(request):
    return json.loads(request.body)


def test_the_open_inference_protocol():
    def respond(request):
        entry = heard(request)["inputs"][0]
        rows = np.array(entry["data"]).reshape(entry["shape"])
        outputs = [{"name": "scores", "shape": [5, 2], "datatype": "FP64", "data": (rows @ WEIGHTS).ravel().tolist()}]
        return said({"model_name": "m", "outputs": outputs})

    with Loopback(respond) as server:
        for url in ("/v2/models/m", "/v2/models/m/", "/v2/models/m/infer"):
            model = http(server.url + url, input="x", output="scores")
            assert np.array_equal(model(ROWS), ROWS @ WEIGHTS)
    assert {request.path for request in server.requests} == {"/v2/models/m/infer"}
    asked = heard(server.requests[0])
    assert asked["outputs"] == [{"name": "scores"}]
    assert {key: asked["inputs"][0][key] for key in ("name", "shape", "datatype")} == {
        "name": "x",
        "shape": [5, 3],
        "datatype": "FP64",
    }


@pytest.mark.parametrize(("datatype", "dtype"), [("FP32", np.float32), ("INT8", np.int8), ("BOOL", bool)])
def test_tensors_as_bytes(datatype, dtype):
    """The binary form: JSON, then the tensors' bytes, lengths in a header and in the parameters."""
    sent = np.array([[1, 0], [0, 1], [1, 1]])

    def respond(request):
        cut = int(request.headers["Inference-Header-Content-Length"])
        entry = json.loads(request.body[:cut])["inputs"][0]
        raw = request.body[cut:]
        assert entry["parameters"]["binary_data_size"] == len(raw)
        rows = np.frombuffer(raw, dtype).reshape(entry["shape"])
        other, scores = b"12345", rows.sum(axis=1).astype(np.float32)
        outputs = [
            {"name": "z", "shape": [5], "datatype": "UINT8", "parameters": {"binary_data_size": 5}},
            {"name": "s", "shape": [3], "datatype": "FP32", "parameters": {"binary_data_size": 12}},
        ]
        head = json.dumps({"outputs": outputs}).encode()
        return Reply(head + other + scores.tobytes(), headers={"Inference-Header-Content-Length": str(len(head))})

    with Loopback(respond) as server:
        model = http(server.url, output="s", datatype=datatype, binary=True)
        assert model(sent).tolist() == [1.0, 1.0, 2.0]


def test_texts_as_bytes():
    words = ["good", "", "bäd"]
    raw = b"".join(len(word.encode()).to_bytes(4, "little") + word.encode() for word in words)

    def respond(request):
        size = len(raw) if heard(request)["parameters"]["binary_data_output"] else 0
        tensor = {"name": "a", "shape": [3, 1], "datatype": "BYTES", "parameters": {"binary_data_size": size}}
        head = json.dumps({"outputs": [tensor]}).encode()
        return Reply(head + raw[: len(raw) - cut], headers={"Inference-Header-Content-Length": str(len(head))})

    with Loopback(respond) as server:
        model, cut = http(server.url, binary=True), 0
        assert model(["x", "y", "z"]) == words
        cut = 1
        with raises(geex.errors.Unreadable, "answer-unreadable"):
            model(["x", "y", "z"])


@pytest.mark.parametrize(
    ("path", "status", "binary", "code"),
    [
        ("", 404, False, "url-not-a-model"),
        ("/v2/models/wine", 404, False, "service-refused"),
        ("/v2/models/wine", 400, True, "binary-refused"),
        ("/v2/models/wine", 400, False, "service-refused"),
    ],
)
def test_what_is_often_wrong_has_a_fix(path, status, binary, code):
    with Loopback(lambda request: Reply(b"no", status)) as server, raises(Refused, code) as caught:
        http(server.url + path, binary=binary)(ROWS)
    assert caught.value.problem.endswith(f"answered {status}: no")
    assert (str(caught.value) != caught.value.problem) == (code != "service-refused")


def test_another_protocol_is_noticed():
    with (
        Loopback(lambda request: said({"predictions": [1.0] * 5})) as server,
        raises(geex.errors.Unreadable, "answer-unreadable"),
    ):
        http(server.url)(ROWS)


def test_plain_json_by_template_and_path():
    def respond(request):
        assert heard(request)["deeper"][0]["x"] == "{row} of the table"  # only a whole text is a place to fill
        return said({"out": {"list": [{"p": {"scores": row}} for row in SCORES]}})

    request = {"model": "m", "instances": "{rows}", "deeper": [{"x": "{row} of the table"}]}
    with Loopback(respond) as server:
        model = http(server.url, request=request, response="out.list.*.p.scores")
        assert np.array_equal(model(ROWS), SCORES)
        one = http(server.url, request=request, response="out.list.*.p.scores.1")
        assert np.array_equal(one(ROWS), np.array(SCORES)[:, 1])
    assert heard(server.requests[0])["instances"] == ROWS.tolist()


def test_one_row_at_a_time():
    def respond(request):
        return said({"score": sum(heard(request)["x"])})

    with Loopback(respond) as server:
        model = http(server.url, request={"x": "{row}"}, response="score")
        assert model.limits.rows == 1
        assert np.allclose(model(ROWS), ROWS.sum(axis=1))
    assert len(server.requests) == 5


def rows_as_text(queries):
    return "\n".join(" ".join(map(str, row)) for row in queries.tolist()).encode()


def second_of_two(body):
    return [row[1] for row in body]


def test_functions_for_what_no_template_says():
    with Loopback(lambda request: said(SCORES)) as server:
        model = http(server.url, request=rows_as_text, response=second_of_two, headers={"Content-Type": "text/plain"})
        assert np.array_equal(model(ROWS), np.array(SCORES)[:, 1])
    assert server.requests[0].body == rows_as_text(ROWS)
    assert server.requests[0].headers["Content-Type"] == "text/plain"


def test_a_tensor_is_asked_as_numbers():
    torch = pytest.importorskip("torch")
    with Loopback(lambda request: said(heard(request))) as server:
        assert np.array_equal(http(server.url, request="{rows}")(torch.as_tensor(ROWS)), ROWS)


def test_nothing_is_sent_when_it_is_made_and_connections_are_kept():
    with Loopback(lambda request: said(SCORES)) as server:
        model = http(server.url, protocol="json")
        copy = pickle.loads(pickle.dumps(model))
        assert server.requests == []
        for _ in range(5):
            model(ROWS)
            copy(ROWS)
    assert len(server.requests) == 10
    assert len(server.connections) == 1


def _asks(model, answer):
    answer.put(model(ROWS).tolist())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_connections_of_its_own():
    with Loopback(lambda request: said(SCORES)) as server:
        model = http(server.url, protocol="json")
        model(ROWS)
        context = multiprocessing.get_context("fork")
        answer = context.Queue()
        child = context.Process(target=_asks, args=(model, answer))
        child.start()
        assert answer.get(timeout=30) == SCORES
        child.join()
        model(ROWS)
    assert len(server.connections) == 2


def test_it_opens_in_another_process():
    with Loopback(lambda request: said(SCORES)) as server:
        code = "import pickle, sys, numpy; print(pickle.load(sys.stdin.buffer)(numpy.zeros((5, 3))).tolist())"
        packed = pickle.dumps(http(server.url, protocol="json"))
        done = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, check=True)
    assert json.loads(done.stdout) == SCORES


AGAIN = {
    "408": Reply(b"", 408),
    "425": Reply(b"", 425),
    "429": Reply(b"slow down", 429),
    "500": Reply(b"<html>oops</html>", 500),
    "502": Reply(b"", 502),
    "503": Reply(b"", 503),
    "504": Reply(b"", 504),
    "reset in mid-body": said(SCORES, cut=20),
    "reset at once": said(SCORES, cut=0),
    "truncated": Reply(json.dumps(SCORES).encode()[:-3]),
    "no JSON": Reply(b"<html>a proxy's page</html>"),
    "no body": Reply(b""),
    "no text": Reply(b"\xff\xfe\x00"),
    "NaN": said([[math.nan, 1.0]] * 5),
    "infinity": said([[math.inf, 1.0]] * 5),
    "NaN beside labels": said([{"label": "a", "score": math.nan}] * 5),
    "a row too few": said(SCORES[:4]),
    "a row too many": said([*SCORES, SCORES[0]]),
    "no list": said({"error": "overloaded"}),
    "null": said([None] * 5),
    "ragged": said([[1.0, 2.0]] * 4 + [[1.0]]),
    "a broken encoding": said(SCORES, headers={"Content-Encoding": "gzip"}),
    "no checksum": Reply(gzip.compress(json.dumps(SCORES).encode())[:-8], headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("case", AGAIN)
def test_what_may_pass_is_transient(case):
    with Loopback(lambda request: AGAIN[case]) as server:
        with pytest.raises(TransientError) as caught:
            http(server.url + "/score", protocol="json")(ROWS)
        assert f"{server.address}/score" in str(caught.value)
        assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        [{"name": "a", "shape": [5], "datatype": "FP64"}],
        [{"name": "a", "shape": [5], "datatype": "FP64", "data": [1.0, 2.0]}],
        [{"name": "a", "shape": [5], "datatype": "FP64", "data": [1.0, 2.0, None, 1.0, "x"]}],
        ["a"],
        None,
    ],
)
def test_malformed_tensors(outputs):
    with Loopback(lambda request: said({"outputs": outputs})) as server:
        with pytest.raises((TransientError, Refused)) as caught:
            http(server.url)(ROWS)
        assert isinstance(caught.value, Refused) == (outputs == [])


def test_which_of_several_outputs_is_said():
    outputs = [{"name": name, "shape": [5], "datatype": "FP64", "data": [1.0] * 5} for name in ("a", "b")]
    with Loopback(lambda request: said({"outputs": outputs})) as server:
        with raises(Refused, "service-output-not-chosen"):
            http(server.url)(ROWS)
        with raises(Refused, "service-output-unknown"):
            http(server.url, output="c")(ROWS)


REFUSED = {
    300: "service-redirects",
    307: "service-redirects",
    401: "service-unauthorised",
    403: "service-unauthorised",
    413: "request-too-large",
}


@pytest.mark.parametrize("status", [300, 307, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 451])
def test_what_would_be_refused_again(status):
    with Loopback(lambda request: Reply(b'{"detail": "no such model"}', status, {"Location": "/x"})) as server:
        with raises(Refused, REFUSED.get(status, "service-refused")) as caught:
            http(server.url + "/score", protocol="json")(ROWS)
        assert f"/score answered {status}" in caught.value.problem
        assert "no such model" in caught.value.problem
        assert caught.value.status == status
        assert pickle.loads(pickle.dumps(caught.value)).status == status
    assert len(server.requests) == 1


def few(request):
    """A service that takes three rows at a time and no more."""
    rows = heard(request)
    return said([sum(row) for row in rows]) if len(rows) <= 3 else Reply(b"too large", 413)


def test_a_request_that_is_too_large_counts_as_lack_of_memory(monkeypatch):
    with Loopback(few) as server:
        model = http(server.url, protocol="json")
        with raises(MemoryError, "request-too-large") as caught:
            model(ROWS)
        assert isinstance(caught.value, Refused)
        assert pickle.loads(pickle.dumps(caught.value)).status == 413
        monkeypatch.setattr("geex.models.http_service.LARGEST_REQUEST", 100)
        asked = len(server.requests)
        with raises(geex.errors.TooLarge, "request-too-large"):
            model(ROWS)
        assert len(server.requests) == asked
        assert model(ROWS[:1]).shape == (1,)  # one row is as small as it gets


def test_a_request_that_is_too_large_is_asked_in_halves():
    settings = {"queries": 200, "method": geex.GEEX(sigma=0.5), "progress": False}
    with Loopback(few) as server:
        model = http(server.url, protocol="json", limits=geex.Limits(concurrency=2))
        found = geex.explain(model, ROWS[0], **settings)
    here = geex.explain(lambda z: np.array([sum(row.tolist()) for row in z]), ROWS[0], **settings)
    assert np.array_equal(found.values, here.values)


def test_only_the_start_of_a_long_body_is_told():
    with Loopback(lambda request: Reply(b"x" * 10**6, 400)) as server, pytest.raises(Refused) as caught:
        http(server.url)(ROWS)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("after", "low", "high"),
    [
        ("7", 7, 7),
        ("0.5", 0.5, 0.5),
        ("-3", 0, 0),
        (lambda: formatdate(time.time() + 100, usegmt=True), 90, 101),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("soon", None, None),
        ("nan", None, None),
        (None, None, None),
    ],
)
def test_both_forms_of_retry_after(after, low, high):
    after = after() if callable(after) else after
    headers = {} if after is None else {"Retry-After": after}
    with Loopback(lambda request: Reply(b"", 429, headers)) as server, pytest.raises(TransientError) as caught:
        http(server.url)(ROWS)
    assert caught.value.retry_after is None if low is None else low <= caught.value.retry_after <= high


def test_a_service_that_does_not_answer_in_time():
    def respond(request):
        request.wait_for_the_end(30)
        return said(SCORES)

    with Loopback(respond) as server, raises(TransientError, "service-timeout"):
        http(server.url, timeout=0.2)(ROWS)


def test_an_answer_that_trickles_in_is_out_of_time_too():
    def respond(request):
        for _ in range(200):  # every byte comes in time, and the answer never
            request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" if _ == 0 else b" ")
            time.sleep(0.05)
        return said(SCORES)

    with Loopback(respond) as server, raises(TransientError, "service-timeout"):
        http(server.url, timeout=0.3)(ROWS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1's own, signed by nobody, and its key."""
    if not shutil.which("openssl"):
        pytest.skip("openssl, which makes a certificate, is not installed")
    key, made = (str(tmp_path_factory.mktemp("tls") / name) for name in ("key.pem", "made.pem"))
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", key, "-out", made], check=True, capture_output=True)
    return made, key


def test_certificates(certificate, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with Loopback(lambda request: said(SCORES), context) as server:
        with raises(Refused, "request-impossible"):
            http(server.url, protocol="json")(ROWS)
        for verify in (False, certificate[0]):
            assert np.array_equal(http(server.url, protocol="json", verify=verify)(ROWS), SCORES)
        with raises(InputError, "verify-not-certificates"):
            http(server.url, protocol="json", verify=str(tmp_path / "none.pem"))(ROWS)


def test_nobody_there():
    with socket.socket() as taken:  # and not listened to: nobody else can come and answer
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with raises(geex.errors.Unreachable, "service-unreachable") as caught:
            http(f"http://127.0.0.1:{port}")(ROWS)
        assert f"127.0.0.1:{port}" in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://host/x", "host/x", 3, None, "http://host:99999/", "http://", "http://[::1"])
def test_addresses_that_are_none(url):
    with raises(InputError, "url-not-an-address"):
        http(url)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"protocol": "v1"}, "protocol-unknown"),
        ({"protocol": "v2", "response": "a"}, "template-for-v2"),
        ({"datatype": "float"}, "datatype-unknown"),
        ({"headers": {"A": 3}}, "header-not-text"),
        ({"request": {"instances": "rows"}}, "template-without-rows"),
        ({"request": ["{row}", "{rows}"]}, "template-without-rows"),
    ],
)
def test_settings_that_are_none(settings, code):
    with raises(InputError, code):
        http("http://localhost", **settings)


def test_a_timeout_is_positive():
    with pytest.raises(InputError):
        http("http://localhost", timeout=0)


def test_a_fault_in_the_callers_own_function_is_not_blamed_on_the_service():
    def broken(body):
        return undefined_name  # noqa: F821

    with Loopback(lambda request: said(SCORES)) as server, pytest.raises(NameError):
        http(server.url, response=broken)(ROWS)


def test_the_same_explanation_as_in_process():
    def respond(request):
        return said([[float(np.dot(row, column)) for column in WEIGHTS.T] for row in heard(request)])

    def inside(queries):
        return np.array([[float(np.dot(row, column)) for column in WEIGHTS.T] for row in queries])

    settings = {"queries": 300, "method": geex.GEEX(sigma=0.5), "target": 1, "progress": False}
    with Loopback(respond) as server:
        one = geex.explain(http(server.url, protocol="json"), ROWS[0], **settings)
    other = geex.explain(inside, ROWS[0], **settings)
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.stderr, other.stderr)
