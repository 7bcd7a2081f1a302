"""The examples in docstrings run."""

import doctest
import importlib
from pathlib import Path

import pytest

import geex

SOURCE = Path(geex.__file__).parent
# packages that the examples of a module need beside geex
NEEDS = {
    "_problem/groups.py": ["sklearn"],
    "interop/captum.py": ["torch"],
    "models/http_service.py": ["httpx"],
    "models/onnx_file.py": ["onnxruntime"],
    "models/presence_inputs.py": ["pandas"],
    "models/pytorch.py": ["torch"],
    "models/scikit_learn.py": ["sklearn"],
}
MODULES = sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("path", MODULES)
def test_examples_run(path):
    for package in NEEDS.get(path, []):
        pytest.importorskip(package)
    name = "geex." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
