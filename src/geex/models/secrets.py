"""Secrets: held so that they show in no repr, log or message, and read from the environment only when they are used."""

import base64
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from geex.errors import InputError

HIDDEN = "***"
LEAST_WORD = 4
GUARDED = re.compile("key|token|secret|sig|auth|pass|code|user|session", re.IGNORECASE)


@dataclass(frozen=True)
class Secret:
    """A text that is shown as *** everywhere but where it is sent."""

    text: str = field(repr=False)

    def reveal(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__


@dataclass(frozen=True)
class Env:
    """A text from the environment of the process that sends it; see `env`."""

    name: str
    form: str = "{}"

    def reveal(self) -> str:
        value = os.environ.get(self.name)
        if value is None:
            raise InputError(f"the environment has no {self.name}; set it in the process that asks the model.")
        return self.form.replace("{}", value)


def env(name: str, form: str = "{}") -> Env:
    """A header's value that is read from the environment when a request is made, and is nowhere kept.

    form: what is sent, {} standing for the value: `env("TOKEN", "Bearer {}")`.
    """
    if not isinstance(name, str) or not name or "{}" not in form:
        raise InputError(f"env({name!r}, {form!r}); wanted a variable's name, and a form with {{}} for its value.")
    return Env(name, form)


@dataclass(frozen=True)
class Address:
    """A URL, shown without the user, the password and the query in it."""

    url: str = field(repr=False)

    def __repr__(self) -> str:
        try:
            parts = urlsplit(self.url)
        except ValueError:  # no address at all, and so nothing in it that is known to be harmless
            return HIDDEN
        host = parts.netloc.rpartition("@")[2]
        user = f"{HIDDEN}@" if "@" in parts.netloc else ""
        query = f"?{HIDDEN}" if parts.query else ""
        scheme = f"{parts.scheme}://" if parts.scheme or parts.netloc else ""
        return f"{scheme}{user}{host}{parts.path}{query}"

    __str__ = __repr__

    @property
    def open(self) -> list[Any]:
        """What of it is no secret, as far as names tell: host, path, and what of the query is no key or token."""
        parts = urlsplit(self.url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        return [parts.hostname, parts.port, parts.path, [entry for entry in query if not GUARDED.search(entry[0])]]

    def secrets(self) -> list[str]:
        """What must not be told of it."""
        parts = urlsplit(self.url)
        found = [self.url, parts.query, parts.fragment, *_credentials(parts)]
        return [*found, *(value for _, value in parse_qsl(parts.query, keep_blank_values=True))]


def _credentials(parts: SplitResult) -> list[str]:
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not user and not password:
        return []
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    return [parts.netloc.rpartition("@")[0], password, user, basic]


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, whole or in their words ("Bearer" and what follows it), plain or URL-encoded."""
    hidden = set()
    for secret in secrets:
        words = [word for word in secret.split() if len(word) >= LEAST_WORD]
        for form in (secret, *words):
            hidden |= {form, quote(form), quote(form, safe=""), repr(form)[1:-1]}
    for form in sorted(hidden - {""}, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return text
