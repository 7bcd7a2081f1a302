"""The front page's code runs as it stands."""

import re
import shlex
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()


@pytest.mark.slow
def test_python_blocks_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    scope = {}
    for block in blocks:
        exec(block, scope)
    assert "queries" in capsys.readouterr().out
    for name in ("boot.html", "decision.npz", "shirt.png"):
        assert (tmp_path / name).exists(), name


def test_the_command_runs(tmp_path, monkeypatch, capsys):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("typer")
    pytest.importorskip("onnxruntime")
    from geex.cli import main
    from geex.demo.garments import garments

    monkeypatch.chdir(tmp_path)
    pictures, _, names = garments()
    shutil.copy(str(files("geex.demo").joinpath("fashion.onnx")), "model.onnx")
    image.fromarray(np.uint8(255 * np.clip(pictures[9][0], 0, 1))).resize((56, 56)).save("photo.jpg")
    (tmp_path / "labels.txt").write_text("\n".join(names))
    (command,) = re.findall(r"```sh\n(geex .*)\n```", README)
    with pytest.raises(SystemExit) as end:
        main(shlex.split(command)[1:])
    assert end.value.code == 0
    assert "wrote photo.html" in capsys.readouterr().out
    assert (tmp_path / "photo.html").stat().st_size > 20000


def test_linked_files_exist():
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (Path(__file__).parents[2] / link).exists(), link


@pytest.mark.slow
def test_the_demo_runs_and_draws(tmp_path, capsys):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("matplotlib")
    from geex.demo.__main__ import main

    main(tmp_path / "new" / "demo.png")
    text = capsys.readouterr().out
    assert text.index("999 of 1,000 queries (queries come in pairs)") < text.index("The paper's method")
    assert text.index("The paper's method") < text.index("4,999 of 5,000 queries (queries come in pairs)")
    assert text.count("Ankle boot") == 2
    assert str(tmp_path / "new" / "demo.png") in text
    assert (tmp_path / "new" / "demo.png").stat().st_size > 20000
    assert text.rstrip().endswith(str(tmp_path / "new" / "demo.html"))
    assert "Ankle boot" in (tmp_path / "new" / "demo.html").read_text()
