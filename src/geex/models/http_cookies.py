"""Cookies of services: each model has its own, in memory only, and no other model sends or replaces them."""

import threading
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from weakref import WeakKeyDictionary

from geex.models.redaction import Confidential, remember

# Guards _JARS.
_LOCK = threading.Lock()
# The cookies of each model of this process, for as long as the model exists.
_JARS: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()


def cookies_of(model: Any, httpx: Any) -> Any:
    """Return the cookies of a model, which `httpx` keeps by host and path."""
    with _LOCK:
        if model not in _JARS:
            _JARS[model] = httpx.Cookies()
        return _JARS[model]


def refuse_cookies(client: Any) -> None:
    """Keep none in a client, which all models share."""
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))


def add_cookies(cookies: Any, url: str, headers: dict[str, str], httpx: Any) -> None:
    """Add the cookies for an address to the headers of a request, unless they have some."""
    request = httpx.Request("POST", url)
    cookies.set_cookie_header(request)
    if "Cookie" in request.headers and not any(name.lower() == "cookie" for name in headers):
        headers["Cookie"] = request.headers["Cookie"]


def keep_cookies(cookies: Any, response: Any) -> None:
    """Keep the cookies of a reply, and hide their values in all messages."""
    cookies.extract_cookies(response)
    remember([Confidential(cookie.value) for cookie in cookies.jar if cookie.value])
