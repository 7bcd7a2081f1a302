"""MODEL on the command line: an ONNX file, an address, or package.module:callable."""

import importlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from geex import models
from geex._query.limits import Limits, limits_of
from geex._query.retrying_call import Model
from geex.cli.options import Access
from geex.errors import InputError

WANTED = "wanted an ONNX file (model.onnx), an address (https://…) or package.module:callable"


def limits(access: Access, model: Model) -> Limits | None:
    """The model's own limits, with what the options say in their place; None where they say nothing."""
    given = {"concurrency": access.concurrency, "attempts": access.attempts, "requests_per_second": access.rate}
    told: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(limits_of(model, None), **told) if told else None


def opened(name: str, access: Access) -> Model:
    """The model that `name` names."""
    if name.startswith(("http://", "https://")):
        return _http(name, access)
    if name.lower().endswith(".onnx"):
        if not Path(name).is_file():
            raise InputError(f"{name}: there is no such file; {WANTED}.")
        return models.onnx(name, input=access.input_name, output=access.output_name)
    module, mark, attribute = name.partition(":")
    if mark and module and attribute:
        return _imported(module, attribute)
    raise InputError(f"MODEL is {name!r}; {WANTED}.")


def _http(url: str, access: Access) -> Model:
    settings: dict[str, Any] = {} if access.input_name is None else {"input": access.input_name}
    return models.http(
        url,
        protocol=access.protocol,
        output=access.output_name,
        request=None if access.request is None else _json("--request", access.request),
        response=access.response,
        headers=dict(_header(text) for text in access.header or ()),
        **settings,
    )


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f'{option} is no JSON ({error}); wanted such as \'{{"instances": "{{rows}}"}}\'.') from None


def _header(text: str) -> tuple[str, Any]:
    """ "Name: value", or "Name: env:VARIABLE", which stays out of the shell's history."""
    name, mark, value = text.partition(":")
    if not mark or not name.strip():
        raise InputError("a --header has no colon in it; wanted 'Name: value' or 'Name: env:VARIABLE'.")
    value = value.strip()
    return name.strip(), models.env(value.removeprefix("env:")) if value.startswith("env:") else value


def _imported(module: str, attribute: str) -> Model:
    """What a module calls by this name; estimators and modules of PyTorch in their adapters."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise InputError(f"there is no module {error.name!r} here; {WANTED}.") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module} has no {attribute!r}; {WANTED}.")
        found = getattr(found, part)
    return adapted(found, f"{module}:{attribute}")


def adapted(found: Any, name: str) -> Model:
    """An object as a model."""
    if hasattr(found, "parameters") and hasattr(found, "state_dict"):
        return models.torch(found)
    if hasattr(found, "predict") and not callable(found):
        return models.sklearn(found)
    if not callable(found):
        raise InputError(f"{name} is a {type(found).__name__}; wanted a callable from (n, *shape) to (n,) or (n, k).")
    return found  # type: ignore[no-any-return]
