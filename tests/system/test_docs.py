"""The documentation: its code runs as it stands, and it builds without a warning."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import geex

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    "first.md",
    "seeing.md",
    "baseline.md",
    "table-rows.md",
    "how-many-queries.md",
    "error-bars.md",
    "scale.md",
    "troubleshooting.md",
]


EXTENDING = sorted(path.name for path in (DOCS / "extending").iterdir())
CODE = re.compile(r"```(python|sh)(?: title=\"([^\"]+)\")?\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", EXTENDING)
def test_the_extension_on_a_page_works(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    scope = {"__name__": "__main__"}
    try:
        for language, file, code in CODE.findall((DOCS / "extending" / page).read_text()):
            if file:
                Path(file).write_text(code)
            elif language == "sh":
                shell = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
                subprocess.run(["sh", "-ec", code], check=True, env=shell, capture_output=True)
            else:
                exec(code, scope)
    finally:
        for name in set(sys.modules) - before:
            if (tmp_path / f"{name}.py").exists():
                del sys.modules[name]


def test_extensions_of_the_pages_work_on_tensors(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(tmp_path)
    for page in EXTENDING:
        for _, file, code in CODE.findall((DOCS / "extending" / page).read_text()):
            if file:
                (tmp_path / file).write_text(code)
    parts = {name: importlib.import_module(name) for name in ("student", "occlusion", "balanced", "patches")}
    student, occlusion, balanced = (
        parts["student"].Student(),
        parts["occlusion"].Occlusion(),
        parts["balanced"].Balanced(),
    )
    x = torch.linspace(0.5, 2, 64, dtype=torch.float64).reshape(8, 8)
    settings = {"queries": 400, "progress": False, "features": parts["patches"].Patches(2)}
    for method in (geex.GEEX(0.5, family=student), occlusion, balanced, geex.Regression(of=balanced)):
        found = geex.explain(lambda z: z.sum((1, 2)), x, method=method, **settings)
        assert isinstance(found.values, torch.Tensor)
        assert found.values.shape == (4, 4)
        assert found.region([[True] * 4] * 4).joint
    for name in parts:
        del sys.modules[name]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_on_a_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert blocks
    scope = {"__name__": "__main__"}
    for block in blocks:
        exec(block, scope)
    written = {name for block in blocks for name in re.findall(r'"([\w-]+\.(?:png|html|npz|geex))"', block)}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_options_on_the_command_line_page_exist():
    typer = pytest.importorskip("typer")
    from geex.cli.app import app

    page = (DOCS / "command-line.md").read_text()
    command = typer.main.get_command(app)
    everywhere = [*command.params, *(option for one in command.commands.values() for option in one.params)]
    known = {name for option in everywhere for name in option.opts} | {"--help", "--install-completion"}
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"pip install.*", "", page)))
    assert len(used) >= 25
    assert used <= known, used - known
    assert set(re.findall(r"geex ([a-z]+) (?=[\w./'<-]|[A-Z])", page)) <= set(command.commands)


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in DOCS.rglob("*.md"):
        assert f": {page.relative_to(DOCS)}\n" in navigation, page


def test_it_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, env=quiet)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    home = (tmp_path / "index.html").read_text()
    loaded = re.findall(r'(?:src|href)="(https?://[^"]+)"', home)
    assert not [url for url in loaded if url.endswith((".js", ".css", ".woff2")) or "fonts" in url]


TEXTS = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / ".github").rglob("*.md")]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_target_and_file_that_a_page_names_exists(page):
    text = page.read_text()
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z][\w-]*)", text, re.MULTILINE)) <= targets
    links = re.findall(r"\]\((?!https?://|mailto:|#)([^)#\s]+)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert [link for link in links if not (page.parent / link).exists()] == []
