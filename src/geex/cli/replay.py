"""The command that made a result: printed in a report, and stored beside a journal for `geex resume`.

It holds no secret. A --header keeps its name, and its value only if that is env:VARIABLE. An address keeps neither user
nor query. A --request keeps no text under a key that looks secret, such as "token", and no text that looks like a
credential, unless that is env:VARIABLE.
"""

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geex.errors import InputError
from geex.models.redaction import SECRET_KEYS, TOKEN
from geex.models.request_formats import ROWS

# What stands in place of a secret.
HIDDEN_WORD = "…"
# A text of the command line that stands for a variable of the environment.
VARIABLE = re.compile(r"env:(\w+)")
# A number under a key that looks secret is a secret if it has so many digits: "max_tokens": 50 is none.
SHORTEST_NUMBER = 6


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
    """Return a template without secrets. Of a text that is no JSON any part may be secret."""
    try:
        template = json.loads(text)
    except (ValueError, RecursionError):
        return HIDDEN_WORD
    return json.dumps(_without_secrets(template, ""), ensure_ascii=False)


def _without_secrets(part: Any, keys: str) -> Any:
    """Return a part of a template without secrets; `keys` are the keys above it."""
    if isinstance(part, list):
        return [_without_secrets(entry, keys) for entry in part]
    if isinstance(part, dict):
        return {TOKEN.sub(HIDDEN_WORD, key): _without_secrets(entry, f"{keys} {key}") for key, entry in part.items()}
    if isinstance(part, str) and (VARIABLE.fullmatch(part) or part in ROWS):
        return part
    if SECRET_KEYS.search(keys) and (isinstance(part, str) or len(str(part)) >= SHORTEST_NUMBER):
        return HIDDEN_WORD
    return TOKEN.sub(HIDDEN_WORD, part) if isinstance(part, str) else part


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


def files_of(journal: str | None) -> list[Path]:
    """Return the files of a journal: itself, its log while it is open, and its command."""
    if journal is None:
        return []
    return [Path(journal), *(Path(f"{journal}{end}") for end in ("-wal", "-shm", "-journal")), command_file(journal)]


def store_command(journal: str, arguments: list[str], model: str) -> None:
    """Store the command beside its journal, in a file that only its owner can read."""
    facts = {"arguments": harmless(arguments), "model": harmless([model])[0], "folder": os.getcwd()}
    with open(command_file(journal), "w", encoding="utf-8", opener=_private) as file:
        file.write(json.dumps(facts, indent=1) + "\n")


def _private(path: str, flags: int) -> int:
    handle = os.open(path, flags, 0o600)
    os.chmod(path, 0o600)  # an older file keeps its mode otherwise
    return handle


def stored_command(journal: str) -> tuple[list[str], str, int] | None:
    """Return the stored arguments, their folder and the position of the model; None if the file cannot be read."""
    try:
        facts = json.loads(command_file(journal).read_text(encoding="utf-8"))
        arguments = [str(word) for word in facts["arguments"]]
        return arguments, str(facts["folder"]), arguments.index(facts["model"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def arguments_to_resume(
    journal: str, replaced: Mapping[str, Sequence[str]], model: str | None
) -> tuple[list[str], str]:
    """Return the arguments that began a journal, and their folder.

    Parameters
    ----------
    journal : str
        The journal.
    replaced : mapping of str to sequence of str
        Options with the values that replace the stored ones, which bring the secrets.
    model : str, optional
        The model that replaces the stored one.
    """
    begun = stored_command(journal)
    if begun is None or begun[0][0] not in ("explain", "table"):
        raise InputError(
            f"{command_file(journal)} must hold the command that began {journal}; it cannot be read. Repeat geex "
            "explain … with --journal: stored answers are not requested again.",
            code="command-unreadable",
        )
    arguments, folder, place = begun
    if model is not None:
        arguments[place] = model
    for option, values in replaced.items():
        if values:
            arguments = _without(arguments, option)
            arguments += [word for value in values for word in (option, value)]
    if any(HIDDEN_WORD in word for word in arguments):
        raise InputError(
            f"The command that began {journal} had secrets, which are not stored. Pass them with --model, --request or "
            "--header, best as 'Name: env:VARIABLE'.",
            code="secrets-missing",
        )
    return arguments, folder


def _without(arguments: list[str], option: str) -> list[str]:
    """Return the arguments without an option and its values."""
    found: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == option:
            next(words, None)
        elif not word.startswith(f"{option}="):
            found.append(word)
    return found
