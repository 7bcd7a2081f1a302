"""Objects of the user's own modules, by module:name. Python looks in the current folder too."""

import importlib
import os
import sys
from typing import Any

from geex.errors import InputError


def imported(module: str, name: str, option: str) -> Any:
    """Return what `module` calls `name`, which may have dots.

    Parameters
    ----------
    module, name : str
        The two parts of module:name.
    option : str
        The argument of the command line that names them, for messages.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # a module that the user's module imports
        raise InputError(
            f"{option} must name a module of Python; there is none called {error.name!r} here.", code="module-missing"
        ) from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{option} must name an object of {module}; it has no {name!r}.", code="object-missing")
        found = getattr(found, part)
    return found
