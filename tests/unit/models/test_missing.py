"""An adapter is made without its library, and says how to install it when it is called."""

import sys

import numpy as np
import pytest

import geex
from geex.errors import MissingPackage
from tests.helpers import raises

ROWS = np.zeros((2, 3))


class Module:
    def parameters(self):
        return []

    def __call__(self, rows):
        return rows


class Fitted:
    feature_names_in_ = np.array(["a", "b", "c"])

    def predict(self, frame):
        return np.zeros(len(frame))


ADAPTERS = {
    "torch": lambda: geex.models.torch(Module()),
    "onnxruntime": lambda: geex.models.onnx(b"graph"),
    "httpx": lambda: geex.models.http("http://127.0.0.1:9"),
    "pandas": lambda: geex.models.sklearn(Fitted()),
}


@pytest.mark.parametrize("package", ADAPTERS)
def test_a_missing_package(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    model = ADAPTERS[package]()
    with raises(MissingPackage, f"{package}-missing") as caught:
        model(ROWS)
    assert f"pip install {package}" in str(caught.value)


def test_a_row_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    shown = geex.models.row(len, {"a": 1}, {"a": 0})
    with raises(MissingPackage, "pandas-missing"):
        shown(shown.x[None])
