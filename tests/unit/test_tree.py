"""The source stays one that a newcomer can read: short files in small folders, constants with a comment and a name of
their own, and its tests in the same folders."""

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


def constants(path):
    """(name, has a comment) of each upper-case constant: beside it, or above it or the group that it is part of."""
    lines, group = path.read_text().splitlines(), 0
    for node in ast.parse(path.read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [part.id for one in targets for part in getattr(one, "elts", [one]) if isinstance(part, ast.Name)]
        if isinstance(node, ast.Assign | ast.AnnAssign) and any(name.isupper() for name in names):
            above = lines[node.lineno - 2].startswith("#") or group == node.lineno - 1
            group = node.end_lineno if above else 0
            yield from ((name, above or "  # " in lines[node.end_lineno - 1]) for name in names if name.isupper())


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_constant_has_a_comment(path):
    assert [constant for constant, commented in constants(path) if not commented] == []


def test_a_constant_has_a_name_of_its_own():
    found = [constant for path in FILES for constant, _ in constants(path)]
    assert {constant for constant in found if found.count(constant) > 1} == set()
