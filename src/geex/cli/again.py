"""The same command again: as text in a report, and beside a journal, for `geex resume`. It holds no secret.

Of a --header only its name is kept (all of it where the value is env:VARIABLE), of an address neither user nor query,
of a --request no value that is called a key, a token or the like.
"""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geex.errors import InputError
from geex.models.secrets import SECRET_KEYS

HIDDEN = "…"


def told(arguments: list[str]) -> str:
    """The command line, to be read."""
    return shlex.join(["geex", *harmless(arguments)])


def harmless(arguments: list[str]) -> list[str]:
    """The arguments without what may be secret."""
    kept, before = [], ""
    for word in arguments:
        option, equals, value = word.partition("=")
        if before in SECRET:
            kept.append(SECRET[before](word))
        elif equals and option in SECRET:
            kept.append(f"{option}={SECRET[option](value)}")
        else:
            kept.append(_address(word) if word.startswith(("http://", "https://")) else word)
        before = "" if before in SECRET else word
    return kept


def _header(text: str) -> str:
    name, _, value = text.partition(":")
    return text if value.strip().startswith("env:") else f"{name}: {HIDDEN}"


def _request(text: str) -> str:
    """A template in JSON without what its keys call a secret; anything else, which is no template, as it is."""
    try:
        template = json.loads(text)
    except ValueError:
        return text
    return json.dumps(_open(template), ensure_ascii=False)


def _open(template: Any) -> Any:
    if isinstance(template, list):
        return [_open(part) for part in template]
    if not isinstance(template, dict):
        return template
    return {
        key: HIDDEN if isinstance(part, str) and SECRET_KEYS.search(key) and "{row" not in part else _open(part)
        for key, part in template.items()
    }


SECRET: dict[str, Callable[[str], str]] = {"--header": _header, "--request": _request}


def _address(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")
    hidden = (f"{HIDDEN}@{host[2]}" if host[1] else parts.netloc, f"?{HIDDEN}" if parts.query else "")
    return f"{parts.scheme}://{hidden[0]}{parts.path}{hidden[1]}"


def beside(journal: str | os.PathLike[str]) -> Path:
    """Where the command of a journal is kept."""
    return Path(f"{os.fspath(journal)}.command.json")


def remember(journal: str, arguments: list[str], model: str) -> None:
    """Keeps the command beside its journal."""
    facts = {"arguments": harmless(arguments), "model": harmless([model])[0], "folder": os.getcwd()}
    beside(journal).write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def kept(journal: str) -> tuple[list[str], str, int] | None:
    """What `remember` kept: the arguments, their folder, and which of them is the model. None where nothing can be
    read."""
    try:
        facts = json.loads(beside(journal).read_text(encoding="utf-8"))
        arguments = [str(word) for word in facts["arguments"]]
        return arguments, str(facts["folder"]), arguments.index(facts["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def recalled(journal: str, model: str | None, headers: list[str]) -> list[str]:
    """The arguments that began a journal, and their folder entered; secrets come from `model` and `headers`."""
    if not Path(journal).is_file():
        raise InputError(f"{journal}: there is no such journal.")
    begun = kept(journal)
    if begun is None:
        raise InputError(
            f"{beside(journal)} is not there or cannot be read, so the command that began {journal} is not known; say "
            "geex explain … with --journal again: what is answered is not asked again."
        )
    arguments, folder, place = begun
    if model is not None:
        arguments[place] = model
    if headers:
        arguments = _without_headers(arguments)
    if any(HIDDEN in word for word in arguments):
        raise InputError(
            f"the command that began {journal} had secrets in it, which were not kept; give them again, with --model "
            "or --header 'Name: env:VARIABLE'; or, for a --request, say geex explain … with --journal again."
        )
    os.chdir(folder)
    return [*arguments, *(word for header in headers for word in ("--header", header))]


def _without_headers(arguments: list[str]) -> list[str]:
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--header":
            next(words, None)
        elif not word.startswith("--header="):
            kept.append(word)
    return kept
