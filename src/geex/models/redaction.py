"""Take secrets out of texts: errors, logs, and what the command line prints.

    text  →  without escapes (JSON, HTML, URL, repr; nested)  →  places that hold a secret, or a piece of one  →  ***

The secrets of this process are kept here, in memory only, from the first request that sends them.
"""

import base64
import html
import logging
import re
import threading
import traceback
from binascii import Error as NotBase64
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase

from geex._plain_text import one_line

# What stands in place of a secret.
HIDDEN = "***"
# A shorter text occurs in messages by chance, so it is not hidden.
SHORTEST = 4
# Any piece of a credential of so many characters is hidden.
PIECE = 8
# How many secrets are remembered; the oldest are forgotten first.
KEPT_SECRETS = 256
# Characters of a text that are searched before its start is quoted.
SOURCE = 2**16
# How often a text may be escaped: JSON in HTML in JSON.
DEPTH = 4
# Names of headers, keys and parameters whose values are credentials.
SECRET_KEYS = re.compile("key|token|secret|sig|auth|pass|pwd|cred|code|cookie|user|session|bearer", re.IGNORECASE)
# Headers whose values are no secrets.
PUBLIC_HEADERS = {"accept", "accept-charset", "accept-encoding", "accept-language", "connection", "content-type"}
PUBLIC_HEADERS |= {"host", "prefer", "user-agent"}
# Texts that look like a credential, whatever their name: a known prefix, a UUID, or a long run of letters and digits.
TOKEN = re.compile(
    r"\b(?:[spr]k|gh[pousr]|xox[a-z]|hf|glpat|AKIA|AIza|eyJ)[-_\w]{12,}"
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?=[A-Za-z_]*[0-9])(?=[0-9_]*[A-Za-z])\w{20,}"
    r"|\b(?:Bearer|Basic|Token) \S{4,}"
)

# Characters in the escapes of JSON, HTML, URLs and Python.
ESCAPES = re.compile(
    r"(?:%[0-9a-fA-F]{2})+|(?:\\x[0-9a-fA-F]{2})+|(?:\\u[0-9a-fA-F]{4})+|\\U[0-9a-fA-F]{8}|\\.|&#?\w{1,32};", re.DOTALL
)
# Letters in one case, and the + of a query as the space that it stands for: the text keeps its length.
FOLDED = str.maketrans(ascii_uppercase + "+", ascii_lowercase + " ")


@dataclass(frozen=True)
class Confidential:
    """A text that no message may hold. Of a `credential`, no piece may occur; of another, not the whole."""

    text: str
    credential: bool = True


def confidential(name: str, value: str) -> list[Confidential]:
    """Return what of the value of a header, key or parameter is hidden."""
    if name.lower() in PUBLIC_HEADERS:
        return []
    found = [Confidential(value, bool(SECRET_KEYS.search(name) or TOKEN.search(value)))]
    scheme, _, coded = value.partition(" ")
    if scheme.lower() == "basic":
        found += login(*_decoded_login(coded))
    return found


def login(user: str, password: str) -> list[Confidential]:
    """Return what of a user's name and password is hidden."""
    if not user and not password:
        return []
    return [Confidential(f"{user}:{password}"), Confidential(password), Confidential(user, not password)]


