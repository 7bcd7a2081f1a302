"""MODEL on the command line: an ONNX file, an address, or package.module:name."""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from geex import models
from geex._problem.digest import digest
from geex._problem.foreign_model import Carried
from geex._problem.model_identity import identity, source_identity
from geex._query.limits import Limits, limits_of
from geex._query.retrying_call import Model
from geex.cli.imports import imported
from geex.cli.options import ModelOptions
from geex.cli.replay import VARIABLE
from geex.errors import InputError
from geex.models.output_adapters import Converted
from geex.models.presence_inputs import PresenceModel
from geex.models.scikit_learn import as_model

# What MODEL may be, for messages.
MODEL_FORMS = "an ONNX file (model.onnx), an address (https://…) or package.module:name"


@dataclass(frozen=True, eq=False)
class Imported:
    """A function of the user's module with an identity, which is another one after each change of the module."""

    model: Model
    identity: str

    def __call__(self, queries: Any) -> Any:
        return self.model(queries)

    def __getattr__(self, name: str) -> Any:
        """Return what the function carries: labels, names, limits. Names with __ belong to Python."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)


def chosen_limits(options: ModelOptions, model: Model) -> Limits | None:
    """Return the model's own limits with those of the options in their place, or None without such options."""
    if options.rate is not None and not options.rate > 0:
        raise InputError(f"--rate must be positive; got {options.rate:g}.", code="rate-not-positive")
    given = {
        "concurrency": options.concurrency,
        "attempts": options.attempts,
        "requests_per_second": options.rate,
        "most_sent": options.most_sent,
    }
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(limits_of(model, None), **changed) if changed else None


def model_of(name: str, options: ModelOptions) -> Model:
    """Return the model that MODEL names."""
    if name.startswith(("http:", "https:")):
        return _service(name, options)
    if name.lower().endswith(".onnx"):
        if not Path(name).is_file():
            raise InputError(f"MODEL must be {MODEL_FORMS}; there is no file {name!r}.", code="model-file-missing")
        return models.onnx(name, input=options.input_name, output=options.output_name)
    module, colon, attribute = name.partition(":")
    if colon and module and attribute:
        model = adapted(imported(module, attribute, "MODEL"), name)
        if identity(_innermost(model)):
            return model
        source = source_identity(name, sys.modules[module])
        return Imported(model, digest(identity(model), source) if identity(model) else source)
    raise InputError(
        f"MODEL must be {MODEL_FORMS}; got {name!r}. For another file, write a module that loads it.",
        code="model-unknown",
    )


def _innermost(model: Model) -> Any:
    """Return the model inside adapters of geex, whose own identity may leave it out."""
    found: Any = model
    while isinstance(found, Converted | PresenceModel):
        found = found.model
    return found


def _service(url: str, options: ModelOptions) -> Model:
    settings: dict[str, Any] = {} if options.input_name is None else {"input": options.input_name}
    return models.http(
        url,
        protocol=options.protocol,
        output=options.output_name,
        request=None if options.request is None else _template(options.request),
        response=options.response,
        headers=dict(_header(text) for text in options.header or ()),
        idempotency_key=options.idempotency_key,
        **settings,
    )


def _template(text: str) -> Any:
    """Return the template in a JSON text, in which "env:VARIABLE" stands for a variable of the environment."""
    try:
        return _with_variables(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f'--request must be JSON, such as \'{{"instances": "{{rows}}"}}\'; {error}.', code="request-not-json"
        ) from None


def _with_variables(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _with_variables(entry) for key, entry in part.items()}
    if isinstance(part, list):
        return [_with_variables(entry) for entry in part]
    found = VARIABLE.fullmatch(part) if isinstance(part, str) else None
    return part if found is None else models.env(found[1])


def _header(text: str) -> tuple[str, Any]:
    """Split "Name: value", or "Name: env:VARIABLE", which keeps the value out of the history of the shell."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip():  # the text itself may be a secret
        raise InputError(
            "--header must be 'Name: value' or 'Name: env:VARIABLE'; one has no colon.", code="header-form"
        )
    value = value.strip()
    return name.strip(), models.env(value.removeprefix("env:")) if value.startswith("env:") else value


def adapted(found: Any, name: str) -> Model:
    """Return an object as a model: modules of PyTorch and estimators of scikit-learn get their adapters."""
    if Carried(found).module:
        return models.torch(found)
    found = as_model(found)
    if not callable(found):
        raise InputError(
            f"MODEL must be callable, from (n, *shape) to (n,) or (n, k); {name} is of type {type(found).__name__}.",
            code="model-not-callable",
        )
    return found  # type: ignore[no-any-return]
