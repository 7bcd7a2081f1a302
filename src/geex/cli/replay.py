"""The command that made a result: printed in a report, and stored beside a journal for `geex resume`.

It holds no secret. A --header keeps its name, and its value only if that is env:VARIABLE. An address keeps neither user
nor query. A --request keeps no value whose key looks secret, such as "token".
"""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geex.errors import InputError
from geex.models.redaction import SECRET_KEYS

# What stands in place of a secret.
HIDDEN_WORD = "…"


def command_line(arguments: list[str]) -> str:
    """Return the command line without secrets."""
    return shlex.join(["geex", *harmless(arguments)])


def harmless(arguments: list[str]) -> list[str]:
    """Return the arguments without secrets."""
    found, before = [], ""
    for word in arguments:
        option, equals, value = word.partition("=")
        if before in SECRET_OPTIONS:
            found.append(SECRET_OPTIONS[before](word))
        elif equals and option in SECRET_OPTIONS:
            found.append(f"{option}={SECRET_OPTIONS[option](value)}")
        else:
            found.append(_address(word) if word.startswith(("http://", "https://")) else word)
        before = "" if before in SECRET_OPTIONS else word
    return found


def _header(text: str) -> str:
    name, _, value = text.partition(":")
    return text if value.strip().startswith("env:") else f"{name}: {HIDDEN_WORD}"


def _request(text: str) -> str:
    """Return a template without the values of keys that look secret; a text that is no JSON as it is."""
    try:
        template = json.loads(text)
    except ValueError:
        return text
    return json.dumps(_without_secrets(template), ensure_ascii=False)


def _without_secrets(template: Any) -> Any:
    if isinstance(template, list):
        return [_without_secrets(part) for part in template]
    if not isinstance(template, dict):
        return template
    return {
        key: HIDDEN_WORD
        if isinstance(part, str) and SECRET_KEYS.search(key) and "{row" not in part
        else _without_secrets(part)
        for key, part in template.items()
    }


# Options that may hold secrets, with the text that remains of their values.
SECRET_OPTIONS: dict[str, Callable[[str], str]] = {"--header": _header, "--request": _request}


def _address(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")
    hidden = (f"{HIDDEN_WORD}@{host[2]}" if host[1] else parts.netloc, f"?{HIDDEN_WORD}" if parts.query else "")
    return f"{parts.scheme}://{hidden[0]}{parts.path}{hidden[1]}"


def command_file(journal: str | os.PathLike[str]) -> Path:
    """Return the file that holds the command of a journal."""
    return Path(f"{os.fspath(journal)}.command.json")


def store_command(journal: str, arguments: list[str], model: str) -> None:
    """Store the command beside its journal."""
    facts = {"arguments": harmless(arguments), "model": harmless([model])[0], "folder": os.getcwd()}
    command_file(journal).write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def stored_command(journal: str) -> tuple[list[str], str, int] | None:
    """Return the stored arguments, their folder and the position of the model; None if the file cannot be read."""
    try:
        facts = json.loads(command_file(journal).read_text(encoding="utf-8"))
        arguments = [str(word) for word in facts["arguments"]]
        return arguments, str(facts["folder"]), arguments.index(facts["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def arguments_to_resume(journal: str, model: str | None, headers: list[str]) -> list[str]:
    """Return the arguments that began a journal, and enter their folder. `model` and `headers` bring the secrets."""
    begun = stored_command(journal)
    if begun is None:
        raise InputError(
            f"{command_file(journal)} must hold the command that began {journal}; it cannot be read. Repeat geex "
            "explain … with --journal: stored answers are not requested again.",
            code="command-unreadable",
        )
    arguments, folder, place = begun
    if model is not None:
        arguments[place] = model
    if headers:
        arguments = _without_headers(arguments)
    if any(HIDDEN_WORD in word for word in arguments):
        raise InputError(
            f"The command that began {journal} had secrets, which are not stored. Pass them with --model or --header "
            "'Name: env:VARIABLE'; for a --request repeat geex explain … with --journal.",
            code="secrets-missing",
        )
    os.chdir(folder)
    return [*arguments, *(word for header in headers for word in ("--header", header))]


def _without_headers(arguments: list[str]) -> list[str]:
    found: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--header":
            next(words, None)
        elif not word.startswith("--header="):
            found.append(word)
    return found
