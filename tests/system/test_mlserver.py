"""A scikit-learn model behind MLServer, a real server of the Open Inference Protocol, gives what it gives in process.

MLServer has an environment of its own, .venv-mlserver (`make mlserver`), since it wants older packages than the rest.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import geex
from geex.errors import ModelError
from geex.models import http
from tests.helpers import raises

httpx = pytest.importorskip("httpx")

PROGRAM = Path(__file__).parents[2] / ".venv-mlserver" / "bin" / "mlserver"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="MLServer is not installed; `make mlserver` installs it")

X, Y = load_wine(return_X_y=True)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def wine():
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)


@pytest.fixture(scope="module")
def reviews():
    texts = ["a lovely film", "lovely acting", "a dull film", "dull acting and a dull plot"]
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, ["good", "good", "bad", "bad"])


def put(model, name, folder):
    folder.mkdir()
    joblib.dump(model, folder / "model.joblib")
    about = {"name": name, "implementation": "mlserver_sklearn.SKLearnModel"}
    (folder / "model-settings.json").write_text(json.dumps({**about, "parameters": {"uri": "./model.joblib"}}))


@pytest.fixture(scope="module")
def server(wine, reviews, tmp_path_factory):
    """The address of the models, once MLServer is ready; it is stopped at the end, and by itself if the tests die."""
    folder = tmp_path_factory.mktemp("mlserver")
    put(wine, "wine", folder / "wine")
    put(reviews, "reviews", folder / "reviews")
    web, grpc, metrics = free_ports(3)
    settings = {"host": "127.0.0.1", "http_port": web, "grpc_port": grpc, "metrics_port": metrics}
    (folder / "settings.json").write_text(json.dumps({**settings, "parallel_workers": 0, "debug": False}))
    log = folder / "log"
    with log.open("w") as out:
        # `timeout` ends it should these tests be killed before they can
        limit = ["timeout", "300"] if shutil.which("timeout") else []
        command = [*limit, str(PROGRAM), "start", str(folder)]
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    url = f"http://127.0.0.1:{web}/v2"
    try:
        _wait(f"{url}/health/ready", process, log)
        yield f"{url}/models"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(url, process, log):
    for _ in range(600):
        assert process.poll() is None, f"MLServer ended: {log.read_text()[-2000:]}"
        try:
            if httpx.get(url, timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"MLServer is not ready after a minute: {log.read_text()[-2000:]}")


def test_the_same_scikit_learn():
    """What is compared below is the protocol, and not two versions of scikit-learn."""
    python = PROGRAM.parent / "python"
    there = subprocess.check_output([python, "-c", "import sklearn; print(sklearn.__version__)"], text=True)
    assert there.strip() == sklearn.__version__


def test_the_same_answers(server, wine):
    url = f"{server}/wine"
    assert np.array_equal(http(url, output="predict_proba")(X), wine.predict_proba(X))
    assert np.array_equal(http(url, output="predict")(X).ravel(), wine.predict(X))
    assert http(url, output="predict_proba", datatype="FP32")(X) == pytest.approx(wine.predict_proba(X), abs=1e-5)


def test_a_label_alone(server, wine):
    model = geex.models.label(http(f"{server}/wine"), [0, 1, 2])
    assert np.array_equal(model(X).argmax(axis=1), wine.predict(X))


@pytest.mark.parametrize("method", [geex.Shapley(), geex.GEEX(sigma=0.5)])
def test_the_same_explanation(server, wine, method):
    settings = {"baseline": geex.mean(X), "method": method, "queries": 400, "target": "all", "batch": 50}
    here = geex.explain(geex.models.sklearn(wine), X[0], progress=False, **settings)
    there = geex.explain(http(f"{server}/wine", output="predict_proba"), X[0], progress=False, **settings)
    assert np.allclose(there.values, here.values, rtol=0, atol=1e-12)
    assert np.allclose(there.stderr, here.stderr, rtol=0, atol=1e-12)
    assert there.queries == here.queries


def test_a_text_by_its_words(server, reviews):
    review = "A dull plot, but lovely, lovely acting"
    far = geex.models.text(http(f"{server}/reviews", output="predict_proba", labels=reviews.classes_), review)
    near = geex.models.text(reviews, review)
    settings = {"method": geex.Shapley(), "queries": 200, "target": 1, "progress": False, "batch": 50}
    there, here = (geex.explain(shown, shown.x, **settings) for shown in (far, near))
    assert np.allclose(there.values, here.values, rtol=0, atol=1e-12)
    assert far.names[int(np.argmin(there.values))] == "dull"
    labels = geex.models.label(http(f"{server}/reviews", output="predict"), reviews.classes_)  # texts come back
    assert np.array_equal(labels(["lovely", "dull"]), [[0, 1], [1, 0]])


def test_what_the_server_says_of_a_wrong_request(server):
    with raises(ModelError, "service-refused"):
        http(f"{server}/beer")(X)
    with pytest.raises(ModelError):
        http(f"{server}/wine", output="predict_proba")(X[:, :5])
