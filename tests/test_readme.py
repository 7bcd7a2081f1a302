"""The front page's code runs as it stands."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_python_blocks_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    scope = {}
    for block in blocks:
        exec(block, scope)
    assert "queries" in capsys.readouterr().out
    assert (tmp_path / "decision.npz").exists()


def test_linked_files_exist():
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (Path(__file__).parents[1] / link).exists(), link


def test_the_demo_runs_and_draws(tmp_path, capsys):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("matplotlib")
    from geex.demo.__main__ import main

    main(tmp_path / "new" / "demo.png")
    text = capsys.readouterr().out
    assert "Ankle boot" in text
    assert str(tmp_path / "new" / "demo.png") in text
    assert (tmp_path / "new" / "demo.png").stat().st_size > 20000
    assert text.rstrip().endswith(str(tmp_path / "new" / "demo.html"))
    assert "Ankle boot" in (tmp_path / "new" / "demo.html").read_text()
