"""What `geex resume` runs, shown before it runs: the file of a command may be somebody else's.

A command runs the code of a module, sends variables of the environment to an address, reads files and writes others.
So it is printed, and runs only after a yes. A module that the file names must lie in the folder of the command.
"""

import ast
import shlex
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from geex._plain_text import one_line
from geex.cli.replay import VARIABLE, harmless
from geex.errors import InputError


def ask(arguments: list[str], folder: str, journal: str) -> None:
    """Print a command without the secrets that it was given anew, and ask whether to run it. Raise InputError for any
    answer but yes."""
    lines = [f"geex resume {journal} runs this command:", f"  cd {shlex.quote(folder)}"]
    lines += [f"  {shlex.join(['geex', *harmless(arguments)])}"]
    variables = sorted({name for word in arguments for name in VARIABLE.findall(word)})
    if variables:
        lines += [f"It sends these variables of your environment: {', '.join(variables)}."]
    if foreign := _outside(Path(folder), journal):
        lines += [foreign]
    print("\n".join(map(one_line, lines)), file=sys.stderr)
    if not sys.stdin.isatty():
        raise InputError(
            "A command from a file runs after a yes, and there is no terminal to ask. Read it, and pass --yes.",
            code="consent-missing",
        )
    print("Run it? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("The command was not run.", code="consent-refused")


def _outside(folder: Path, journal: str) -> str:
    """Return a line if the journal is not in the folder of its command, or "" if it is."""
    inside = Path(journal).resolve().is_relative_to(folder.resolve())
    return "" if inside else f"The journal is in another folder: {Path(journal).resolve().parent}."


def check_folder(given: dict[str, Any], model: str | None, folder: str, journal: str) -> None:
    """Raise InputError unless the folder has the journal and the modules that a stored command names.

    Parameters
    ----------
    given : dict
        The options of the command.
    model : str, optional
        The model that the user names anew, wherever it lies.
    folder, journal : str
        The folder of the command, and the journal.
    """
    place = Path(folder)
    stored = place / str(given["journal"])
    if not place.is_dir() or not stored.is_file() or not stored.samefile(journal):
        raise InputError(
            f"{journal} must be where its command stored it, {one_line(str(stored))}; it was moved or copied. Repeat "
            "geex explain … with --journal: stored answers are not requested again.",
            code="journal-moved",
        )
    for name in modules_of({**given, "model": None} if given.get("model") == model else given):
        if not is_own(name, place):
            raise InputError(
                f"The command that began {journal} must name modules in its folder {one_line(folder)}; "
                f"{one_line(name)!r} is not there. Pass yours with --model, or repeat geex explain … with --journal.",
                code="module-outside-folder",
            )


def modules_of(given: dict[str, Any]) -> list[str]:
    """Return the modules that --method, --stop and MODEL name, up to their first dot."""
    model = str(given.get("model") or "")
    found = [] if model.startswith(("http://", "https://")) or ":" not in model else [model.partition(":")[0]]
    for option in ("method", "stop"):
        found += _modules_in(str(given.get(option) or ""))
    return [name.partition(".")[0] for name in found]


def _modules_in(expression: str) -> list[str]:
    """Return the modules in module:Class(setting=module.Class()); [] of what is no expression."""
    try:
        tree = ast.parse(expression.strip().replace(":", ".", 1), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    dotted = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [node.id for node in dotted if isinstance(node, ast.Name)]


def is_own(module: str, folder: Path) -> bool:
    """Return whether Python would import a module from the folder, without importing it."""
    if module in sys.stdlib_module_names or module in sys.builtin_module_names:
        return False
    loaded = sys.modules.get(module)
    spec = PathFinder.find_spec(module, [str(folder)]) if loaded is None else loaded.__spec__
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    return bool(places) and all(Path(str(one)).resolve().is_relative_to(folder.resolve()) for one in places)
