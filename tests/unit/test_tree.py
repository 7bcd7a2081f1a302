"""The source stays one that a newcomer can read: short files in small folders, and its tests in the same folders."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "geex"
TESTS = Path(__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = sorted({path.parent for path in FILES})


def name(path):
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("room", ROOMS, ids=name)
def test_a_folder_holds_at_most_fifteen_modules(room):
    modules = [path.name for path in room.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= 15, modules


def docstring_lines(text):
    """How many lines the docstrings of classes and functions have."""
    kinds = (ast.ClassDef, ast.FunctionDef)
    bodies = [node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, kinds) and ast.get_docstring(node)]
    return sum(first.end_lineno - first.lineno + 1 for first in bodies)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_file_has_at_most_300_lines_beside_its_docstrings(path):
    text = path.read_text()
    assert len(text.splitlines()) - docstring_lines(text) <= 300


def test_a_folder_of_unit_tests_is_named_as_a_folder_of_the_source():
    rooms = {name(room).lstrip("_") for room in ROOMS}
    folders = {str(path.parent.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")}
    assert folders <= rooms