def _decoded_login(coded: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(coded.strip() + "==").decode("utf-8", "replace").partition(":")
    except (NotBase64, ValueError):
        return "", ""
    return user, password


# guards _SECRETS
_SECRETS_LOCK = threading.Lock()
# the secrets of this process, the latest last
_SECRETS: dict[Confidential, None] = {}


def remember(secrets: Iterable[Confidential]) -> None:
    """Hide these texts from now on, in everything that this process writes about a model."""
    with _SECRETS_LOCK:
        for secret in secrets:
            if secret not in _SECRETS and len(secret.text) >= SHORTEST:
                _SECRETS[secret] = None
        while len(_SECRETS) > KEPT_SECRETS:
            del _SECRETS[next(iter(_SECRETS))]


def scrubbed(text: str) -> str:
    """Return the text without the secrets of this process, however they are escaped."""
    with _SECRETS_LOCK:
        secrets = tuple(_SECRETS)
    if not secrets:
        return text
    plain, places = _unescaped(text)
    parts: list[str] = []
    end = 0
    for first, last in sorted(_matches(_folded(plain), secrets)):
        start, stop = places[first][0], places[last][1]
        if start > end or not parts:
            parts += [text[end:start], HIDDEN]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def excerpt(text: str, length: int) -> str:
    """Return the start of a text from outside, in one line and without the secrets of this process."""
    found = one_line(scrubbed(text[:SOURCE]))
    return found if len(found) <= length else f"{found[:length]}…"


def _matches(plain: str, secrets: tuple[Confidential, ...]) -> list[tuple[int, int]]:
    """Return the first and last character of all that is hidden."""
    words = [word for secret in secrets for word in _words(secret)]
    found = [(match.start(), match.end() - 1) for word in words for match in word.finditer(plain)]
    pieces = frozenset[str]().union(*map(_pieces, secrets))
    starts = range(len(plain) - PIECE + 1) if pieces else ()
    return [*found, *((i, i + PIECE - 1) for i in starts if plain[i : i + PIECE] in pieces)]


@lru_cache(maxsize=KEPT_SECRETS)
def _words(secret: Confidential) -> list[re.Pattern[str]]:
    """Return what is hidden as a whole word: short credentials, and long texts that are no credentials."""
    lengths = range(SHORTEST, PIECE) if secret.credential else range(PIECE, len(secret.text) + 1)
    forms = _forms(secret.text) if secret.credential else {_plain(secret.text)}
    return [re.compile(rf"(?<!\w){re.escape(form)}(?!\w)") for form in forms if len(form) in lengths]


@lru_cache(maxsize=KEPT_SECRETS)
def _pieces(secret: Confidential) -> frozenset[str]:
    """Return the pieces of a credential that are hidden wherever they occur."""
    forms = _forms(secret.text) if secret.credential else ()
    return frozenset(form[i : i + PIECE] for form in forms for i in range(len(form) - PIECE + 1))


def _forms(text: str) -> set[str]:
    """Return a credential and its words, without the scheme before it ("Bearer"), plain and encoded."""
    words = text.split()
    words = words[1:] if len(words) > 1 and words[0].isalpha() else words
    body = " ".join(words)
    forms = {body, *words}
    for whole in (text, body):
        content = whole.encode("utf-8", "surrogateescape")
        coded = (base64.b64encode(content), base64.urlsafe_b64encode(content), content.hex().encode())
        forms |= {content.decode("latin-1"), *(one.decode().rstrip("=") for one in coded)} - {text}
    return {_plain(form) for form in forms}


def _plain(text: str) -> str:
    return _folded(_unescaped(text)[0])


def _folded(text: str) -> str:
    return text.translate(FOLDED)


def _unescaped(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without escapes, and for each of its characters where it stands in the given one."""
    places = [(i, i + 1) for i in range(len(text))]
    for _ in range(DEPTH):
        parts: list[str] = []
        kept: list[tuple[int, int]] = []
        end = 0
        for match in ESCAPES.finditer(text):
            meant = _meant(match.group())
            parts += [text[end : match.start()], meant]
            kept += places[end : match.start()]
            kept += [(places[match.start()][0], places[match.end() - 1][1])] * len(meant)
            end = match.end()
        if not end:
            break
        text, places = "".join([*parts, text[end:]]), [*kept, *places[end:]]
    return text, places


def _meant(escape: str) -> str:
    """Return the characters that an escape stands for."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "%" or escape[:2] == "\\x":
        content = bytes.fromhex(re.sub(r"%|\\x", "", escape))
        return content.decode("utf-8", "replace")
    if escape[:2] == "\\u" and len(escape) > 2:
        units = bytes.fromhex(escape.replace("\\u", ""))
        return units.decode("utf-16-be", "replace")
    if escape[:2] == "\\U" and len(escape) > 2:
        return chr(min(int(escape[2:], 16), 0x10FFFF))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(escape[1], escape[1])


class _LogFilter(logging.Filter):
    """Takes the secrets of this process out of a record: its message, its arguments and its error."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = scrubbed(QUERY.sub(rf"\1\2?{HIDDEN}", record.getMessage())), ()
        if record.exc_info:
            record.exc_text = scrubbed("".join(traceback.format_exception(*record.exc_info)))
            record.exc_info = None
        return True


# An address with a user or a query, of which its host and path are public.
QUERY = re.compile(r"(https?://)(?:[^\s/@]*@)?([^\s?\"#]*)\?[^\s\"]*")
# Loggers that write requests and answers.
LOGGERS = ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
# one filter for this process: a logger takes it once
_FILTER = _LogFilter()


def hide_in_logs() -> None:
    """Take the secrets out of what the HTTP client writes into its logs."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
