"""Secrets: absent from every repr, and read from the environment only at the moment of use."""

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from geex._stored_names import stored
from geex.errors import InputError
from geex.models.redaction import HIDDEN, SECRET_KEYS, Confidential, confidential, login


@dataclass(frozen=True)
class Secret:
    """A text that prints as ***."""

    text: str = field(repr=False)

    def reveal(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__


@stored("environment variable/1")
@dataclass(frozen=True)
class Env:
    """A text from the environment of the process that sends it; see `env`."""

    name: str
    form: str = "{}"

    def reveal(self) -> str:
        """Return the text, read from the environment now."""
        value = os.environ.get(self.name)
        if value is None:
            raise InputError(
                f"The environment variable {self.name} must be set in the process that calls the model; it is not.",
                code="variable-not-set",
            )
        return self.form.replace("{}", value)


def env(name: str, form: str = "{}") -> Env:
    """Take a header's value from an environment variable.

    The variable is read at every request. Its value is stored nowhere.

    Parameters
    ----------
    name : str
        The name of the variable.
    form : str, default "{}"
        The text to send; {} stands for the value.

    Returns
    -------
    Env
        A value for `headers` or `request` of `geex.models.http`.

    Raises
    ------
    InputError
        If `name` is empty or no text, or if `form` has no {}.

    Examples
    --------
    >>> import geex
    >>> geex.models.env("TOKEN", "Bearer {}")
    Env(name='TOKEN', form='Bearer {}')
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"`name` must be the name of a variable; got {name!r}.", code="variable-name-not-text")
    if "{}" not in form:
        raise InputError(f"`form` must contain {{}} where the value goes; got {form!r}.", code="form-without-braces")
    return Env(name, form)


@dataclass(frozen=True)
class Address:
    """A URL that prints without its user, password and query."""

    url: str = field(repr=False)

    def __repr__(self) -> str:
        try:
            parts = urlsplit(self.url)
        except ValueError:  # no URL: any part of it may be secret
            return HIDDEN
        host = parts.netloc.rpartition("@")[2]
        user = f"{HIDDEN}@" if "@" in parts.netloc else ""
        query = f"?{HIDDEN}" if parts.query else ""
        scheme = f"{parts.scheme}://" if parts.scheme or parts.netloc else ""
        return f"{scheme}{user}{host}{parts.path}{query}"

    __str__ = __repr__

    @property
    def public_parts(self) -> list[Any]:
        """Host, port, path, and the query without keys that look secret."""
        parts = urlsplit(self.url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        return [parts.hostname, parts.port, parts.path, [entry for entry in query if not SECRET_KEYS.search(entry[0])]]

    def secrets(self) -> list[Confidential]:
        """Return the texts that no message may hold."""
        parts = urlsplit(self.url)
        found = login(unquote(parts.username or ""), unquote(parts.password or ""))
        if parts.fragment:
            found.append(Confidential(parts.fragment))
        entries = parse_qsl(parts.query, keep_blank_values=True)
        return [*found, *(secret for name, value in entries for secret in confidential(name, value))]
