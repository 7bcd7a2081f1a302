"""A service repeats a token in any form, in any place: no message, no log and no error in a chain holds it."""

import base64
import html
import json
import logging
import random
import traceback
import urllib.parse

import numpy as np
import pytest

import geex
from geex._plain_text import harmless, one_line
from geex.errors import GeexError
from geex.models import env, http
from geex.models.redaction import HIDDEN, PIECE, Confidential, confidential, excerpt, remember, scrubbed
from tests.servers import Loopback, Reply

httpx = pytest.importorskip("httpx")

TOKEN = "tök<\"&'>/+ =%41\\n-s3cr3t"
ASCII = "tok<\"&'>/+=%41\\n-s3cr3t"
PASSWORD = 'p4ss<&">wörd'
ROWS = np.zeros((2, 3))

FORMS = {
    "plain": str,
    "JSON": json.dumps,
    "JSON without escapes": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON with /": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON for HTML": lambda text: json.dumps(text).replace("<", "\\u003c").replace("&", "\\u0026"),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"echo": text})),
    "HTML": html.escape,
    "HTML by numbers": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "HTML by hexadecimal numbers": lambda text: "".join(f"&#x{ord(letter):X};" for letter in text),
    "JSON in HTML": lambda text: html.escape(json.dumps(text)),
    "HTML in JSON": lambda text: json.dumps(html.escape(text)),
    "URL": lambda text: urllib.parse.quote(text, safe=""),
    "URL, path": urllib.parse.quote,
    "URL, form": urllib.parse.quote_plus,
    "URL, small letters": lambda text: urllib.parse.quote(text, safe="").lower(),
    "URL twice": lambda text: urllib.parse.quote(urllib.parse.quote(text, safe=""), safe=""),
    "repr": repr,
    "repr of bytes": lambda text: repr(text.encode()),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hexadecimal": lambda text: text.encode().hex(),
    "capitals": str.upper,
    "latin-1": lambda text: text.encode().decode("latin-1"),
    "the first half": lambda text: text[: len(text) // 2],
    "the second half": lambda text: text[len(text) // 2 :],
}


def readable(text):
    """What is left of the token for somebody who undoes every escape."""
    for _ in range(5):
        text = html.unescape(urllib.parse.unquote_plus(text))
        text = text.replace("\\/", "/").encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")
    return text.lower()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_hidden(form):
    remember([Confidential(TOKEN)])
    shown = scrubbed(f"before {FORMS[form](TOKEN)} after")
    assert HIDDEN in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    for start in range(len(TOKEN) - PIECE):
        assert TOKEN[start : start + PIECE].lower() not in readable(shown)


def test_nothing_else_is_hidden():
    text = "\\o/ 100%25 &amp; “Bearer” <b>1 en acme</b> \\u0041 %C3%A9 application/json " + "x" * 3000
    remember(confidential("Authorization", "Bearer t0k3n-of-mine"))
    for name, value in [("X-Version", "1"), ("Accept-Language", "en"), ("X-Tenant", "acme"), ("X-Key", "1"), ("A", "")]:
        remember(confidential(name, value))
    remember(confidential("Accept", "application/json"))
    assert scrubbed(text) == text


def test_short_credentials_are_hidden_as_words():
    remember(confidential("X-Key", "test"))
    assert scrubbed("the latest test: 'test'") == "the latest ***: '***'"


def test_secrets_are_forgotten_in_order_and_never_all_at_once():
    remember([Confidential("the-last-of-them")])
    remember([Confidential(f"number-{i}-of-many") for i in range(200)])
    assert scrubbed("the-last-of-them number-7-of-many") == "*** ***"


def test_basic_is_hidden_decoded():
    coded = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    remember(confidential("Authorization", f"Basic {coded}"))
    assert scrubbed(f"{coded} is me:{PASSWORD}, {html.escape(PASSWORD)}") == "*** is ***, ***"
    assert confidential("Authorization", "Basic ???")  # no base64: hidden as it is


def held(error):
    """Everything that an error and its chain hold, whether it is printed or not."""
    seen, texts = set(), []
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        texts += ["".join(traceback.format_exception(error)), repr(error), repr(error.args), repr(vars(error))]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def services(url):
    """A model for every place in which an answer is quoted."""
    settings = {"limits": geex.Limits(attempts=1), "headers": {"X-Token": env("ECHOED")}}
    listed = http(url, request={"rows": "{rows}", "auth": "{rows}"}, response="labels", **settings)
    yield http(url, protocol="json", **settings)
    yield http(url, **settings)
    yield http(url, output="scores", **settings)
    yield geex.models.label(listed, ["a", "b"])
    yield geex.models.top(listed, ["a", "b"])
    yield geex.models.link(listed, "logits")


def bodies(shown):
    """Answers that repeat a text where labels, names, numbers or anything may stand."""
    yield shown.encode()
    yield json.dumps({"labels": [shown, shown]}).encode()
    yield json.dumps({"labels": [[[shown, shown]], {shown: shown}]}).encode()
    yield json.dumps({"outputs": [{"name": shown, "shape": [2], "datatype": shown, "data": [shown]}]}).encode()
    yield json.dumps({"outputs": [{"name": shown}, {"name": shown + "2"}]}).encode()
    yield json.dumps({"outputs": [{"name": "scores", "shape": [2], "datatype": "FP64", "data": [shown] * 2}]}).encode()


@pytest.mark.parametrize("form", ["plain", "JSON", "HTML", "URL", "repr of bytes"])
@pytest.mark.parametrize("status", [200, 302, 400, 503])
def test_no_error_no_log_and_no_chain_holds_it(form, status, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ECHOED", ASCII)
    shown = FORMS[form](ASCII)
    answers = iter(())
    coded = urllib.parse.quote(ASCII, safe="")
    headers = {"X-Echo": coded, "Location": f"https://else.example/{coded}"}
    with Loopback(lambda request: Reply(next(answers), status, headers)) as server:
        for model in services(server.url):
            for body in bodies(shown):
                answers = iter([body] * 9)
                with pytest.raises(GeexError) as caught:
                    geex.explain(model, np.ones(3), queries=30, progress=False, method=geex.GEEX(0.5))
                told = held(caught.value) + caplog.text
                caplog.clear()
                for start in range(len(ASCII) - PIECE):
                    assert ASCII[start : start + PIECE] not in told
                    assert shown[start : start + PIECE + 4] not in told


def test_short_headers_do_not_garble_messages():
    headers = {"X-Version": "1", "Accept-Language": "en", "X-Api-Key": "v2"}
    server = Loopback(lambda request: Reply(b"version 1 of the English key v2 is unknown", 400))
    with server, pytest.raises(GeexError) as caught:
        http(server.url, protocol="json", headers=headers)(ROWS)
    assert "400: version 1 of the English key v2 is unknown" in str(caught.value)


def test_a_secret_in_a_template_is_hidden():
    template = {"rows": "{rows}", "auth": {"user": ["me-myself"], "x": "sk-abcdef0123456789"}, "prompt": "what is it"}
    with Loopback(lambda request: Reply(request.body, 400)) as server, pytest.raises(GeexError) as caught:
        http(server.url, request=template)(ROWS)
    assert "me-myself" not in str(caught.value)
    assert "sk-abc" not in str(caught.value)
    assert "what is it" in str(caught.value)


def test_many_secrets_before_the_cut_leave_no_half_of_one():
    long = "".join(random.Random(0).choices("abcdefghij0123456789", k=2000))
    remember([Confidential(long)])
    assert excerpt(long * 40, 300) == HIDDEN


def test_what_acts_on_a_terminal_is_written_as_an_escape():
    text = "a\x1b[2J\x9b31m\r\x07\x7f\u202eb\u2028c\ud800\n\t"
    assert harmless(text) == "a\\x1b[2J\\x9b31m\\r\\x07\\x7f\\u202eb\\u2028c\\ud800\n\t"
    assert one_line(text).endswith("\\n\\t")
    assert harmless("Grüße, 猫 😀 \u200c") == "Grüße, 猫 😀 \u200c"
    assert "\x1b" not in str(GeexError("what \x1b[31m is", fix="\x1b")) + GeexError("\x1b").problem
