"""The code on the pages about models runs as it stands, against a service on loopback."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.servers import Loopback, Reply

pytest.importorskip("httpx")
pytest.importorskip("onnxruntime")

DOCS = Path(__file__).parents[2] / "docs"


def service(request):
    """Answers as the services on the page do."""
    asked = json.loads(request.body)
    if request.path == "/v2/models/wine/infer":
        entry = asked["inputs"][0]
        rows = np.reshape(entry["data"], entry["shape"])
        data = np.stack([rows.sum(axis=1), -rows.sum(axis=1)], axis=1)
        output = {"name": "predict_proba", "shape": list(data.shape), "datatype": "FP64", "data": data.ravel().tolist()}
        said = {"outputs": [output]}
    elif request.path == "/score":
        said = {"predictions": [{"probability": 1 / (1 + np.exp(-sum(row)))} for row in asked["instances"]]}
    elif request.path == "/items":
        said = {"items": [{"id": item["id"], "score": sum(item["features"])} for item in asked["items"][::-1]]}
    elif request.path == "/tags":
        shares = [min(1.0, np.mean(picture)) for picture in asked["images"]]
        said = {"results": [{"tags": [{"name": "dog", "confidence": round(99 * share, 1)}]} for share in shares]}
    else:
        said = {"scores": [2.0 * ("great" in text) - ("dull" in text) for text in asked["texts"]]}
    return Reply(json.dumps(said).encode())


@pytest.mark.parametrize(("page", "fewest"), [("index.md", 4), ("models.md", 5), ("behind-an-api.md", 5)])
def test_the_page_runs(page, fewest, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERVICE_TOKEN", "token-of-the-test")
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert len(blocks) >= fewest
    if any("import torch" in block for block in blocks):
        pytest.importorskip("torch")
    scope = {}
    with Loopback(service) as server:
        for block in blocks:
            exec(block.replace("https://api.example.com", server.url), scope)
    told = capsys.readouterr().out
    assert len(told.splitlines()) >= 5
    assert "token-of-the-test" not in told


@pytest.mark.parametrize("page", ["index.md", "models.md", "behind-an-api.md"])
def test_linked_files_exist(page):
    for link in re.findall(r"\]\(([^)#:]+)[)#]", (DOCS / page).read_text()):
        assert (DOCS / link).exists(), link
